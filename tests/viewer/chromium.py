"""A real browser for tests: Chromium without a window, with WebGL in software."""

import contextlib
import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WITHOUT = "no Chromium on this machine: apt-get install chromium (or set CHROMIUM to its path)"


@contextlib.contextmanager
def browser():
    """A browser of playwright's, driven at its default viewport of 640×480."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install playwright")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(WITHOUT)
    flags = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader-webgl", "--enable-unsafe-swiftshader"]
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=[*flags, "--ignore-gpu-blocklist"])
        try:
            yield chromium
        finally:
            chromium.close()
