"""How long a call takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def seconds(call: Callable[..., Any], arguments: tuple[Any, ...], count: int, runs: int = 5) -> float:
    """Of one call, the best of some runs."""
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        for _ in range(count):
            call(*arguments)
        best = min(best, (time.perf_counter() - start) / count)
    return best
