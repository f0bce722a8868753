"""Results of any structure: arrays and numbers in tuples, lists and dicts are flattened and rebuilt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kinetree.errors import ArgumentTypeError, short

Rebuild = Callable[[Sequence[Any]], Any]


def paths(value: Any, is_leaf: Callable[[Any], bool], path: str = "result") -> list[str]:
    """The expression of every leaf, in order, such as result[0]["torque"]."""
    if is_leaf(value):
        return [path]
    if isinstance(value, Mapping):
        inner = [(f"{path}[{key!r}]", item) for key, item in value.items()]
    elif hasattr(value, "_fields"):
        inner = [(f"{path}.{name}", item) for name, item in zip(value._fields, value, strict=True)]
    else:
        inner = [(f"{path}[{k}]", item) for k, item in enumerate(value)]
    return [found for name, item in inner for found in paths(item, is_leaf, name)]


def flatten(value: Any, is_leaf: Callable[[Any], bool]) -> tuple[list[Any], Rebuild]:
    """The leaves in order, and a function that builds the same structure from other leaves."""
    if is_leaf(value):
        return [value], lambda leaves: leaves[0]
    if isinstance(value, Mapping):
        keys, items = list(value), list(value.values())
    elif isinstance(value, (tuple, list)):
        keys, items = None, list(value)
    else:
        hint = "" if not hasattr(value, "vector") else f"; .vector() makes an array of a {type(value).__name__}"
        raise ArgumentTypeError(
            f"a compiled function returned {short(value)}; expected arrays or numbers, or a tuple, list or dict of them"
            f"{hint}"
        )
    parts = [flatten(item, is_leaf) for item in items]
    ends = [0]
    for leaves, _ in parts:
        ends.append(ends[-1] + len(leaves))

    def rebuild(leaves: Sequence[Any]) -> Any:
        rebuilt = [part(leaves[ends[k] : ends[k + 1]]) for k, (_, part) in enumerate(parts)]
        if keys is not None:
            return dict(zip(keys, rebuilt, strict=True))
        if isinstance(value, list):
            return rebuilt
        return type(value)(*rebuilt) if hasattr(value, "_fields") else tuple(rebuilt)

    return [leaf for leaves, _ in parts for leaf in leaves], rebuild
