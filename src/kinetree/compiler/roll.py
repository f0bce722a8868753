"""A kernel whose results are its next arguments, run for many turns without Python in between."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from kinetree.compiler.call import NANOSECONDS, WORTH_A_THREAD, Kernel, address_of
from kinetree.compiler.code import Kind
from kinetree.compiler.emit.roll import ROLL, roll_assembly
from kinetree.compiler.jit import LoadedCode, compile_object, host
from kinetree.compiler.threads import get_num_threads, run_ranges
from kinetree.ops import Array

TOGETHER = 256
"""States of a batch that run all their turns before others begin, so that they stay in the cache."""
TURNS = 4096
"""Turns after which Python may interrupt."""


@dataclass(frozen=True)
class Track:
    """Where an argument or a result is: (states, …) numbers at the first turn, and how far it moves each turn.

    The array is the whole; `first` is a view of it at the first turn, (states, size), and `step` is in bytes.
    """

    whole: Array
    first: Array
    step: int


@cache
def _drivers() -> tuple[LoadedCode, dict[Kind, Any]]:
    code = LoadedCode(compile_object(roll_assembly(), host()), host(), library=False)
    p, n = ctypes.c_void_p, ctypes.c_int64
    return code, {
        "single": ctypes.CFUNCTYPE(None, p, n, p, p, p, n, p)(code.address(ROLL["single"])),
        "batch": ctypes.CFUNCTYPE(None, p, n, n, n, p, p, n, p)(code.address(ROLL["batch"])),
    }


def roll(kernel: Kernel, inputs: Sequence[Track], outputs: Sequence[Track], turns: int) -> None:
    """Run the kernel `turns` times on every state; all arrays are float64 and aligned, outputs with unit stride."""
    _check(kernel, inputs, outputs, turns)
    if len(outputs[0].first) == 1:
        _roll_single(kernel, inputs, outputs, turns)
    elif len(outputs[0].first):
        _roll_batch(kernel, inputs, outputs, turns)


def _roll_single(kernel: Kernel, inputs: Sequence[Track], outputs: Sequence[Track], turns: int) -> None:
    code, drive = kernel.load("single"), _drivers()[1]["single"]
    tracks = (*inputs, *outputs)
    words = (ctypes.c_int64 * len(tracks))(*(address_of(track.first) for track in tracks))
    steps = (ctypes.c_int64 * len(tracks))(*(track.step for track in tracks))
    memory, space = kernel.workspace(code.workspace)
    start = ctypes.addressof(words)
    for done in range(0, turns, TURNS):
        count = min(TURNS, turns - done)
        drive(code.address, count, start + 8 * len(inputs), start, ctypes.addressof(steps), len(tracks), space)
    del memory


def _roll_batch(kernel: Kernel, inputs: Sequence[Track], outputs: Sequence[Track], turns: int) -> None:
    code, drive = kernel.load("batch"), _drivers()[1]["batch"]
    words, steps = [], []
    for track in inputs:
        row, column = track.first.strides
        words += [address_of(track.first), row // 8, column // 8]
        steps += [track.step, 0, 0]
    for track in outputs:
        words += [address_of(track.first), track.first.strides[0] // 8]
        steps += [track.step, 0]
    table = ctypes.c_int64 * len(words)
    fixed_steps = table(*steps)

    def work(start: int, stop: int) -> None:
        memory, space = kernel.workspace(code.workspace)
        for first in range(start, stop, TOGETHER):
            moving = table(*words)
            for done in range(0, turns, TURNS):
                count, last = min(TURNS, turns - done), min(first + TOGETHER, stop)
                drive(code.address, count, first, last, moving, fixed_steps, len(words), space)
        del memory

    states, lanes = len(outputs[0].first), host().lanes
    worth = int(code.operations * NANOSECONDS * (states / lanes) * turns / WORTH_A_THREAD)
    if worth < 2 or get_num_threads() == 1 or states <= lanes:
        work(0, states)
    else:
        run_ranges(work, states, lanes, min(worth, -(-states // lanes)))


def _bounds(array: Array) -> tuple[int, int]:
    """The first byte of an array, and the first behind it."""
    reach = [stride * (size - 1) for stride, size in zip(array.strides, array.shape, strict=True)]
    start = address_of(array)
    return start + sum(x for x in reach if x < 0), start + sum(x for x in reach if x > 0) + array.itemsize


def _check(kernel: Kernel, inputs: Sequence[Track], outputs: Sequence[Track], turns: int) -> None:
    """The last word before pointers are taken: every turn stays inside its array."""
    states = len(outputs[0].first)
    layout = kernel.source.layout
    for tracks, sizes in ((inputs, layout.inputs), (outputs, layout.outputs)):
        for track, size in zip(tracks, sizes, strict=True):
            low, high = _bounds(track.whole)
            begin, end = _bounds(track.first)
            shift = track.step * max(0, turns - 1)
            inside = low <= min(begin, begin + shift) and max(end, end + shift) <= high
            good = track.first.shape == (states, size) and track.first.dtype.char == "d" and track.first.flags.aligned
            good = good and all(stride % 8 == 0 for stride in (*track.first.strides, track.step))
            if not (inside and good):
                raise RuntimeError("arrays do not fit the compiled code")
    for track in outputs:
        if track.first.size and track.first.strides[1] != 8 and track.first.shape[1] > 1:
            raise RuntimeError("results do not lie side by side")
