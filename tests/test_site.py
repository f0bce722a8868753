"""The site builds without a warning, all its links lead somewhere, and it needs no other host."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from sphinx.util.inventory import InventoryFile

ROOT = Path(__file__).parent.parent
EXTENSIONS = ROOT / "docs" / "_ext"


@pytest.fixture
def extensions(monkeypatch):
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    return importlib.import_module


def test_site(tmp_path, extensions):
    """In one test, because every worker that runs one would build the site again."""
    site = tmp_path / "site"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-d", tmp_path / "trees"]
    run = subprocess.run([*command, ROOT / "docs", site], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert not run.stderr
    assert extensions("check_site").problems(site) == []

    with (site / "objects.inv").open("rb") as stream:
        inventory = InventoryFile.load(stream, "", lambda base, uri: uri)
    documented = {name for kind in inventory.values() for name in kind}
    public = extensions("public_names")
    modules = [importlib.import_module(module) for module in public.public_modules()]
    assert {"kinetree", "kinetree.control", "kinetree.ik", "kinetree.rotations"} <= {
        module.__name__ for module in modules
    }
    missing = [
        f"{module.__name__}.{name}"
        for module in modules
        for name in public.names_of(module)
        if f"{module.__name__}.{name}" not in documented
    ]
    assert not missing


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        ('<a href="other.html">x</a>', "other.html does not exist"),
        ('<a href="#there">x</a>', "no such place"),
        ('<a href="b.html#there">x</a>', "no such place"),
        ('<img src="https://example.org/x.png">', "another host"),
        ('<script src="//example.org/x.js"></script>', "another host"),
        ('<link rel="stylesheet" href="https://example.org/x.css">', "another host"),
        ('<p style="background: url(https://example.org/x.png)">x</p>', "another host"),
        ("<math><mi>\\unknown</mi></math>", "not understood"),
    ],
)
def test_bad_pages_are_recognised(tmp_path, extensions, page, problem):
    (tmp_path / "a.html").write_text(page)
    (tmp_path / "b.html").write_text('<p id="here">good</p><a href="a.html">x</a><a href="#here">x</a>')
    (found,) = extensions("check_site").problems(tmp_path)
    assert found.startswith("a.html: ")
    assert problem in found


def test_style_sheets_are_read(tmp_path, extensions):
    (tmp_path / "a.css").write_text('@import "https://example.org/x.css"; p { src: url(missing.woff) }')
    foreign, missing = extensions("check_site").problems(tmp_path)
    assert "another host" in foreign
    assert "missing.woff does not exist" in missing
