"""Links to files and folders of the repository, such as `../src/kinetree/ops.py`, lead to pages that show them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_for_filename
from sphinx import addnodes
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
SHOWN = {".py", ".json", ".md", ".toml", ".ipynb"}


def _linked(app: Sphinx) -> dict[str, set[str]]:
    if not hasattr(app.env, "linked_sources"):
        app.env.linked_sources = {}  # by document
    return app.env.linked_sources


def _to_pages(app: Sphinx, doctree: nodes.document) -> None:
    docname = app.env.docname
    found = _linked(app).setdefault(docname, set())
    for node in [*doctree.findall(addnodes.download_reference), *doctree.findall(addnodes.pending_xref)]:
        path = (Path(app.env.doc2path(docname)).parent / node["reftarget"]).resolve()
        if not path.is_relative_to(ROOT) or path.suffix == ".md" or path == ROOT:
            continue
        name = page = path.relative_to(ROOT).as_posix()
        if path.is_dir():
            files = {f"{name}/{file.name}" for file in path.iterdir() if file.suffix in SHOWN and file.name[0] != "_"}
            found |= files
            _folders(app)[name] = files
            page = f"{name}/index"
        elif path.is_file():
            found.add(name)
        else:
            continue
        reference = nodes.reference("", "", *node.children, internal=True)
        reference["refuri"] = app.builder.get_relative_uri(docname, f"sources/{page}")
        node.replace_self(reference)


def _folders(app: Sphinx) -> dict[str, set[str]]:
    if not hasattr(app.env, "linked_folders"):
        app.env.linked_folders = {}
    return app.env.linked_folders


def _pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    formatter = HtmlFormatter(linenos="inline", anchorlinenos=True, lineanchors="L", wrapcode=True)
    for name in sorted(set().union(*_linked(app).values())):
        text = (ROOT / name).read_text(encoding="utf-8")
        code = highlight(text, get_lexer_for_filename(name), formatter)
        yield f"sources/{name}", {"title": name, "body": f"<h1>{name}</h1>{code}"}, "page.html"
    for name, files in sorted(_folders(app).items()):
        items = "".join(f'<li><a href="{Path(file).name}.html">{Path(file).name}</a></li>' for file in sorted(files))
        yield f"sources/{name}/index", {"title": name, "body": f"<h1>{name}</h1><ul>{items}</ul>"}, "page.html"


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("doctree-read", _to_pages)
    app.connect("html-collect-pages", _pages)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
