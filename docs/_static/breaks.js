// Names in tables break after dots, underscores, commas and brackets, where a narrow screen makes them.
document.addEventListener("DOMContentLoaded", () => {
  for (const part of document.querySelectorAll("article table code .pre")) {
    const pieces = part.textContent.split(/(?<=[._,(=/])/);
    part.replaceChildren(...pieces.flatMap((piece) => [piece, document.createElement("wbr")]));
  }
});
