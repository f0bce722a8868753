"""Loops over steps in machine code: the results of one step are the arguments of the next, for one state or many."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from kinetree.compiler.runtime.call import WORTH_A_THREAD, Kernel, address_of
from kinetree.compiler.runtime.code import LoopCarry
from kinetree.compiler.runtime.jit import host, lazy_code
from kinetree.compiler.runtime.pace import AT_ONCE, FIRST, NANOSECONDS, Pace
from kinetree.compiler.runtime.single_state_loop import SingleStateLoop
from kinetree.compiler.runtime.strided_view import StridedView
from kinetree.compiler.runtime.threads import get_num_threads, run_ranges
from kinetree.ops import Array


class StepLoop:
    """N states, (N, total) numbers of all arrays that are carried from step to step, and a kernel that advances them.

    inputs    views over all steps, for the kernel's inputs behind the carried ones
    records   views that receive the kernel's outputs after every `every` steps; None for outputs that are not recorded
    """

    def __init__(
        self, kernel: Kernel, carry: LoopCarry, states: Array, inputs: Sequence[StridedView],
        records: Sequence[StridedView | None], steps: int, every: int = 1,
    ) -> None:  # fmt: skip
        self.kernel, self.carry = kernel, carry
        self.count, self.steps, self.every = len(states), steps, every
        self.inputs, self.records = tuple(inputs), tuple(records)
        self.done = 0
        self.lanes = 1 if self.count == 1 else host().lanes
        self._check(states)
        blocks = -(-self.count // self.lanes)
        if self.count % self.lanes:
            states = states[np.minimum(np.arange(blocks * self.lanes), self.count - 1)]
        self._tiles = np.ascontiguousarray(states.reshape(blocks, self.lanes, -1).swapaxes(1, 2))

    @property
    def states(self) -> Array:
        """The current states, (N, total), to be read."""
        return self._tiles.swapaxes(1, 2).reshape(-1, self._tiles.shape[1])[: self.count]

    def column(self, k: int) -> Array:
        """The k-th number of all current states, (N,)."""
        return self._tiles[:, k].reshape(-1)[: self.count]

    def advance(self, steps: int, report: Callable[[float], None] | None = None) -> None:
        """Advance all states; `report` is called now and then with the number of steps of one state since the last.

        An interrupt leaves some states further than others.
        """
        if not 0 <= steps <= self.steps - self.done:
            raise RuntimeError("there are no more steps")
        if self.count == 1:
            self._advance_one(steps, report)
        elif steps:
            self._advance_blocks(steps, report)
        self.done += steps

    # -- many states -------------------------------------------------------------------------------------------

    def _advance_blocks(self, steps: int, report: Callable[[float], None] | None) -> None:
        code = self.kernel.load("loop")
        step_time = max(1.0, code.operations * NANOSECONDS)
        stopped: list[bool] = []

        def pieces(start: int, stop: int) -> Iterator[tuple[int, int, int, int]]:
            """Calls as (first state, last state, first step, last step): several blocks for all steps if these are
            short, else one block for some of the steps."""
            if step_time * steps < FIRST * AT_ONCE:
                for first, last in Pace(code.operations * steps, self.lanes).pieces(start, stop):
                    yield first, last, 0, steps
            else:
                pace = Pace(code.operations)
                for first in range(start, stop, self.lanes):
                    for begun, ended in pace.pieces(0, steps):
                        yield first, min(first + self.lanes, stop), begun, ended

        def work(start: int, stop: int) -> None:
            memory, space = self.kernel.workspace(code.workspace)
            for first, last, begun, ended in pieces(start, stop):
                if stopped:
                    return
                words, until = self._words(self.done + begun)
                tiles = address_of(self._tiles)
                code.function(first, last, ended - begun, until, self.every, ctypes.addressof(words), tiles, space)
                if report is not None:
                    report((last - first) * (ended - begun))
            del memory

        useful_threads = min(int(step_time * len(self._tiles) * steps / WORTH_A_THREAD), len(self._tiles))
        if useful_threads < 2 or get_num_threads() == 1:
            work(0, self.count)
        else:
            run_ranges(work, self.count, self.lanes, useful_threads, partial(stopped.append, True))

    def _words(self, done: int) -> tuple[Any, int]:
        """Addresses and strides of inputs and records after `done` steps, and the steps until the next record."""
        words: list[int] = []
        for view in self.inputs:
            row, column = view.first.strides
            words += [address_of(view.first) + done * view.stride, row // 8, column // 8, view.stride // 8]
        for record in self.records:
            if record is None:
                words += [0, 0, 0]
            else:
                start = address_of(record.first) + done // self.every * record.stride
                words += [start, record.first.strides[0] // 8, record.stride // 8]
        return (ctypes.c_int64 * len(words))(*words), self.every - done % self.every

    # -- one state ---------------------------------------------------------------------------------------------

    def _advance_one(self, steps: int, report: Callable[[float], None] | None) -> None:
        for begun, ended in Pace(self.kernel.load("single").operations).pieces(0, steps):
            self._single_state_loop.advance(self.done + begun, ended - begun)
            if report is not None:
                report(ended - begun)

    @lazy_code
    def _single_state_loop(self) -> SingleStateLoop:
        return SingleStateLoop(self.kernel, self._tiles.reshape(-1), self.inputs, self.records, self.every)

    def _check(self, states: Array) -> None:
        """Raise unless every step stays inside its arrays."""
        layout, carried = self.kernel.source.layout, self.carry.states
        sizes = layout.inputs[:carried]
        if states.shape != (self.count, sum(sizes)) or sizes != layout.outputs[:carried] or states.dtype.char != "d":
            raise RuntimeError("states do not fit the compiled code")
        for view, size, moving in zip(self.inputs, layout.inputs[carried:], self.carry.moving, strict=True):
            view.check(self.count, size, self.steps)
            if self.count == 1 and size > 1 and view.first.strides[1] != 8:
                raise RuntimeError("the arguments of one state are not contiguous in memory")
            if view.stride and not moving:
                raise RuntimeError("an input changes from step to step, but the code was compiled for a constant one")
        for record, size in zip(self.records, layout.outputs, strict=True):
            if record is not None:
                record.check_result(self.count, size, self.steps // self.every)
