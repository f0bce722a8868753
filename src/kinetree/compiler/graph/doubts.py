"""Conditions met while tracing under which a result is not to be trusted: a state that should have been refused.

A traced function cannot raise for them. They become one more output beside its results, and who calls it looks.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Doubts(threading.local):
    found: list[Any] | None = None


_doubts = _Doubts()


def doubt(condition: Any) -> None:
    """Let the traced function report, beside its results, whether this condition holds."""
    if _doubts.found is not None:
        _doubts.found.append(condition)


@contextmanager
def collected_doubts() -> Iterator[list[Any]]:
    """The conditions that are doubted inside."""
    before, _doubts.found = _doubts.found, []
    try:
        yield _doubts.found
    finally:
        _doubts.found = before
