"""The examples of docs/coming_from/ beside the libraries that they come from.

On these pages, blocks marked `python` are ours, and blocks marked `py` the other library's, whose assertions compare.
A `py` block runs where its library is installed. Elsewhere its results are read from `ports.json`, and the assertions
compare with these. With the libraries of requirements/peers.lock:

    make test-peers                                         # runs all blocks, by PEERS=live
    .python-peers/bin/python tests/convert/test_ports.py    # runs them and writes ports.json
"""

import ast
import json
import os
import re
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "coming_from"
RECORD = Path(__file__).with_name("ports.json")
PAGES = sorted(path.stem for path in FOLDER.glob("*.md") if "```py\n" in path.read_text(encoding="utf-8"))
OURS = ("kinetree", "numpy", "pathlib")
DISTRIBUTIONS = {
    "pinocchio": "pin",
    "pink": "pin-pink",
    "pydrake": "drake",
    "roboticstoolbox": "roboticstoolbox-python",
}
"""Of packages that have another name."""


def packages(code):
    """Libraries that a block imports."""
    return sorted(set(re.findall(r"^(?:from|import) (\w+)", code, re.MULTILINE)) - set(OURS))


def comparison(code):
    """Assertions of a block, and the names of its results in them."""
    body = ast.parse(code).body
    asserts = [node for node in body if isinstance(node, ast.Assert)]

    def names(nodes, context):
        found = (each for node in nodes for each in ast.walk(node))
        return {each.id for each in found if isinstance(each, ast.Name) and isinstance(each.ctx, context)}

    return ast.Module(asserts, []), sorted(names(asserts, ast.Load) & names(body, ast.Store))


def run(page, record=None):
    """Run the blocks of a page; those of libraries that are not there by a record. Returns libraries and results."""
    text, scope, used, results = (FOLDER / f"{page}.md").read_text(encoding="utf-8"), {}, set(), {}
    for kind, code in re.findall(r"^```(python|py)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        if kind == "python":
            exec(compile(code, f"{page}.md", "exec"), scope)
            continue
        asserts, names = comparison(code)
        assert names, f"{page}.md compares nothing of\n{code}"
        if record is None or all(find_spec(package) for package in packages(code)):
            exec(compile(code, f"{page}.md", "exec"), scope)
            used.update(packages(code))
            results |= {name: np.asarray(scope[name]).tolist() for name in names}
        else:
            scope |= {name: np.array(record["results"][name]) for name in names}
            exec(compile(asserts, f"{page}.md", "exec"), scope)
    return used, results


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.filterwarnings("default")  # those of other libraries are no error of ours
def test_both_sides_of_a_page_agree(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(page, None if os.environ.get("PEERS") else json.loads(RECORD.read_text())[page])


@pytest.mark.parametrize("page", PAGES)
def test_a_record_fails_where_it_differs(page, tmp_path, monkeypatch):
    """An original that is not installed is compared, too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(f"{__name__}.find_spec", lambda package: None)
    record = json.loads(RECORD.read_text())[page]
    name = min(record["results"])
    record["results"][name] = (np.array(record["results"][name]) * 1.01 + 1e-3).tolist()
    with pytest.raises(AssertionError):
        run(page, record)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_the_versions_that_were_run(page):
    text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
    for package, number in json.loads(RECORD.read_text())[page]["versions"].items():
        assert package in ("pin", "mujoco") or number in text, f"{page}.md: {package} {number}"


def main():
    """Write the record: every page with what its originals computed here, and the versions of their packages."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for page in PAGES:
            used, results = run(page)
            names = sorted(DISTRIBUTIONS.get(name, name) for name in used)
            found[page] = {"versions": {name: version(name) for name in names}, "results": results}
    pages = (f"{json.dumps(page)}: {json.dumps(each)}" for page, each in found.items())
    RECORD.write_text("{" + ",\n".join(pages) + "}\n")


if __name__ == "__main__":
    main()
