"""Times on a machine that others use too: contenders take turns, and each keeps its best run."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.ops import Array

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Call:
    """One call as a hot loop has it: a statement, or several with "; " between them, over local names."""

    statement: str
    names: Mapping[str, object]
    read: Callable[[Any], Array] = np.asarray
    """From the value of the last statement to the result, to compare contenders."""

    def result(self) -> Array:
        """What the statement computes."""
        *first, last = self.statement.split("; ")
        names = dict(self.names)
        exec("; ".join(first), names)
        return self.read(eval(last, names))

    def seconds(self, count: int) -> float:
        """Seconds of a loop that holds nothing but the statement."""
        return self._timer.timeit(count)

    @lazy
    def _timer(self) -> timeit.Timer:
        setup = f"({', '.join(self.names)},) = given"
        return timeit.Timer(self.statement, setup, globals={"given": tuple(self.names.values())})


@dataclass(frozen=True)
class Effort:
    """How much time to spend: runs of each contender, and about how long one run takes [s]."""

    repeats: int
    seconds: float


def best_loops(
    loops: Mapping[Key, Callable[[int], float]], effort: Effort, advance: Callable[[], None] = lambda: None
) -> dict[Key, float]:
    """Seconds of one turn of every loop; a loop takes a count and returns the seconds of all turns.

    Many short runs rather than few long ones: on a busy machine some of them have it to themselves.
    """
    counts = {}
    for key, loop in loops.items():
        loop(1)  # fills caches
        counts[key] = max(1, int(effort.seconds * 3 / loop(3)))
    best = dict.fromkeys(loops, float("inf"))
    for _ in range(effort.repeats):
        for key, loop in loops.items():
            best[key] = min(best[key], loop(counts[key]) / counts[key])
        advance()
    return best
