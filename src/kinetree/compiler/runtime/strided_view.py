"""Arrays that a loop in machine code reads or writes, one slice at every step."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.compiler.runtime.call import address_of
from kinetree.ops import Array


@dataclass(frozen=True)
class StridedView:
    """An argument or result of a loop: the slice `first`, (states, size), which moves by `stride` bytes every step.

    `first` is a view of the array `whole`.
    """

    whole: Array
    first: Array
    stride: int

    def check(self, states: int, size: int, steps: int) -> None:
        """Raise unless the slices of all steps have this shape and lie inside the array."""
        first = self.first
        inside = self.stride == 0 and self.whole is first
        if not inside:
            low, high = _bounds(self.whole)
            begin, end = _bounds(first)
            shift = self.stride * max(0, steps - 1)
            inside = low <= min(begin, begin + shift) and max(end, end + shift) <= high
        good = first.shape == (states, size) and first.dtype.char == "d" and first.flags.aligned
        rows, columns = first.strides
        if not (inside and good) or (rows | columns | self.stride) & 7:
            raise RuntimeError("arrays do not fit the compiled code")

    def check_result(self, states: int, size: int, steps: int) -> None:
        """Raise as `check` does, and unless the numbers of one state are contiguous."""
        self.check(states, size, steps)
        if self.first.size and self.first.strides[1] != 8 and self.first.shape[1] > 1:
            raise RuntimeError("the results of one state are not contiguous in memory")


def _bounds(array: Array) -> tuple[int, int]:
    """The addresses of the first byte of an array and of the first byte behind it."""
    low = high = address_of(array)
    for stride, size in zip(array.strides, array.shape, strict=True):
        if stride < 0:
            low += stride * (size - 1)
        else:
            high += stride * (size - 1)
    return low, high + array.itemsize
