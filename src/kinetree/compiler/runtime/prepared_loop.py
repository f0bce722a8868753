"""Step loops of one state that run again and again, with other numbers each time: their tables are made once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinetree.compiler.runtime.call import Kernel, address_of
from kinetree.compiler.runtime.code import LoopCarry
from kinetree.compiler.runtime.pace import Pace
from kinetree.compiler.runtime.single_state_loop import SingleStateLoop
from kinetree.compiler.runtime.strided_view import StridedView
from kinetree.ops import Array


class PreparedLoop:
    """A kernel in a step loop of one state, for any number of steps; several threads may run it at once."""

    def __init__(self, kernel: Kernel, carry: LoopCarry, recorded: Sequence[bool]) -> None:
        """`recorded` says of each output of the kernel whether it is recorded."""
        layout = kernel.source.layout
        self._kernel, self._recorded = kernel, recorded
        self._size = sum(layout.inputs[: carry.states])
        self._inputs = tuple(zip(layout.inputs[carry.states :], carry.moving, strict=True))
        self._records = [size for size, wanted in zip(layout.outputs, recorded, strict=True) if wanted]
        self._operations = kernel.load("single").operations
        self._idle: list[tuple[Array, list[Array], SingleStateLoop]] = []
        """States, rows of inputs and the loops over them that no thread uses."""
        self.at_once = int(Pace(self._operations).units)
        """Steps that are one short piece of machine code."""

    def run(
        self,
        parts: Sequence[tuple[int, Array]],
        inputs: Sequence[Any],
        records: Sequence[Array],
        steps: int,
        every: int,
        report: Callable[[float], None] | None = None,
    ) -> Array:
        """The state after `steps` steps from one with these parts at these places, and zeros elsewhere.

        inputs    arrays in the kernel's order: one row, or where it moves a row for every step
        records   C-contiguous arrays of steps / every rows each, to write to
        """
        try:
            state, rows, loop = self._idle.pop()
        except IndexError:
            state, rows, loop = self._tables()
        state[:] = 0.0
        for place, part in parts:
            state[place : place + len(part)] = part
        moving = []
        for (size, moves), given, row in zip(self._inputs, inputs, rows, strict=True):
            if moves:
                moving.append(_start(given, size * steps))
            else:
                row[:] = given
        written = [_start(record, size * steps // every) for record, size in zip(records, self._records, strict=True)]
        loop.begin(every, moving, written)
        if steps <= self.at_once:
            loop.advance(0, steps)
        else:
            for begun, ended in Pace(self._operations).pieces(0, steps):
                loop.advance(begun, ended - begun)
                if report is not None:
                    report(ended - begun)
        after = state.copy()
        self._idle.append((state, rows, loop))  # not after an exception: then they are dropped
        return after

    def _tables(self) -> tuple[Array, list[Array], SingleStateLoop]:
        state, rows = np.empty(self._size), [np.empty(size) for size, _ in self._inputs]
        views = [_view(row, moves) for row, (_, moves) in zip(rows, self._inputs, strict=True)]
        sizes = self._kernel.source.layout.outputs
        records = [
            _view(np.empty(size), True) if wanted else None for size, wanted in zip(sizes, self._recorded, strict=True)
        ]
        return state, rows, SingleStateLoop(self._kernel, state, views, records, 1)


def _view(row: Array, moves: bool) -> StridedView:
    return StridedView(row, row[None], row.nbytes if moves else 0)


def _start(array: Array, size: int) -> int:
    """The address of an array of so many numbers, one behind the other."""
    flags = array.flags
    if array.size != size or array.dtype.char != "d" or not (flags.c_contiguous and flags.aligned):
        raise RuntimeError("arrays do not fit the compiled code")
    return address_of(array)
