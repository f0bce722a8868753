// Cells of Python that run in the reader's browser, by Pyodide. Nothing is fetched before the first "Run".
(() => {
  const PYODIDE = "https://cdn.jsdelivr.net/pyodide/v0.25.1/full/";
  const LIBRARY = new URL("kinetree.zip", document.currentScript.src);
  let python = null;

  const started = async (say) => {
    say("Fetching Python, some 15 MB …");
    let loadPyodide;
    try {
      ({ loadPyodide } = await import(`${PYODIDE}pyodide.mjs`));
    } catch {
      throw new Error(`Python comes from ${new URL(PYODIDE).host}, which cannot be reached from here. The code runs as it is where kinetree is installed.`);
    }
    let library;
    try {
      library = await (await fetch(LIBRARY)).arrayBuffer();
    } catch {
      throw new Error("The library lies beside this page, which a browser reads from a web server only, such as: python -m http.server --directory site");
    }
    const made = await loadPyodide({ indexURL: PYODIDE });
    say("Fetching NumPy …");
    await made.loadPackage("numpy", { messageCallback: () => {} });
    made.unpackArchive(library, "zip", { extractDir: "/library" });
    made.runPython('import sys; sys.path.insert(0, "/library")');
    return made;
  };

  const run = async (cell) => {
    const [code, button, output] = ["textarea", "button", "pre"].map((name) => cell.querySelector(name));
    const say = (text) => (output.textContent = text);
    const lines = [];
    const add = (line) => say(lines.push(line) && lines.join("\n"));
    button.disabled = true;
    try {
      python ??= started(say);
      const ready = await python;
      say("Running …");
      ready.setStdout({ batched: add });
      ready.setStderr({ batched: add });
      const value = await ready.runPythonAsync(code.value);
      if (value !== undefined) add(String(value));
      if (!lines.length) say("");
    } catch (problem) {
      const isPython = lines.length > 0 || problem.constructor.name === "PythonError";
      if (!isPython) python = null; // fetching may succeed another time
      add(problem.message.trim());
    } finally {
      button.disabled = false;
    }
  };

  for (const cell of document.querySelectorAll(".live-cell")) {
    cell.querySelector("button").addEventListener("click", () => run(cell));
    cell.querySelector("textarea").addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.shiftKey)) {
        event.preventDefault();
        run(cell);
      }
    });
  }
})();
