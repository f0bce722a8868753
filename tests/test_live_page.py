"""The cell of docs/course/browser.md in a real browser: with Pyodide from disk in place of the network, and without."""

import functools
import hashlib
import json
import os
import re
import shutil
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt

sys.path.insert(0, str(Path(__file__).parent / "viewer"))
from chromium import browser

ROOT = Path(__file__).parent.parent
FOLDER = Path(os.environ.get("PYODIDE", ROOT / ".pyodide"))
"""What `make test-pyodide` fetches."""
NUMPY = "numpy-2.1.1-cp311-cp311-emscripten_3_1_46_wasm32.whl"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Nothing."""


@pytest.fixture
def page_at(tmp_path, monkeypatch):
    """The address of a page that has the cell alone, on a server of its own."""
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    from live_cell import write_archive  # noqa: PLC0415

    cell = re.search(r"^```\{raw\} html\n(.*?)^```", (ROOT / "docs" / "course" / "browser.md").read_text(), re.S | re.M)
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "browser.html").write_text(f"<!doctype html><meta charset=utf-8>{cell[1]}")
    shutil.copytree(ROOT / "docs" / "_static", tmp_path / "_static")
    write_archive(tmp_path / "_static" / "kinetree.zip")
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=tmp_path))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/course/browser.html"
    server.shutdown()
    server.server_close()


def output(page, seconds):
    """What the cell says when it is done."""
    page.get_by_role("button", name="Run").click()
    page.wait_for_function("!document.querySelector('.live-cell button').disabled", timeout=1000 * seconds)
    return page.locator(".live-cell pre").text_content()


@pytest.mark.sweep
def test_without_a_network_the_cell_says_so(page_at):
    asked = []
    with browser() as chromium:
        page = chromium.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.route(re.compile("^https:"), lambda route: route.abort())
        page.goto(page_at)
        page.wait_for_load_state("networkidle")
        assert not [url for url in asked if not url.startswith("http://127.0.0.1")], "before Run nobody is asked"
        for _ in range(2):  # it may be tried again
            assert output(page, 20) == (
                "Python comes from cdn.jsdelivr.net, which cannot be reached from here. "
                "The code runs as it is where kinetree is installed."
            )


@pytest.mark.skipif(not (FOLDER / "lib").is_dir(), reason="no Pyodide here: make test-pyodide")
def test_the_cell_runs(page_at, tmp_path):
    made = shutil.make_archive(str(tmp_path / "numpy"), "zip", FOLDER / "lib" / "python3.11" / "site-packages")
    lock = json.loads((FOLDER / "node_modules" / "pyodide" / "pyodide-lock.json").read_text())
    lock["packages"]["numpy"] |= {"file_name": NUMPY, "sha256": hashlib.sha256(Path(made).read_bytes()).hexdigest()}

    def from_disk(route):
        name = route.request.url.rpartition("/")[2]
        if name == "pyodide-lock.json":
            route.fulfill(json=lock, headers=headers)
        elif name == NUMPY:
            route.fulfill(body=Path(made).read_bytes(), headers=headers)
        else:
            route.fulfill(path=FOLDER / "node_modules" / "pyodide" / name, headers=headers)

    headers = {"Access-Control-Allow-Origin": "*"}
    with browser() as chromium:
        page = chromium.new_page()
        page.route("https://cdn.jsdelivr.net/pyodide/**", from_disk)
        page.goto(page_at)
        said = output(page, 120)
        q = np.array([0.3, -0.8, 1.2, -0.4, 1.0, 0.0])
        assert f"holds itself by {kt.load('arm6').gravity_forces(q).round(2)} N m" in said
        assert said.count("Formulas run as Python") == 1 and "✗ 3.2" in said
        page.locator(".live-cell textarea").fill("print(1 / 0)")
        assert output(page, 20).endswith("ZeroDivisionError: division by zero")
        page.locator(".live-cell textarea").fill("robot.nq")
        page.locator(".live-cell textarea").press("Shift+Enter")
        page.wait_for_function("document.querySelector('.live-cell pre').textContent === '6'")
