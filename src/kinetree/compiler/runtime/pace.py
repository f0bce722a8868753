"""Machine code returns to Python every few milliseconds, so that Ctrl-C and other threads are served."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

NANOSECONDS = 0.4
"""A rough estimate of the time of one operation on one block."""
AT_ONCE = 1e7
"""Nanoseconds after which machine code returns to Python."""
FIRST = 0.03
"""The estimated share of `AT_ONCE` that the first piece takes. The estimate counts the operations of a kernel, but not
how often its inner loops run."""


class Pace:
    """The number of units of work that take `AT_ONCE`: first a cautious estimate, then measured."""

    def __init__(self, operations: int, unit: int = 1) -> None:
        self.unit = unit
        self.units = max(1.0, FIRST * AT_ONCE / (NANOSECONDS * max(1, operations)))

    def pieces(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Pieces of whole units that cover start … stop; the time of each sets the length of the next."""
        while start < stop:
            end = min(stop, start + self.unit * int(self.units))
            began = perf_counter()
            yield start, end
            seconds = perf_counter() - began
            measured = (end - start) / self.unit * 1e-9 * AT_ONCE / max(seconds, 1e-9)
            self.units = min(max(1.0, measured), 2.0 * self.units)
            start = end
