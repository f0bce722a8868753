// A button that copies a block of code; printed output has none, and prompts and output of consoles are left out.
document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("div.highlight")) {
    if (block.closest(".printed")) continue;
    const button = document.createElement("button");
    button.className = "copy-code";
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const lines = block.querySelector("pre").innerText.replace(/\n$/, "").split("\n");
      const commands = lines.filter((line) => line.startsWith("$ "));
      const text = commands.length ? commands.map((line) => line.slice(2)) : lines;
      await navigator.clipboard.writeText(text.join("\n"));
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    block.append(button);
  }
});
