"""Puts the library into the site as an archive: the cell of course/browser.md takes it into the reader's browser."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

from sources import ROOT
from sphinx.application import Sphinx

LEFT_OUT = ("cli", "viewer", "scale")
"""Parts that need a machine of their own."""


def write_archive(path: Path) -> None:
    """Writes all that the library consists of, the same bytes for the same sources."""
    source = ROOT / "src"
    files = sorted(
        each for each in (source / "kinetree").rglob("*") if each.is_file() and "__pycache__" not in each.parts
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            name = file.relative_to(source)
            if name.parts[1] not in LEFT_OUT:
                archive.writestr(zipfile.ZipInfo(name.as_posix()), file.read_bytes(), zipfile.ZIP_DEFLATED)


def _finished(app: Sphinx, problem: Exception | None) -> None:
    if problem is None and app.builder.format == "html":
        write_archive(Path(app.outdir) / "_static" / "kinetree.zip")


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("build-finished", _finished)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
