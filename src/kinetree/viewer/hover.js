// Shows the name of what lies under the mouse. A node of the scene has its name in its path, "/robot/3_forearm/TITLE #key";
// one that draws several things at once has a line for each.
(() => {
  const tip = document.createElement("div");
  tip.id = "kinetree-hover";
  tip.style.cssText =
    "position:fixed;z-index:1000;display:none;pointer-events:none;padding:.2em .6em;border-radius:.4em;" +
    "font:13px system-ui,sans-serif;color:#fff;background:#1f2937e6;white-space:nowrap";
  let place = null;

  const shown = (object) => {
    for (let each = object; each; each = each.parent) if (!each.visible) return false;
    return true;
  };

  const nodeOf = (object, nodes) => {
    for (let each = object; each; each = each.parent) if (nodes.has(each)) return nodes.get(each);
    return "";
  };

  const titleOf = (path, hit, robots) => {
    const parts = path.split("/");
    const titles = parts.at(-1).slice(0, parts.at(-1).lastIndexOf(" #"));
    const names = titles.split("\n");
    const each = (hit.object.count ?? 1) / names.length;
    const name = names.length > 1 ? names[Math.floor((hit.instanceId ?? 0) / each)] : names[0];
    return robots > 1 ? `${parts[1]}: ${name}` : name;
  };

  const nameAt = (viewer, x, y) => {
    const { scene, camera, canvas, nodeRefFromName } = viewer;
    const root = scene?.__r3f?.root ?? scene?.children.find((child) => child.__r3f?.root)?.__r3f.root;
    if (!root || !camera || !canvas) return "";
    const nodes = new Map();
    const robots = new Set();
    for (const [path, object] of Object.entries(nodeRefFromName)) {
      if (object && path.includes(" #")) {
        nodes.set(object, path);
        robots.add(path.split("/")[1]);
      }
    }
    const box = canvas.getBoundingClientRect();
    const ray = new (root.getState().raycaster.constructor)();
    const pointer = { x: (2 * (x - box.left)) / box.width - 1, y: 1 - (2 * (y - box.top)) / box.height };
    ray.setFromCamera(pointer, camera);
    for (const hit of ray.intersectObjects([...nodes.keys()], true)) {
      const title = shown(hit.object) ? titleOf(nodeOf(hit.object, nodes), hit, robots.size) : "";
      if (title) return title;
    }
    return "";
  };

  const show = () => {
    const [x, y, onCanvas] = place;
    place = null;
    const viewer = window.__viserMutable;
    const name = viewer && onCanvas ? nameAt(viewer, x, y) : "";
    if (tip.textContent !== name) tip.textContent = name;
    tip.style.display = name ? "block" : "none";
    tip.style.left = `${x + 14}px`;
    tip.style.top = `${y + 14}px`;
  };

  window.addEventListener("pointermove", (event) => {
    if (!tip.isConnected) document.body.append(tip);
    if (place === null) setTimeout(show, 50);
    place = [event.clientX, event.clientY, event.target instanceof HTMLCanvasElement && event.buttons === 0];
  });
  document.addEventListener("pointerleave", () => (tip.style.display = "none"));
})();
