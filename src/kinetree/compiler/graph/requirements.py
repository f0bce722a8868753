"""Conditions of `ops.require` in a function that is traced.

Machine code cannot raise. It has one more output, whether any condition is broken, which its caller checks.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kinetree import ops


class _Collected(threading.local):
    conditions: list[Any] | None = None


_collected = _Collected()


def require(condition: Any) -> None:
    """Add a condition to those of the traced function."""
    if _collected.conditions is not None:
        _collected.conditions.append(condition)


@contextmanager
def collected_requirements() -> Iterator[list[Any]]:
    """A context that collects the conditions required inside."""
    before, _collected.conditions = _collected.conditions, []
    try:
        yield _collected.conditions
    finally:
        _collected.conditions = before


def any_broken(conditions: list[Any]) -> Any:
    """Whether any condition does not hold."""
    broken: Any = False
    for condition in conditions:
        broken = ops.logical_or(broken, ops.logical_not(condition))
    return broken
