"""The native loop of a search: a step of all lanes, then `search.tend`, until no lane is under way.

It comes back to Python every now and then, so that a search can be interrupted, and goes on from there.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from kinetree.compiler import (
    AT_ONCE,
    NANOSECONDS,
    Kernel,
    Loaded,
    LoadedCode,
    Rows,
    address_of,
    get_num_threads,
    loop_function,
    once,
    run_ranges,
)
from kinetree.ik.search import BEST, LANE, PROBLEM, REPORT, SETTINGS, tend
from kinetree.ops import Array

TOGETHER = 256
"""Problems that one run of the lanes takes on; always the same, so that results do not depend on threads."""


class Search(ctypes.Structure):
    """The memory of a search, by the names of `tend`, and the kernel that makes a step of all lanes."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("kernel", "descriptor", "work")),
        *((name, ctypes.c_int64) for name in ("lanes", "count", "nq", "nt", "seed_count")),
        *((name, ctypes.c_void_p) for name in ("settings", "free")),
        *((name, Rows) for name in ("Q", "N", "E", "L", "T", "targets", "starts", "seeds", "report", "solutions")),
    )


_COUNT, _GIVEN = Search.count.offset // 8, Search.targets.offset // 8


def run(r: Search, steps: int, onward: int) -> int:
    """Whether it is to be called again, then with `onward`, since it has made so many steps."""
    made = 0
    if onward:
        r.kernel(0, r.lanes, r.descriptor, r.work)
        made = 1
    while tend(
        r.lanes, r.count, r.nq, r.nt, r.seed_count, r.settings, r.free, r.Q, r.N, r.E, r.L, r.T, r.targets, r.starts,
        r.seeds, r.report, r.solutions,
    ):  # fmt: skip
        if made >= steps:
            return 1
        r.kernel(0, r.lanes, r.descriptor, r.work)
        made += 1
    return 0


_FRESH = np.zeros(REPORT)
_FRESH[BEST] = np.inf


@once
def _driver() -> tuple[LoadedCode, Any]:
    signature = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, *[ctypes.c_int64] * 2)
    return loop_function("kinetree_search", run, signature)


def parts_of_rows(address: int, sizes: Sequence[int]) -> list[int]:
    """Where a kernel finds its arguments that lie side by side in rows: for each its address and strides."""
    starts = accumulate(sizes, initial=0)
    return [word for start, _ in zip(starts, sizes, strict=False) for word in (address + 8 * start, sum(sizes), 1)]


class _Room:
    """The memory that the lanes of one thread work in."""

    def __init__(self, lanes: int, nq: int, given: tuple[int, ...], code: Loaded, free: Array, seeds: Array) -> None:
        nt = sum(given)
        self.matrices = {
            "Q": np.zeros((lanes, nq)),
            "N": np.zeros((lanes, nq)),
            "E": np.zeros((lanes, 2)),
            "L": np.zeros((lanes, LANE)),
            "T": np.zeros((lanes, nt)),
        }
        self.settings, self.flags = np.zeros(SETTINGS), np.zeros(lanes)
        self.work = np.empty(code.workspace + 64, dtype=np.uint8)
        work = -(-address_of(self.work) // 64) * 64
        Q, N, E, T = (address_of(self.matrices[name]) for name in "QNET")
        words = [Q, nq, 1, *parts_of_rows(T, given), N, nq, E, 2, address_of(self.flags), 1]
        self.descriptor = (ctypes.c_int64 * len(words))(*words)
        self.search = Search(
            code.address,
            ctypes.addressof(self.descriptor),
            work,
            *(lanes, 0, nq, nt, len(seeds)),
            *(address_of(self.settings), address_of(free)),
            *(Rows(address_of(matrix), matrix.shape[1]) for matrix in self.matrices.values()),
        )
        self.sizes = nq, nt
        self.words: Any = (ctypes.c_int64 * (ctypes.sizeof(Search) // 8)).from_buffer(self.search)
        steps = int(max(1.0, AT_ONCE / max(1.0, code.operations * NANOSECONDS)))
        self.arguments = (ctypes.addressof(self.search), steps)
        self.lone = (np.zeros((1, nt)), np.zeros((1, nq)), np.zeros((1, REPORT)), np.zeros((1, nq)))
        targets, starts, report, found = self.lone
        self._lone_rows = self.rows((targets, starts, seeds, report, found))
        self.code, self.drive = _driver()  # the function does not keep its code
        self.matrices["L"][:, PROBLEM] = -1.0

    def rows(self, arrays: Sequence[Array]) -> list[int]:
        """Address and width of targets, starts, seeds, reports and solutions."""
        nq, nt = self.sizes
        widths = (nt, nq, nq, REPORT, nq)
        return [word for array, width in zip(arrays, widths, strict=True) for word in (address_of(array), width)]

    def take(
        self, first: int, count: int, settings: tuple[float, ...], rows: list[int], stopped: Callable[[], bool]
    ) -> None:
        """Search for `count` problems with these `rows`; afterwards all lanes are without one, unless it was `stopped`
        or interrupted: then nobody must use this room again."""
        self.settings[:] = (*settings, first, 0.0)
        self.words[_COUNT] = count
        self.words[_GIVEN:] = rows
        more = self.drive(*self.arguments, 0)
        while more and not stopped():
            more = self.drive(*self.arguments, 1)

    def alone(self, target: Array, start: Array, settings: tuple[float, ...]) -> tuple[Array, list[float]]:
        """The solution and the report of one problem."""
        targets, starts, report, found = self.lone
        targets[0], starts[0] = target, start
        report[...] = _FRESH
        self.take(0, 1, settings, self._lone_rows, bool)
        return found[0].copy(), report[0].tolist()


class Lanes:
    """A step's kernel, and the loop around it."""

    def __init__(self, kernel: Kernel, seeds: Array, free: Array) -> None:
        """Attempts begin at seeds (n, nq), in coordinates that are `free` (nq,); the others stay at their start."""
        self.kernel, self.seeds = kernel, np.ascontiguousarray(seeds)
        self.free = np.array(free, dtype=float)
        self.nq, *given = kernel.source.layout.inputs
        self.given, self.nt = tuple(given), sum(given)
        """How many numbers of a row are the target, and how many the parameters of a parametric robot."""
        self._local = threading.local()

    def run(self, targets: Array, starts: Array, settings: tuple[float, ...]) -> tuple[Array, Array]:
        """Solutions (N, nq) and reports (N, REPORT) for targets (N, nt) and starts (N, nq)."""
        count = len(targets)
        given = ((targets, self.nt), (starts, self.nq))
        if any(a.shape != (count, n) or not a.flags.c_contiguous or a.dtype.char != "d" for a, n in given):
            raise RuntimeError("arrays do not fit the compiled code")
        solutions, report = np.empty((count, self.nq)), np.tile(_FRESH, (count, 1))
        self.kernel.load("batch")  # before threads need it
        stopped = threading.Event()

        def work(start: int, stop: int) -> None:
            room = self._room()
            for first in range(start, stop, TOGETHER):
                if stopped.is_set():
                    return
                arrays = (targets[first:], starts[first:], self.seeds, report[first:], solutions[first:])
                room.take(first, min(TOGETHER, stop - first), settings, room.rows(arrays), stopped.is_set)
            if not stopped.is_set():
                self._local.room = room

        runs = -(-count // TOGETHER)
        if runs < 2 or get_num_threads() == 1:
            work(0, count)
        else:
            run_ranges(work, count, TOGETHER, runs, stopped.set)
        return solutions, report

    def one(self, target: Array, start: Array, settings: tuple[float, ...]) -> tuple[Array, list[float]]:
        """The solution and the report for one target, (nt,), and start, (nq,), with nothing allocated but the
        solution."""
        room = self._room()
        result = room.alone(target, start, settings)
        self._local.room = room
        return result

    def _room(self) -> _Room:
        """The memory of this thread, for whoever asks: a signal handler that searches meanwhile gets another one. It is
        given back when its search is over."""
        room: _Room | None = self._local.__dict__.pop("room", None)
        lanes, kernel = self.kernel.source.target.lanes, self.kernel
        return room or _Room(lanes, self.nq, self.given, kernel.load("batch"), self.free, self.seeds)
