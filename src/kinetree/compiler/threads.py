"""A pool of threads for large batches. Machine code runs without Python's lock, so they really run side by side."""

from __future__ import annotations

import ctypes
import operator
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from kinetree.errors import ArgumentError, short

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor


THREADS = ctypes.c_int64(0)
"""How many threads a large batch is spread over, where machine code can see it."""


class _Pool:
    """The threads of this process, made when they are first needed."""

    def __init__(self) -> None:
        self.count: int | None = None
        self.reset()

    def reset(self) -> None:
        """Start anew: after a fork the child has none of the parent's threads, and perhaps a lock nobody will open."""
        self.lock = threading.Lock()
        self.executor: ThreadPoolExecutor | None = None

    def submit(self, work: Callable[[], None]) -> Future[None] | None:
        """Let a helper do the work; None where there are no more threads to be had, as while Python shuts down."""
        with self.lock:
            if self.executor is None:
                from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - slow to load, and few need it

                self.executor = ThreadPoolExecutor(get_num_threads(), thread_name_prefix="kinetree")
            try:
                return self.executor.submit(work)
            except RuntimeError:
                return None


_pool = _Pool()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.reset)


def get_num_threads() -> int:
    """How many threads a large batch is spread over: as many as this process may use CPUs, unless set."""
    if _pool.count is not None:
        return _pool.count
    return _cpus()


def _cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_num_threads(count: int) -> None:
    """Spread large batches over this many threads."""
    try:
        wanted = operator.index(count)
    except TypeError:
        wanted = 0
    if wanted < 1 or isinstance(count, bool):
        raise ArgumentError(f"count is {short(count)}; expected a whole number from 1 up")
    with _pool.lock:
        if wanted != _pool.count:
            _pool.count = THREADS.value = wanted
            _pool.executor = None  # the old one ends with the work it has


def run_ranges(work: Callable[[int, int], None], size: int, block: int, pieces: int) -> None:
    """work(start, stop) over 0 … size in `pieces` runs of whole blocks, on this thread and helpers from the pool.

    Whoever is free takes the next run. Returns, also by an exception or an interrupt, only when nobody works any more.
    """
    step = -(-size // (block * pieces)) * block
    starts = iter(range(0, size, step))
    next_start = threading.Lock()
    stopped = threading.Event()

    def take() -> None:
        while not stopped.is_set():
            with next_start:
                start = next(starts, None)
            if start is None:
                return
            work(start, min(start + step, size))

    futures: list[Future[None]] = []
    try:
        for _ in range(min(get_num_threads(), pieces) - 1):
            future = _pool.submit(take)
            if future is not None:
                futures.append(future)
        take()
    except BaseException:
        stopped.set()
        raise
    finally:
        _wait(futures)
    for future in futures:
        future.result()


def _wait(futures: list[Future[None]]) -> None:
    """Wait for all, and only then let an interrupt through."""
    from concurrent.futures import wait  # noqa: PLC0415

    interrupt: BaseException | None = None
    for future in futures:
        while not future.done():
            try:
                wait([future])
            except BaseException as caught:
                interrupt = caught
    if interrupt is not None:
        raise interrupt


THREADS.value = _cpus()
