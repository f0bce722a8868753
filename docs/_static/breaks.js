// Names in tables may break after dots, commas and brackets, and after underscores before a word.
document.addEventListener("DOMContentLoaded", () => {
  for (const part of document.querySelectorAll("article table code .pre")) {
    const pieces = part.textContent.split(/(?<=[.,(=/])|(?<=_)(?=[a-z]{4})/);
    part.replaceChildren(...pieces.flatMap((piece) => [piece, document.createElement("wbr")]));
  }
});
