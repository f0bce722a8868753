"""Machine code comes back to Python every few milliseconds, so that Ctrl-C and other threads get their turn."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

NANOSECONDS = 0.4
"""Roughly what one operation on one block takes."""
AT_ONCE = 1e7
"""Nanoseconds after which machine code comes back."""
FIRST = 0.03
"""Share of them that the first piece takes by the estimate, which knows how many operations a kernel has, but not how
often its inner loops run."""


class Pace:
    """How many units of work take `AT_ONCE`: estimated with care at first, then measured."""

    def __init__(self, operations: int, unit: int = 1) -> None:
        self.unit = unit
        self.units = max(1.0, FIRST * AT_ONCE / (NANOSECONDS * max(1, operations)))

    def pieces(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """start … stop in pieces of whole units, each as long as the last one has shown to be right."""
        while start < stop:
            end = min(stop, start + self.unit * int(self.units))
            began = perf_counter()
            yield start, end
            seconds = perf_counter() - began
            right = (end - start) / self.unit * 1e-9 * AT_ONCE / max(seconds, 1e-9)
            self.units = min(max(1.0, right), 2.0 * self.units)
            start = end
