"""Whether the running library is the one that its sources describe.

Machine code of quantities, controllers and searches is found on disk by name and by the text of the library. That is
correct only while the text is what runs. A program may replace (monkeypatch) any function, class or constant of the
library, for a test or an experiment: its code must not be stored for other programs, nor may it use theirs.

So a snapshot of every module is taken right after its import: its names, the methods of its classes, the code, defaults
and closures of its functions, the content of its constants. `replaced` compares with the snapshots. It remembers what
it has found: a value that was computed meanwhile may become part of a later trace.
"""

from __future__ import annotations

import builtins
import math
import sys
from collections.abc import Iterable, Iterator
from importlib.machinery import SourceFileLoader
from operator import attrgetter
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

LIBRARY = __name__.partition(".")[0]
_EXEMPT = tuple(f"{LIBRARY}.{part}" for part in ("cli", "course", "plot", "scale", "viewer"))
"""Packages that no compiled code depends on."""
_PARTS = ("__code__", "__defaults__", "__kwdefaults__")
_INNER = ("__func__", "fget", "fset", "make", "func", "function", "__wrapped__")
"""Attributes of methods, properties and decorated functions that hold the function inside."""
_VALUES = (FunctionType, BuiltinFunctionType, type, ModuleType, int, float, str, tuple, list, dict, frozenset, set)
_PLAIN = (ModuleType, BuiltinFunctionType, int, float, str, tuple, list, dict, frozenset, set, type(None))
"""Types of values that need no look inside."""
_MISSING = object()


class _Snapshot:
    """The content of a module right after its import."""

    def __init__(self, module: ModuleType) -> None:
        self.module, self.name = module, module.__name__
        self.spaces: list[tuple[str, Any, dict[str, Any]]] = [(self.name, vars(module), dict(vars(module)))]
        """Name, namespace and a copy of it, for the module and each of its classes."""
        self.functions: list[FunctionType] = []
        self.parts: dict[str, list[Any]] = {part: [] for part in _PARTS}
        self.cells: list[CellType] = []
        self.contents: list[Any] = []
        self.constants: list[tuple[str, Any, Any]] = []
        self._seen: set[int] = set()

    def look_inside(self) -> None:
        """Include constants, classes and functions of a module of the library."""
        for key, value in list(vars(self.module).items()):
            if key.lstrip("_").isupper() and isinstance(value, (dict, list, set, np.ndarray)):
                self.constants.append((f"{self.name}.{key}", value, value.copy()))
            else:
                self._add(value)

    def _add(self, value: Any) -> None:
        """Include a value if this module defines it; the snapshot of another module has its own."""
        if isinstance(value, _PLAIN) or id(value) in self._seen:
            return
        self._seen.add(id(value))
        if isinstance(value, (FunctionType, type)):
            elsewhere = value.__module__ != self.name and "<locals>" not in value.__qualname__
            if elsewhere or value.__module__.partition(".")[0] != LIBRARY:
                return
        if isinstance(value, type):
            self.spaces.append((f"{self.name}.{value.__qualname__}", value.__dict__, dict(vars(value))))
            for each in list(vars(value).values()):
                self._add(each)
        elif isinstance(value, FunctionType):
            self.functions.append(value)
            for part, known in self.parts.items():
                now = getattr(value, part)
                known.append(now.copy() if type(now) is dict else now)
            for cell in value.__closure__ or ():
                content = _content(cell)
                if _matters(content):
                    self.cells.append(cell)
                    self.contents.append(content)
                    self._add(content)
        else:
            for name in _INNER:
                inner = getattr(value, name, None)
                if isinstance(inner, FunctionType):
                    self._add(inner)

    # -- comparison --------------------------------------------------------------------------------------------

    def differences(self) -> Iterator[str]:
        """Names of all that has changed since the import."""
        for k, (name, now, before) in enumerate(self.spaces):
            if not _equal(now, before):
                current = dict(now)
                changed = _changed(current, before, isinstance(now, dict))
                if changed:
                    yield f"{name}.{changed}"
                else:
                    self.spaces[k] = (name, now, current)
        for part, known in self.parts.items():
            for function in _unlike(self.functions, map(attrgetter(part), self.functions), known):
                yield f"{self.name}.{function.__qualname__}"
        for content in _unlike(self.contents, map(_content, self.cells), self.contents):
            yield f"{self.name}, {content}"
        for name, now, before in self.constants:
            if not (np.array_equal(now, before) if isinstance(now, np.ndarray) else _equal(now, before)):
                yield name


def _changed(now: dict[str, Any], before: dict[str, Any], of_module: bool) -> str:
    """The first name of a module or a class with another value, or empty.

    A new name counts if it hides something: a built-in function, or what a class inherits. Other new names are state.
    """
    for name, old in before.items():
        new = now.get(name, _MISSING)
        same = new is old or (type(new) is type(old) and isinstance(old, (int, float, str)) and new == old)
        if not same and _matters(old):
            return name
    for name in now.keys() - before.keys():
        hides = hasattr(builtins, name) if of_module else callable(now[name]) or not name.startswith("__")
        if hides and not isinstance(now[name], ModuleType):
            return name
    return ""


def _unlike(things: list[Any], now: Iterable[Any], before: list[Any]) -> list[Any]:
    """The things whose part has changed."""
    parts = list(now)
    if _equal(parts, before):
        return []
    return [thing for thing, new, old in zip(things, parts, before, strict=True) if not _equal(new, old)]


def _matters(value: Any) -> bool:
    return callable(value) or isinstance(value, _VALUES)


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def _equal(now: Any, before: Any) -> bool:
    """Whether two containers are equal; fast (in C) where they hold identical objects."""
    try:
        return bool(now == before)
    except Exception:  # arrays and other objects with their own comparison
        return False


def _is_part(name: str) -> bool:
    return not any(name == exempt or name.startswith(f"{exempt}.") for exempt in _EXEMPT)


def _is_complete(module: ModuleType) -> bool:
    """Whether the import of a module has finished."""
    return not getattr(getattr(module, "__spec__", None), "_initializing", False)


class _Package(ModuleType):
    """A package of the library. Python's import sets every module that it has loaded as an attribute here."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if isinstance(value, ModuleType) and value.__name__ == f"{self.__name__}.{name}":
            note(value.__name__)


_snapshots: dict[str, _Snapshot] = {}
_foreign = [_Snapshot(module) for module in (math, np, np.linalg)]
"""Other modules whose functions formulas call while they are traced."""
_found: set[str] = set()


def note(name: str) -> None:
    """Take snapshots of a module that has just been imported and of its submodules; `_Package` adds later ones."""
    inside = [each for each in list(sys.modules) if each.startswith(f"{name}.")] if _is_package(name) else []
    for each in (name, *inside):
        module = sys.modules.get(each)
        if module is not None and each not in _snapshots and _is_part(each) and (each == name or _is_complete(module)):
            snapshot = _Snapshot(module)
            snapshot.look_inside()
            _snapshots[each] = snapshot
            if _is_package(each):
                module.__class__ = _Package


def replaced() -> frozenset[str]:
    """Names of all that differs, or differed at an earlier call, from the sources of the library."""
    _found.update(_differences())
    return frozenset(_found)


def _differences() -> Iterator[str]:
    for snapshot in (*_snapshots.values(), *_foreign):
        yield from snapshot.differences()
    for name, snapshot in _snapshots.copy().items():  # another thread may import meanwhile
        loader = getattr(snapshot.module.__spec__, "loader", None)
        if sys.modules.get(name) is not snapshot.module or type(loader) is not SourceFileLoader:
            yield name  # it may come from another text
    for name, module in sys.modules.copy().items():
        if name.startswith(f"{LIBRARY}.") and name not in _snapshots and _is_part(name) and _is_complete(module):
            yield name


def renew(constant: Any) -> None:
    """Update the snapshot of a table that another module of the library has filled."""
    for snapshot in _snapshots.values():
        for k, (name, known, _) in enumerate(snapshot.constants):
            if known is constant:
                snapshot.constants[k] = (name, known, known.copy())


def is_own(kind: type) -> bool:
    """Whether a class belongs to the library: its qualified name leads to it."""
    snapshot = _snapshots.get(kind.__module__)
    found: Any = snapshot and snapshot.module
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is kind


def _is_package(name: str) -> bool:
    return hasattr(sys.modules.get(name), "__path__")
