"""One state under way: the words that the machine code of the loop reads, of which few change from call to call."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from kinetree.compiler.codegen.roll_single import ROLL_SINGLE, roll_single_assembly
from kinetree.compiler.runtime.call import Kernel, address_of
from kinetree.compiler.runtime.jit import LoadedCode, compile_object, host, once
from kinetree.compiler.runtime.turns import Track
from kinetree.ops import Array


@once
def _driver() -> tuple[LoadedCode, Any]:
    code = LoadedCode(compile_object(roll_single_assembly(), host()), host(), library=False)
    p, n = ctypes.c_void_p, ctypes.c_int64
    return code, ctypes.CFUNCTYPE(None, p, n, n, n, p, p, p, p)(code.address(ROLL_SINGLE))


class One:
    """The loop of one state, made ready once: `advance` may be called for every single turn.

    state     numbers of all arrays that are carried, one behind the other; written in place
    inputs    of all turns, and `records` of every `every` turns, checked by who makes this
    """

    def __init__(
        self, kernel: Kernel, state: Array, inputs: Sequence[Track], records: Sequence[Track | None], every: int
    ) -> None:
        layout = kernel.source.layout
        carried = layout.inputs[: len(layout.inputs) - len(inputs)]
        results = np.empty(sum(layout.outputs))
        starts, ends = _places(state, carried), _places(results, layout.outputs)
        kept = [(k, record) for k, record in enumerate(records) if record is not None]
        steps = [0] * len(carried) + [track.step for track in inputs]
        words = [len(steps), *steps, address_of(state), address_of(results), len(state), len(kept)]
        self._written = []  # which word, the address at the first record, and how far apart records are
        for k, record in kept:
            self._written.append((len(words) + 1, address_of(record.first), record.step))
            words += [ends[k], 0, layout.outputs[k], record.step]
        firsts = [address_of(track.first) for track in inputs]
        self._read = [
            (len(carried) + k, first, track.step)
            for k, (track, first) in enumerate(zip(inputs, firsts, strict=True))
            if track.step
        ]
        self._inputs = _words([*starts, *firsts])
        self._outputs, self._words = _words(ends), _words(words)
        self._addresses = tuple(map(ctypes.addressof, (self._inputs, self._outputs, self._words)))
        self._kernel, self._code, self._drive, self._every = kernel, kernel.load("single"), _driver()[1], every
        self._held = (state, results, tuple(inputs), tuple(records))  # behind the addresses

    def advance(self, done: int, turns: int) -> None:
        """So many turns further, when so many are done."""
        for k, first, step in self._read:
            self._inputs[k] = first + done * step
        for k, first, step in self._written:
            self._words[k] = first + done // self._every * step
        memory, space = self._kernel.workspace(self._code.workspace)
        self._drive(self._code.address, turns, self._every - done % self._every, self._every, *self._addresses, space)
        del memory


def _places(array: Array, sizes: Sequence[int]) -> list[int]:
    """Addresses of so many numbers each, one behind the other."""
    return [address_of(array) + 8 * before for before in accumulate((0, *sizes[:-1]))][: len(sizes)]


def _words(values: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
    return (ctypes.c_int64 * len(values))(*values)
