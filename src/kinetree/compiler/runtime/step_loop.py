"""States under way: a kernel whose results are its next arguments, for one state or for many, on all threads."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator, Sequence
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
    """Many states, (N, total) numbers of all arrays that are carried from step to step, and what they become.

    inputs    of all steps, for the inputs of the kernel behind the states
    records   where outputs of the kernel go after every `every` steps; None for those that are not kept
    """

    def __init__(
        self,
        kernel: Kernel,
        carry: LoopCarry,
        states: Array,
        inputs: Sequence[StridedView],
        records: Sequence[StridedView | None],
        steps: int,
        every: int = 1,
    ) -> None:
        self.kernel, self.carry = kernel, carry
        self.count, self.steps, self.every = len(states), steps, every
        self.inputs, self.records = tuple(inputs), tuple(records)
        self.done = 0
        self.lanes = 1 if self.count == 1 else host().lanes
        self._check(states)
        blocks = -(-self.count // self.lanes)
        padded = states[np.minimum(np.arange(blocks * self.lanes), self.count - 1)]
        self._tiles = np.ascontiguousarray(padded.reshape(blocks, self.lanes, -1).swapaxes(1, 2))

    @property
    def states(self) -> Array:
        """As they are now, (N, total); to be read."""
        return self._tiles.swapaxes(1, 2).reshape(-1, self._tiles.shape[1])[: self.count]

    def advance(self, steps: int, tell: Callable[[float], None] | None = None) -> None:
        """So many steps further, with `tell` called now and then with how many steps of a state were made.

        An interrupt leaves some states further than others.
        """
        if not 0 <= steps <= self.steps - self.done:
            raise RuntimeError("there are no more steps")
        if self.count == 1:
            self._advance_one(steps, tell)
        elif steps:
            self._advance_blocks(steps, tell)
        self.done += steps

    # -- many states -------------------------------------------------------------------------------------------

    def _advance_blocks(self, steps: int, tell: Callable[[float], None] | None) -> None:
        code = self.kernel.load("loop")
        a_step = max(1.0, code.operations * NANOSECONDS)
        stopped = threading.Event()

        def pieces(start: int, stop: int) -> Iterator[tuple[int, int, int, int]]:
            """Blocks for all steps where these are few, or one block for some steps at a time."""
            if a_step * steps < FIRST * AT_ONCE:
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
                if stopped.is_set():
                    return
                words, until = self._words(self.done + begun)
                tiles = address_of(self._tiles)
                code.function(first, last, ended - begun, until, self.every, ctypes.addressof(words), tiles, space)
                if tell is not None:
                    tell((last - first) * (ended - begun))
            del memory

        worth = int(a_step * len(self._tiles) * steps / WORTH_A_THREAD)
        if worth < 2 or get_num_threads() == 1 or len(self._tiles) == 1:
            work(0, self.count)
        else:
            run_ranges(work, self.count, self.lanes, min(worth, len(self._tiles)), stopped.set)

    def _words(self, done: int) -> tuple[Any, int]:
        """What the machine code reads of inputs and records after so many steps, and when the next record is due."""
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

    def _advance_one(self, steps: int, tell: Callable[[float], None] | None) -> None:
        for begun, ended in Pace(self.kernel.load("single").operations).pieces(0, steps):
            self._one.advance(self.done + begun, ended - begun)
            if tell is not None:
                tell(ended - begun)

    @lazy_code
    def _one(self) -> SingleStateLoop:
        return SingleStateLoop(self.kernel, self._tiles.reshape(-1), self.inputs, self.records, self.every)

    def _check(self, states: Array) -> None:
        """The last word before pointers are taken: every step stays inside its arrays."""
        layout, fed_back = self.kernel.source.layout, self.carry.states
        sizes = layout.inputs[:fed_back]
        if states.shape != (self.count, sum(sizes)) or sizes != layout.outputs[:fed_back] or states.dtype.char != "d":
            raise RuntimeError("states do not fit the compiled code")
        for view, size, moving in zip(self.inputs, layout.inputs[fed_back:], self.carry.moving, strict=True):
            view.check(self.count, size, self.steps)
            if self.count == 1 and size > 1 and view.first.strides[1] != 8:
                raise RuntimeError("arguments of one state do not lie side by side")
            if view.stride and not moving:
                raise RuntimeError("an input moves that was compiled to stay")
        for record, size in zip(self.records, layout.outputs, strict=True):
            if record is not None:
                record.check_result(self.count, size, self.steps // self.every)
