"""Links to files and folders of the repository, such as `../src/kinetree/ops.py`, lead to pages that show them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer, XmlLexer, get_lexer_for_filename
from sphinx import addnodes
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
SHOWN = {".py", ".json", ".toml", ".ipynb", ".urdf", ".xml", ".txt"}
"""Files that have a page; others are copied as they are."""
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - kinetree</title><style>
:root {{ color-scheme: light dark; }}
body {{ max-width: 70rem; margin: 1rem auto; padding: 0 1rem; font-family: sans-serif; }}
h1 {{ font-size: 1.3rem; overflow-wrap: anywhere; }}
pre {{ overflow-x: auto; padding: 0.8rem; font-size: 0.85rem; line-height: 1.35; }}
.linenos {{ opacity: 0.5; user-select: none; margin-right: 0.8em; }}
{style}
</style></head><body><p><a href="{up}index.html">kinetree documentation</a></p><h1>{title}</h1>{body}</body></html>
"""


def linked(env: Any) -> dict[str, set[str]]:
    """The files that every document leads to."""
    if not hasattr(env, "linked_sources"):
        env.linked_sources = {}
    return env.linked_sources


def _to_pages(app: Sphinx, doctree: nodes.document) -> None:
    docname = app.env.docname
    found = linked(app.env).setdefault(docname, set())
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
        elif path.is_file() and path.suffix in SHOWN:
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


def _write(app: Sphinx, error: Exception | None) -> None:
    """Pages of their own, without the navigation of the site, which would take most of the time of the build."""
    if error is not None or app.builder.format != "html":
        return
    formatter = HtmlFormatter(linenos="inline", anchorlinenos=True, lineanchors="L", wrapcode=True, style="friendly")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".highlight")
    style = f"{formatter.get_style_defs('.highlight')}\n@media (prefers-color-scheme: dark) {{ {dark} }}"
    pages = {name: _listing(name, formatter) for name in set().union(*linked(app.env).values())}
    for name, files in _folders(app).items():
        items = (f'<li><a href="{Path(file).name}.html">{Path(file).name}</a></li>' for file in sorted(files))
        pages[f"{name}/index"] = f"<ul>{''.join(items)}</ul>"
    for name, body in pages.items():
        path = app.outdir / "sources" / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        up = "../" * (name.count("/") + 1)
        title = name.removesuffix("/index")
        path.write_text(PAGE.format(title=title, up=up, style=style, body=body), encoding="utf-8")


def _listing(name: str, formatter: HtmlFormatter) -> str:
    text = (ROOT / name).read_text(encoding="utf-8")
    if name.endswith(".ipynb"):
        return highlight(_cells(text), PythonLexer(), formatter)
    lexer = XmlLexer() if name.endswith(".urdf") else get_lexer_for_filename(name)
    return highlight(text, lexer, formatter)


def _cells(notebook: str) -> str:
    """The cells of a notebook as one script, its words as comments."""
    parts = []
    for cell in json.loads(notebook)["cells"]:
        text = "".join(cell["source"])
        is_code = cell["cell_type"] == "code"
        parts.append(text if is_code else "\n".join(f"# {line}".rstrip() for line in text.splitlines()))
    return "\n\n".join(parts) + "\n"


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("doctree-read", _to_pages)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
