"""Parts of a package that are imported when they are first asked for, so that the rest is there sooner.

Python's import system takes a lock without which no thread imports, or forks. A signal handler that raises just there,
as Ctrl-C does, leaves it taken for ever. So the main thread lets another one import (`importing`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from kinetree.base.deferred_signals import undisturbed


def imported_later(
    package: str, parts: Iterable[str], names: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for a package: subpackages by name, and names by the module they are in. `dir` lists
    these and the names of `__all__`, not what the package imports for itself."""
    known = frozenset(parts)

    def found(name: str) -> Any:
        if name in known:
            return importing(f"{package}.{name}")
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importing(f"{package}.{names[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        module = vars(sys.modules[package])
        return sorted({*module["__all__"], *known, *names, *(name for name in module if name.startswith("__"))})

    return found, listed


def importing(name: str) -> ModuleType:
    """The module of this name, imported if it is not there; what signal handlers raise meanwhile is raised then."""
    module = _imported.get(name)
    if module is None:
        module = _imported[name] = undisturbed(import_module, name)
    return module


_imported: dict[str, ModuleType] = {}
"""Those that were asked for, which are there whole."""
