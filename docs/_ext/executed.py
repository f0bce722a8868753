"""`{printed}` shows what the block of Python before it prints, found out by running the page when the site is built.

A page's blocks share one namespace, as in the tests. `{source} algorithms/rnea:newton_euler` shows a function as it is
written there; with `:from:` and `:to:`, the lines from the first that contains one text to the first with the other.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sources import ROOT, linked
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FENCE = re.compile(r"^(```+)(\{?[\w-]*\}?)[^\n]*\n(.*?)^\1$", flags=re.DOTALL | re.MULTILINE)


def _outputs(text: str) -> list[str]:
    """What stands in place of every `{printed}` of a page."""
    namespace: dict[str, Any] = {"__name__": "page"}
    outputs, printed = [], ""
    last = max((match.start() for match in FENCE.finditer(text) if match[2] == "{printed}"), default=-1)
    for match in FENCE.finditer(text):
        if match.start() > last:
            break
        if match[2] == "python":
            with contextlib.redirect_stdout(io.StringIO()) as stream:
                exec(compile(match[3], "page", "exec"), namespace)
            printed = stream.getvalue()
        elif match[2] == "{printed}":
            outputs.append(printed)
    return outputs


class Printed(SphinxDirective):
    """The output of the block before it; `:language:` colours it, `:lines:` takes so many of its first lines."""

    has_content = True
    option_spec: ClassVar = {"language": directives.unchanged, "lines": directives.positive_int}

    def run(self) -> list[nodes.Node]:
        waiting = self.env.temp_data.get("printed")
        if waiting is None:
            text = Path(self.env.doc2path(self.env.docname)).read_text(encoding="utf-8")
            waiting = self.env.temp_data["printed"] = iter(_outputs(text))
        shown = next(waiting).rstrip()
        if not shown:
            raise self.error("the block before it prints nothing")
        count = self.options.get("lines")
        if count is not None:
            shown = "\n".join([*shown.splitlines()[:count], "…"])
        block = nodes.literal_block(shown, shown, language=self.options.get("language", "text"), force=True)
        return [nodes.container("", block, classes=["printed"])]


def excerpt(target: str, start: str | None = None, end: str | None = None) -> tuple[Path, str, int]:
    """File, text and first line of `module.function`, of a `Class.method` in it, or of a part of it."""
    module, _, name = target.partition(":")
    path = ROOT / "src" / "kinetree" / f"{module}.py"
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    scope: Any = ast.parse(source)
    first, last = 1, len(lines)
    for part in filter(None, name.split(".")):
        scope = [node for node in scope.body if _name(node) == part][-1]  # after its overloads
        first, last = scope.lineno, scope.end_lineno
        if getattr(scope, "decorator_list", None):
            first = scope.decorator_list[0].lineno
    if start is not None:
        first = next(k for k in range(first, last + 1) if start in lines[k - 1])
    if end is not None:
        last = next(k for k in range(first, last + 1) if end in lines[k - 1])
    chosen = lines[first - 1 : last]
    indent = min(len(line) - len(line.lstrip()) for line in chosen if line.strip())
    return path, "\n".join(line[indent:] for line in chosen), first


def _name(node: Any) -> str | None:
    """Of a function, a class or a constant."""
    targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
    return getattr(node, "name", None) or getattr(targets[0], "id", None)


class Source(SphinxDirective):
    """Lines of the library, named by file and function: `algorithms/rnea:newton_euler`."""

    required_arguments = 1
    option_spec: ClassVar = {"from": directives.unchanged_required, "to": directives.unchanged_required}
    has_content = False

    def run(self) -> list[nodes.Node]:
        try:
            path, text, first = excerpt(self.arguments[0], self.options.get("from"), self.options.get("to"))
        except (OSError, StopIteration, IndexError):
            raise self.error(f"{self.arguments[0]} has no such lines: {self.options}") from None
        self.env.note_dependency(str(path))
        block = nodes.literal_block(text, text, language="python")
        name = path.relative_to(ROOT).as_posix()
        linked(self.env).setdefault(self.env.docname, set()).add(name)
        uri = self.env.app.builder.get_relative_uri(self.env.docname, f"sources/{name}")
        link = nodes.reference("", name.removeprefix("src/kinetree/"), refuri=f"{uri}#L-{first}", internal=True)
        caption = nodes.paragraph("", "", link, classes=["source-caption"])
        return [nodes.container("", caption, block, classes=["source-lines"])]


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("printed", Printed)
    app.add_directive("source", Source)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
