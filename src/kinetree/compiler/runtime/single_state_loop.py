"""The step loop of one state: its machine code reads tables, of which little changes from call to call."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np

from kinetree.compiler.codegen.single_state_loop import Record, Steps, advance
from kinetree.compiler.runtime.call import Kernel, address_of
from kinetree.compiler.runtime.jit import LoadedCode, once
from kinetree.compiler.runtime.loop_code import loop_function
from kinetree.compiler.runtime.pace import Pace
from kinetree.compiler.runtime.strided_view import StridedView
from kinetree.ops import Array

NEVER = 2**62
"""Steps until the next record if nothing is recorded."""


Words: TypeAlias = "ctypes.Array[ctypes.c_int64]"
_STEPS, _TARGET = ctypes.sizeof(Steps) // 8, Record.target.offset // 8


@once
def _driver() -> tuple[LoadedCode, Any]:
    p, n = ctypes.c_void_p, ctypes.c_int64
    return loop_function("kinetree_loop_single", advance, ctypes.CFUNCTYPE(None, p, n, n, n, p, p, p, p), False)


class SingleStateLoop:
    """The step loop of one state, prepared once, so that `advance` is cheap even for a single step.

    state     the concatenated arrays that are carried from step to step; updated in place
    inputs    views over all steps, and `records` of every `every` steps; the caller has checked them
    """

    def __init__(
        self, kernel: Kernel, state: Array, inputs: Sequence[StridedView], records: Sequence[StridedView | None],
        every: int,
    ) -> None:  # fmt: skip
        layout = kernel.source.layout
        carried = layout.inputs[: len(layout.inputs) - len(inputs)]
        results = np.empty(sum(layout.outputs))
        starts, ends = _addresses(state, carried), _addresses(results, layout.outputs)
        strides = [0] * len(carried) + [view.stride for view in inputs]
        table: list[int] = []
        self._written = []  # index of the word, address of the first record, stride between records
        for k, record in enumerate(records):
            if record is not None:
                index = _STEPS + len(strides) + len(table) + _TARGET
                self._written.append((index, address_of(record.first), record.stride))
                table += [ends[k], 0, layout.outputs[k], record.stride]  # a Record
        self._steps = _steps(strides, address_of(results), address_of(state), len(state), table)
        firsts = [address_of(view.first) for view in inputs]
        self._read = [
            (len(carried) + k, first, view.stride)
            for k, (view, first) in enumerate(zip(inputs, firsts, strict=True))
            if view.stride
        ]
        self._inputs, self._outputs = _words([*starts, *firsts]), _words(ends)
        self._addresses = tuple(map(ctypes.addressof, (self._inputs, self._outputs, self._steps)))
        self._kernel, self._code, self._drive, self._every = kernel, kernel.load("single"), _driver()[1], every
        self._references = (state, results, tuple(inputs), tuple(records))  # they keep the addresses valid

    def begin(self, every: int, inputs: Sequence[int], records: Sequence[int]) -> None:
        """Let the moving inputs and the records begin at these addresses, in the order in which they were given; their
        owner keeps them valid, with the sizes and strides of those before."""
        self._every = every
        self._read = [(k, first, step) for (k, _, step), first in zip(self._read, inputs, strict=True)]
        self._written = [(k, first, step) for (k, _, step), first in zip(self._written, records, strict=True)]

    def advance(self, done: int, steps: int) -> None:
        """Advance the state by `steps` after `done` steps."""
        for k, first, step in self._read:
            self._inputs[k] = first + done * step
        for k, first, step in self._written:
            self._steps[k] = first + done // self._every * step
        memory, space = self._kernel.workspace(self._code.workspace)
        self._drive(self._code.address, steps, self._every - done % self._every, self._every, *self._addresses, space)
        del memory


def _addresses(array: Array, sizes: Sequence[int]) -> list[int]:
    """Addresses of consecutive parts of an array with these sizes."""
    return [address_of(array) + 8 * before for before in accumulate((0, *sizes[:-1]))][: len(sizes)]


def _steps(strides: list[int], result: int, state: int, size: int, records: list[int]) -> Words:
    """`Steps`, and behind it the strides and the records."""
    count = len(records) * 8 // ctypes.sizeof(Record)
    words = _words([len(strides), 0, result, state, size, count, 0, *strides, *records])
    words[1] = ctypes.addressof(words) + 8 * _STEPS
    words[6] = words[1] + 8 * len(strides)
    return words


def _words(values: Sequence[int]) -> Words:
    return (ctypes.c_int64 * len(values))(*values)


def run_rows(
    kernel: Kernel,
    inputs: Sequence[StridedView],
    outputs: Sequence[StridedView],
    rows: int,
    stopped: Callable[[], bool] = lambda: False,
) -> None:
    """Run the kernel on `rows` rows of its arrays, or until `stopped()`; each step of a view is one row."""
    layout = kernel.source.layout
    for view, size in zip(inputs, layout.inputs, strict=True):
        view.check(1, size, rows)
    for view, size in zip(outputs, layout.outputs, strict=True):
        view.check_result(1, size, rows)
    views = (*inputs, *outputs)
    code, drive = kernel.load("single"), _driver()[1]
    table = _words([address_of(view.first) for view in views])
    steps = _steps([view.stride for view in views], 0, 0, 0, [])  # nothing is carried or recorded
    start = ctypes.addressof(table)
    memory, space = kernel.workspace(code.workspace)
    for begun, ended in Pace(code.operations).pieces(0, rows):
        if stopped():
            return
        drive(code.address, ended - begun, NEVER, NEVER, start, start + 8 * len(inputs), ctypes.addressof(steps), space)
    del memory
