"""The site builds without a warning, all its links lead somewhere, and it needs no other host."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from sphinx.util.inventory import InventoryFile

from search_queries import QUERIES

sys.path.insert(0, str(Path(__file__).parent / "viewer"))
from chromium import browser

ROOT = Path(__file__).parent.parent
EXTENSIONS = ROOT / "docs" / "_ext"
LOCAL = ("file:", "data:", "blob:")
FIRST_RESULT = "query => Search._performSearch(...Search._parseQuery(query)).at(-1)[0]"
"""What Sphinx's own search shows first: the last of its results."""


@pytest.fixture
def extensions(monkeypatch):
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    return importlib.import_module


def built(folder: Path) -> Path:
    """The site, built without a warning."""
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-d", folder / "trees"]
    command += ["-D", "toc_object_entries=0"]  # every page copies the contents of all, which takes long
    run = subprocess.run([*command, ROOT / "docs", folder / "site"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert not run.stderr
    return folder / "site"


@pytest.mark.sweep
def test_site(tmp_path, extensions):
    """In one test, because every worker that runs one would build the site again."""
    site = built(tmp_path)
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


@pytest.mark.long
@pytest.mark.parametrize("size", [(390, 844), (1280, 800)], ids=["phone", "desktop"])
def test_pages_in_a_browser(tmp_path, size):
    """None is wider than the screen, none asks another host for anything, none has an error."""
    site, wide, problems = built(tmp_path), [], []
    with browser() as chromium:
        page = chromium.new_page(viewport={"width": size[0], "height": size[1]})
        page.on("request", lambda request: problems.append(request.url) if request.url[:5] not in LOCAL else None)
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        for path in sorted(site.rglob("*.html")):
            page.goto(path.as_uri())
            if page.evaluate("document.documentElement.scrollWidth") > size[0]:
                wide.append(path.relative_to(site).as_posix())
        page.goto((site / "course" / "rnea.html").as_uri())
        assert page.locator("math").count() > 10
        page.evaluate("navigator.clipboard.writeText = async text => { window.copied = text }")
        page.locator("button.copy-code").first.click()
        assert "import kinetree as kt" in page.evaluate("window.copied")
        assert page.evaluate("document.fonts.ready.then(() => document.fonts.check('16px \"STIX Two Math\"'))")
        page.goto((site / "search.html").as_uri())
        page.wait_for_function("Search.hasIndex()")
        found = {query: page.evaluate(FIRST_RESULT, query) for query in QUERIES}
        assert {query: name for query, name in found.items() if name != QUERIES[query]} == {}
    assert not wide
    assert not problems


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


def test_lines_of_the_source_are_found_by_name(extensions):
    excerpt = extensions("executed").excerpt
    path, text, first = excerpt("algorithms/rnea:newton_euler", "for i, p in model.root", "F[i] = ")
    assert path.read_text().splitlines()[first - 1].strip() == text.splitlines()[0]
    assert text.startswith("for i, p in model.root_to_tips():") and "F[i] = I.net_force" in text.splitlines()[-1]
    assert excerpt("spatial/motion:Motion.cross")[1].count("def cross") == 1  # not its overloads
    assert excerpt("compiler/graph/expr:SIGNATURES")[1].startswith("SIGNATURES")
    for gone in ("algorithms/rnea:nothing", "algorithms/nothing:inverse_dynamics"):
        with pytest.raises((IndexError, OSError)):
            excerpt(gone)
    with pytest.raises(StopIteration):
        excerpt("algorithms/rnea:newton_euler", "a line that is not there")


def test_docstrings_are_plain_text(extensions):
    markup = extensions("plain_docstrings").markup
    assert markup(["V ×* I of `X` and *all* of it, a_b|c."]) == [
        "V ×\\* I of \\ ``X``\\  and *all* of it, a\\_b\\|c.",
        "",
    ]
    assert markup(["stiffness   k [N/m]", "damping     d"])[:2] == ["::", ""]


def test_where_others_are_faster_is_found(extensions, tmp_path, monkeypatch):
    tables = extensions("benchmark_tables")
    columns = [{"robot": "A", "pin [µs]": 4.0, "ratio": 4.0}, {"robot": "B", "pin [µs]": 1.0, "ratio": 0.5}]
    solvers = [
        {"programs": "P", "solver": "kinetree", "median [µs]": 8.0},
        {"programs": "P", "solver": "quick", "median [µs]": 2.0},
        {"programs": "P", "solver": "slow", "median [µs]": 9.0},
    ]
    loading = [{"robot": "C", "seconds": 0.3, "pin [s]": 0.1}]
    (tmp_path / "some.json").write_text(json.dumps({"a": {"deep": columns}, "b": solvers, "c": loading}))
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    assert tables.lost("some") == [("B", "pin", 2.0), ("P", "quick", 4.0), ("loading C", "pin", pytest.approx(3.0))]
