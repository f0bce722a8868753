"""`{public-names} kinetree.control` documents every public name of a module; with content, one name a line, these.
A name that some page lists is left out where its module is documented as a whole.

`{remaining-names}` documents what no other page of its folder has named, so that nothing public is left out.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

INSIDE = ("algorithms", "base", "cli", "compiler", "functions", "model", "robot", "spatial")
"""Packages whose names are not promised to stay."""
LISTED = re.compile(r"^```\{public-names\} (\S+)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def names_of(module: ModuleType) -> list[str]:
    """`__all__` but for what is documented with another package, or what the module defines itself."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        values = {name: getattr(module, name) for name in listed}
        return [
            name for name, value in values.items() if not inspect.ismodule(value) and not _is_of_another(module, value)
        ]
    own = (name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__)
    return [name for name in own if not name.startswith("_")]


def _is_of_another(module: ModuleType, value: Any) -> bool:
    """Whether a module has it from another public package of `kinetree`, such as a task of `kinetree.tasks`."""
    own, owner = (name.split(".")[:2] for name in (module.__name__, getattr(value, "__module__", "")))
    package = sys.modules.get(".".join(owner))
    if own in (["kinetree"], owner) or owner[:1] != ["kinetree"] or owner[-1] in INSIDE:
        return False
    return value.__name__ in getattr(package, "__all__", ())


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
    option_spec: ClassVar = {"inherited": directives.flag}

    def run(self) -> list[nodes.Node]:
        module = importlib.import_module(self.arguments[0])
        names = [line.strip() for line in self.content if line.strip()]
        if not names:
            elsewhere = listed_in(Path(self.env.doc2path(self.env.docname)).parent)
            names = [name for name in names_of(module) if f"{module.__name__}.{name}" not in elsewhere]
        lines: list[str] = []
        for name in names:
            entry = _directive(module.__name__, name, getattr(module, name))
            if "inherited" in self.options and entry[0].startswith(".. autoclass"):
                entry.insert(2, "   :inherited-members:")
            lines += entry
        rst = "```{eval-rst}\n" + "\n".join(lines) + "\n```"
        return self.parse_text_to_nodes(rst) if lines else []


def public_modules() -> list[str]:
    """`kinetree`, and the modules in it that say by `__all__` what they offer, if that is more than `kinetree` has."""
    import kinetree  # noqa: PLC0415 - the package that is documented

    found = ["kinetree"]
    for entry in pkgutil.iter_modules(kinetree.__path__, "kinetree."):
        if entry.name.rpartition(".")[2] in INSIDE:
            continue
        module = importlib.import_module(entry.name)
        names = getattr(module, "__all__", ())
        if any(getattr(module, name) is not getattr(kinetree, name, None) for name in names):
            found.append(entry.name)
    return found


def listed_in(folder: Path) -> set[str]:
    """The full names that pages list one by one."""
    found = set()
    for page in folder.glob("*.md"):
        for module, content in LISTED.findall(page.read_text(encoding="utf-8")):
            lines = (line.strip() for line in content.splitlines() if not line.startswith(":"))
            found |= {f"{module}.{name}" for name in lines if name}
    return found


def whole_in(folder: Path) -> set[str]:
    """The modules that pages document as a whole."""
    blocks = [block for page in folder.glob("*.md") for block in LISTED.findall(page.read_text(encoding="utf-8"))]
    return {module for module, content in blocks if all(line.startswith(":") for line in content.split())}


class RemainingNames(SphinxDirective):
    """What other pages of the folder leave out, by module."""

    def run(self) -> list[nodes.Node]:
        folder = Path(self.env.doc2path(self.env.docname)).parent
        named, whole = listed_in(folder), whole_in(folder)
        result: list[nodes.Node] = []
        for module in public_modules():
            if module in whole:
                continue
            names = names_of(importlib.import_module(module))
            missing = [name for name in names if f"{module}.{name}" not in named]
            if missing:
                listed = "\n".join(missing)
                result += self.parse_text_to_nodes(f"```{{public-names}} {module}\n{listed}\n```")
        return result or [nodes.paragraph("", "None.")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("public-names", PublicNames)
    app.add_directive("remaining-names", RemainingNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
