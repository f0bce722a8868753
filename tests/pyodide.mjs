// Runs Python from standard input in Pyodide: node pyodide.mjs FOLDER REPOSITORY ARGUMENTS…
// FOLDER is what `make test-pyodide` has fetched; the repository is at /repository.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, repository, ...args] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/node_modules/pyodide/pyodide.mjs`));
const python = await loadPyodide({ args });
for (const [place, root] of [
  ["/packages", `${folder}/lib/python3.11/site-packages`],
  ["/repository", repository],
]) {
  python.FS.mkdirTree(place);
  python.FS.mount(python.FS.filesystems.NODEFS, { root }, place);
}
python.runPython('import sys; sys.dont_write_bytecode = True; sys.path[:0] = ["/packages", "/repository/src"]');
try {
  python.runPython(readFileSync(0, "utf8"));
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
