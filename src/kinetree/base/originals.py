"""Whether the library that runs is the one that its sources describe.

Machine code of quantities, controllers and searches is found on disk by what it is called, and by the library's text.
That is right only while the text is what runs. A program may replace any function, class or constant of the library, to
test, to debug or to try something out: what is traced then is its own, and must not be kept for others; nor must it be
given what others have kept.

So what every module has is noted as soon as it is imported: its names, the methods of its classes, the code, the
defaults and the closures of its functions, the content of its constants. `replaced` compares. It does not forget: what
was computed meanwhile may be part of what is traced later.
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
_ASIDE = tuple(f"{LIBRARY}.{part}" for part in ("cli", "plot", "viewer"))
"""Of which nothing else is made."""
_PARTS = ("__code__", "__defaults__", "__kwdefaults__")
_INNER = ("__func__", "fget", "fset", "make", "func", "function", "__wrapped__")
"""Attributes under which methods, properties and decorated functions have the function they are made of."""
_VALUES = (FunctionType, BuiltinFunctionType, type, ModuleType, int, float, str, tuple, list, dict, frozenset, set)
_PLAIN = (ModuleType, BuiltinFunctionType, int, float, str, tuple, list, dict, frozenset, set, type(None))
"""Behind which there is nothing more."""
_MISSING = object()


class _Noted:
    """What a module consisted of when it had just been imported."""

    def __init__(self, module: ModuleType) -> None:
        self.module, self.name = module, module.__name__
        self.spaces: list[tuple[str, Any, dict[str, Any]]] = [(self.name, vars(module), dict(vars(module)))]
        """Of the module and its classes: what they are called, their namespace, and a copy of it."""
        self.functions: list[FunctionType] = []
        self.parts: dict[str, list[Any]] = {part: [] for part in _PARTS}
        self.cells: list[CellType] = []
        self.contents: list[Any] = []
        self.constants: list[tuple[str, Any, Any]] = []
        self._seen: set[int] = set()

    def look_inside(self) -> None:
        """For one of the library's own: not only names count, but also what is behind them."""
        for key, value in list(vars(self.module).items()):
            if key.lstrip("_").isupper() and isinstance(value, (dict, list, set, np.ndarray)):
                self.constants.append((f"{self.name}.{key}", value, value.copy()))
            else:
                self._add(value)

    def _add(self, value: Any) -> None:
        """What is defined here; what comes from another module is noted there."""
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

    # -- compared ----------------------------------------------------------------------------------------------

    def differences(self) -> Iterator[str]:
        """What is not as it was, by name."""
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
    """A name of a module or a class that has another value. One that is new matters if it hides something: a built-in
    function, or what a class has inherited. Other things are state that comes and goes."""
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
    """Those of the things whose part is not what it was."""
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
    """At the speed of C, where all that is compared is the same objects."""
    try:
        return bool(now == before)
    except Exception:  # of arrays and other things that compare in their own way
        return False


def _is_part(name: str) -> bool:
    return not any(name == aside or name.startswith(f"{aside}.") for aside in _ASIDE)


def _is_there(module: ModuleType) -> bool:
    """Whether it has been imported to its end."""
    return not getattr(getattr(module, "__spec__", None), "_initializing", False)


class _Package(ModuleType):
    """A package of the library, in which Python's import leaves every module that it has just loaded."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if isinstance(value, ModuleType) and value.__name__ == f"{self.__name__}.{name}":
            note(value.__name__)


_noted: dict[str, _Noted] = {}
_others = [_Noted(module) for module in (math, np, np.linalg)]
"""Which formulas call while they are traced: noted now."""
_found: set[str] = set()


def note(name: str) -> None:
    """A module that has just been imported, and those inside of it; modules that come later note themselves."""
    inside = [each for each in list(sys.modules) if each.startswith(f"{name}.")] if _is_package(name) else []
    for each in (name, *inside):
        module = sys.modules.get(each)
        if module is not None and each not in _noted and _is_part(each) and (each == name or _is_there(module)):
            noted = _Noted(module)
            noted.look_inside()
            _noted[each] = noted
            if _is_package(each):
                module.__class__ = _Package


def replaced() -> frozenset[str]:
    """What of the library is not, or was not when this was last asked, what its sources say; empty if all is."""
    _found.update(_differences())
    return frozenset(_found)


def _differences() -> Iterator[str]:
    for noted in (*_noted.values(), *_others):
        yield from noted.differences()
    for name, noted in list(_noted.items()):
        loader = getattr(noted.module.__spec__, "loader", None)
        if sys.modules.get(name) is not noted.module or type(loader) is not SourceFileLoader:
            yield name  # perhaps made of another text
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{LIBRARY}.") and name not in _noted and _is_part(name) and _is_there(module):
            yield name


def renew(constant: Any) -> None:
    """A table of the library's, by itself, to which one of its modules has added what it has."""
    for noted in _noted.values():
        for k, (name, known, _) in enumerate(noted.constants):
            if known is constant:
                noted.constants[k] = (name, known, known.copy())


def is_own(kind: type) -> bool:
    """Whether a class is one of the library's: where its name says, it is found."""
    noted = _noted.get(kind.__module__)
    found: Any = noted and noted.module
    for part in kind.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is kind


def _is_package(name: str) -> bool:
    return hasattr(sys.modules.get(name), "__path__")
