"""What is published: metadata, and a wheel with every file of the library. `make package` tries it once installed."""

import os
import re
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import kinetree as kt

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PYTHONS = re.findall(r"python: \[(.*)\]", (ROOT / ".github" / "workflows" / "ci.yml").read_text())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built as `python -m build` does, but from this folder."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("kinetree-*-py3-none-any.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


def test_the_wheel_has_the_library_and_nothing_else(wheel):
    source = ROOT / "src"
    files = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    wanted = {name for name in files if "__pycache__" not in name and ".egg-info" not in name}
    found = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert found == wanted
    assert {"kinetree/py.typed", "kinetree/robots/arm6.urdf"} <= found


def test_the_metadata_of_the_wheel(wheel):
    (name,) = (name for name in wheel.namelist() if name.endswith("METADATA"))
    found = Parser().parsestr(wheel.read(name).decode())
    assert (found["Name"], found["Version"], found["License-Expression"]) == (
        "kinetree",
        kt.__version__,
        "BSD-3-Clause",
    )
    assert found["License-File"] == "LICENSE" and found["Requires-Python"] == PROJECT["requires-python"]
    assert not [each for each in found.get_all("Classifier") if each.startswith("License ::")], "the expression says it"
    core = [each for each in found.get_all("Requires-Dist") if "extra ==" not in each]
    assert sorted(re.match(r"\w+", each)[0] for each in core) == ["llvmlite", "numpy"]


def test_classifiers_name_the_pythons_that_ci_runs():
    named = re.findall(r"Python :: (3\.\d+)$", "\n".join(PROJECT["classifiers"]), re.MULTILINE)
    assert PYTHONS and all(named == re.findall(r"3\.\d+", line) for line in PYTHONS)
    assert PROJECT["requires-python"] == f">={named[0]}"


def test_classifiers_exist():
    known = pytest.importorskip("trove_classifiers").classifiers
    assert set(PROJECT["classifiers"]) <= known


def test_the_citation_is_of_this_version():
    citation = dict(re.findall(r"^([\w-]+): \"?(.*?)\"?$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE))
    assert citation["version"] == kt.__version__ and citation["license"] == PROJECT["license"]
    assert citation["repository-code"] == PROJECT["urls"]["Source"]
    assert all(url.startswith(PROJECT["urls"]["Source"]) for url in PROJECT["urls"].values())
    assert all(os.path.exists(ROOT / url.partition("/main/")[2]) for url in PROJECT["urls"].values())


def test_pages_install_the_published_package():
    """One line tells what to write in a clone."""
    pages = [ROOT / "README.md", ROOT / "examples" / "README.md", *(ROOT / "docs").rglob("*.md")]
    lines = [(page.name, line) for page in pages for line in page.read_text().splitlines()]
    local = [(name, line) for name, line in lines if re.search(r"pip install '?\.|'\.\[", line)]
    assert [name for name, _ in local] == ["README.md", "index.md"]
