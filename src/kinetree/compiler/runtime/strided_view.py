"""Where an array is at every step of a loop in machine code."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.compiler.runtime.call import address_of
from kinetree.ops import Array


@dataclass(frozen=True)
class StridedView:
    """Where an argument or a result is: (states, size) numbers at the first step, and how far it moves each step.

    The array is the whole; `first` is a view of it at the first step, (states, size), and `stride` is in bytes.
    """

    whole: Array
    first: Array
    stride: int

    def check(self, states: int, size: int, steps: int) -> None:
        """The last word before pointers are taken: every step stays inside its array."""
        low, high = _bounds(self.whole)
        begin, end = _bounds(self.first)
        shift = self.stride * max(0, steps - 1)
        inside = low <= min(begin, begin + shift) and max(end, end + shift) <= high
        good = self.first.shape == (states, size) and self.first.dtype.char == "d" and self.first.flags.aligned
        good = good and all(stride % 8 == 0 for stride in (*self.first.strides, self.stride))
        if not (inside and good):
            raise RuntimeError("arrays do not fit the compiled code")

    def check_result(self, states: int, size: int, steps: int) -> None:
        """The same of what is written: the numbers of one state must lie side by side."""
        self.check(states, size, steps)
        if self.first.size and self.first.strides[1] != 8 and self.first.shape[1] > 1:
            raise RuntimeError("results do not lie side by side")


def _bounds(array: Array) -> tuple[int, int]:
    """The first byte of an array, and the first behind it."""
    reach = [stride * (size - 1) for stride, size in zip(array.strides, array.shape, strict=True)]
    start = address_of(array)
    return start + sum(x for x in reach if x < 0), start + sum(x for x in reach if x > 0) + array.itemsize
