"""A kernel run for many turns without Python in between, each time on the next rows of its arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kinetree.compiler.codegen.turns import TURNS, turns_assembly
from kinetree.compiler.runtime.call import Kernel, address_of
from kinetree.compiler.runtime.jit import LoadedCode, compile_object, host, once
from kinetree.compiler.runtime.pace import Pace
from kinetree.ops import Array


@dataclass(frozen=True)
class Track:
    """Where an argument or a result is: (states, size) numbers at the first turn, and how far it moves each turn.

    The array is the whole; `first` is a view of it at the first turn, (states, size), and `step` is in bytes.
    """

    whole: Array
    first: Array
    step: int

    def check(self, states: int, size: int, turns: int) -> None:
        """The last word before pointers are taken: every turn stays inside its array."""
        low, high = _bounds(self.whole)
        begin, end = _bounds(self.first)
        shift = self.step * max(0, turns - 1)
        inside = low <= min(begin, begin + shift) and max(end, end + shift) <= high
        good = self.first.shape == (states, size) and self.first.dtype.char == "d" and self.first.flags.aligned
        good = good and all(stride % 8 == 0 for stride in (*self.first.strides, self.step))
        if not (inside and good):
            raise RuntimeError("arrays do not fit the compiled code")

    def check_result(self, states: int, size: int, turns: int) -> None:
        """The same of what is written: the numbers of one state must lie side by side."""
        self.check(states, size, turns)
        if self.first.size and self.first.strides[1] != 8 and self.first.shape[1] > 1:
            raise RuntimeError("results do not lie side by side")


@once
def _driver() -> tuple[LoadedCode, Any]:
    code = LoadedCode(compile_object(turns_assembly(), host()), host(), library=False)
    p, n = ctypes.c_void_p, ctypes.c_int64
    return code, ctypes.CFUNCTYPE(None, p, n, p, p, p, n, p)(code.address(TURNS))


def run_turns(
    kernel: Kernel,
    inputs: Sequence[Track],
    outputs: Sequence[Track],
    turns: int,
    stopped: Callable[[], bool] = lambda: False,
) -> None:
    """Run the kernel `turns` times, or until it is `stopped`; every track is of one state."""
    layout = kernel.source.layout
    for track, size in zip(inputs, layout.inputs, strict=True):
        track.check(1, size, turns)
    for track, size in zip(outputs, layout.outputs, strict=True):
        track.check_result(1, size, turns)
    code, drive = kernel.load("single"), _driver()[1]
    tracks = (*inputs, *outputs)
    words = (ctypes.c_int64 * len(tracks))(*(address_of(track.first) for track in tracks))
    steps = (ctypes.c_int64 * len(tracks))(*(track.step for track in tracks))
    memory, space = kernel.workspace(code.workspace)
    start = ctypes.addressof(words)
    for begun, ended in Pace(code.operations).pieces(0, turns):
        if stopped():
            return
        drive(code.address, ended - begun, start + 8 * len(inputs), start, ctypes.addressof(steps), len(tracks), space)
    del memory


def _bounds(array: Array) -> tuple[int, int]:
    """The first byte of an array, and the first behind it."""
    reach = [stride * (size - 1) for stride, size in zip(array.strides, array.shape, strict=True)]
    start = address_of(array)
    return start + sum(x for x in reach if x < 0), start + sum(x for x in reach if x > 0) + array.itemsize
