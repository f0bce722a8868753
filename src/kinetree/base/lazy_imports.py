"""Parts of a package that are imported on first use, so that the package itself loads faster.

Python's import system takes a lock that every import and fork needs. A signal handler that raises at that moment, as
Ctrl-C does, leaves the lock taken for ever. So the main thread lets another thread import (`importing`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

from kinetree.base.deferred_signals import deferring_signals
from kinetree.errors import KinetreeError


def imported_later(
    package: str, parts: Iterable[str], names: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package with lazy `parts` (subpackages) and `names` (name → module).

    `dir` lists these and the names of `__all__`, not what the package imports for itself.
    """
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
    """The module of this name, imported if necessary; exceptions of signal handlers are raised after the import."""
    module = _imported.get(name)
    if module is None:
        module = _imported[name] = deferring_signals(import_module, name)
    return module


_imported: dict[str, ModuleType] = {}
"""Modules whose import is complete."""


@contextmanager
def extra(name: str, purpose: str) -> Iterator[None]:
    """Around the import of a package that only the extra `name` installs: without it, a `KinetreeError` says what
    needs the package and how to get it."""
    try:
        yield
    except ModuleNotFoundError:
        raise KinetreeError(f"{purpose}: pip install 'kinetree[{name}]'") from None
