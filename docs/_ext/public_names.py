"""`{public-names} kinetree.control` documents every public name of a module, in the order of its sources.

With content, one name a line, it documents these.
"""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def names_of(module: ModuleType) -> list[str]:
    """`__all__`, or what the module defines itself."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return [name for name in listed if not inspect.ismodule(getattr(module, name))]
    own = (name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__)
    return [name for name in own if not name.startswith("_")]


def _directive(module: str, name: str, value: Any) -> list[str]:
    if inspect.isclass(value):
        return [f".. autoclass:: {module}.{name}", "   :members:", "   :undoc-members:", ""]
    if callable(value):
        return [f".. autofunction:: {module}.{name}", ""]
    return [f".. autodata:: {module}.{name}", ""]


class PublicNames(SphinxDirective):
    """All public names of a module, or those of the content."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar = {"inherited": directives.flag, "without": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        module = importlib.import_module(self.arguments[0])
        names = [line.strip() for line in self.content if line.strip()] or names_of(module)
        left_out = self.options.get("without", "").split()
        lines: list[str] = []
        for name in names:
            if name in left_out:
                continue
            entry = _directive(module.__name__, name, getattr(module, name))
            if "inherited" in self.options and entry[0].startswith(".. autoclass"):
                entry.insert(2, "   :inherited-members:")
            lines += entry
        rst = "```{eval-rst}\n" + "\n".join(lines) + "\n```"
        return self.parse_text_to_nodes(rst) if lines else []


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
