"""Conditions of `ops.require` in a function that is traced.

Machine code cannot raise. It has one more output, whether any condition is broken, which its caller checks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from kinetree import ops

Reason = str | Callable[[], Any]


class Requirements(list[Any]):
    """Conditions, and for each the reason why a state that breaks it is refused."""

    def __init__(self) -> None:
        super().__init__()
        self.reasons: list[Reason] = []

    def by_sentence(self) -> dict[str, list[Any]]:
        """The conditions of every reason as a sentence; that of a function is the first line of its docstring."""
        found: dict[str, list[Any]] = {}
        for condition, reason in zip(self, self.reasons, strict=True):
            text = reason if isinstance(reason, str) else (reason.__doc__ or "the state is refused")
            found.setdefault(text.strip().splitlines()[0], []).append(condition)
        return found


class _Collected(threading.local):
    conditions: Requirements | None = None


_collected = _Collected()


def require(condition: Any, reason: Reason = "the state is refused") -> None:
    """Add a condition to those of the traced function."""
    if _collected.conditions is not None:
        _collected.conditions.append(condition)
        _collected.conditions.reasons.append(reason)


@contextmanager
def collected_requirements() -> Iterator[Requirements]:
    """A context that collects the conditions required inside."""
    before, _collected.conditions = _collected.conditions, Requirements()
    try:
        yield _collected.conditions
    finally:
        _collected.conditions = before


def any_broken(conditions: Iterable[Any]) -> Any:
    """Whether any condition does not hold."""
    broken: Any = False
    for condition in conditions:
        broken = ops.logical_or(broken, ops.logical_not(condition))
    return broken
