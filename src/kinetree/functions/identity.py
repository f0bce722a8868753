"""The identity of a formula: a text that is the same in every process, by which its code is found on disk without
tracing.

Equal texts must mean equal formulas. So the text contains the exact values that a formula freezes. Parts that may
change have no text: a user's classes and functions, whose sources are not checked, and mutable objects such as lists.
Formulas with such parts are traced in every process, and their code is found by their graph.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from types import FunctionType
from typing import Any

from kinetree.base.originals import is_own
from kinetree.functions.bindable import Bindable
from kinetree.functions.definition import found_by_name

_LIBRARY = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class _Foreign(Exception):
    """Raised for a part that has no text."""


def identity(*parts: Any) -> str | None:
    """The text of parts: numbers, strings, classes and frozen dataclasses of the library, robots, tuples of these. None
    if there is anything else in them."""
    try:
        return ", ".join(map(_text, parts))
    except _Foreign:
        return None


def is_own_function(function: Any) -> bool:
    """Whether a function comes from the library's sources, whatever it captures."""
    owner = getattr(function, "__self__", None)
    if owner is not None:
        return _is_own(type(owner))
    return isinstance(function, FunctionType) and _is_library(function.__module__)


def _text(part: Any) -> str:
    kind = type(part)
    if part is None or kind in (bool, int, float, str):
        return repr(part)
    if kind is tuple:
        return f"({''.join(f'{_text(item)}, ' for item in part)})"
    if isinstance(part, Bindable) and _is_own(kind) and all(map(is_own, part.model.kinds)):
        return f"robot {part.model.structure}"
    if isinstance(part, FunctionType) and _is_plain(part):
        return f"function {part.__module__}.{part.__qualname__}"
    if isinstance(part, type) and _is_own(part):
        return f"{part.__module__}.{part.__qualname__}"
    if is_dataclass(part) and kind.__dataclass_params__.frozen and _is_own(kind):
        values = [f"{each.name}={_text(getattr(part, each.name))}" for each in fields(part)]
        return f"{kind.__module__}.{kind.__qualname__}({', '.join(values)})"
    raise _Foreign


def _is_plain(function: FunctionType) -> bool:
    """Whether a function of the library captures nothing: its module has it, or the law made of it."""
    found = found_by_name(function)
    is_found = found is function or getattr(found, "function", None) is function
    return is_found and function.__closure__ is None and is_own_function(function)


def _is_own(kind: type) -> bool:
    """Whether a class is that of the library's sources: found by its name, and no method of it or of its base classes
    was replaced by one from elsewhere."""
    is_found = found_by_name(kind) is kind
    return is_found and _is_library(kind.__module__) and all(_is_library(module) for module in _origins(kind))


def _origins(kind: type) -> Iterator[str]:
    """The modules that define the methods and properties of a class."""
    for base in kind.__mro__:
        for name, value in vars(base).items():
            function = getattr(value, "fget", None) or getattr(value, "func", None) or value
            if isinstance(function, FunctionType) and not name.startswith("__"):
                yield function.__module__


def _is_library(module: str) -> bool:
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and file.startswith(_LIBRARY)
