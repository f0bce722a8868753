"""Conditions that `ops.require` meets while a function is traced.

Machine code cannot raise. Whether one of them is broken becomes one more output beside the results, and whoever calls
the code looks at it.
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
    """Let the traced function report, beside its results, where this condition does not hold."""
    if _collected.conditions is not None:
        _collected.conditions.append(condition)


@contextmanager
def collected_requirements() -> Iterator[list[Any]]:
    """The conditions that are required inside."""
    before, _collected.conditions = _collected.conditions, []
    try:
        yield _collected.conditions
    finally:
        _collected.conditions = before


def any_broken(conditions: list[Any]) -> Any:
    """Whether one of them does not hold."""
    broken: Any = False
    for condition in conditions:
        broken = ops.logical_or(broken, ops.logical_not(condition))
    return broken
