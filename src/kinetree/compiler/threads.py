"""A pool of threads for large batches. Machine code runs without Python's lock, so they really run side by side."""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from kinetree.errors import ArgumentError, short


class _Pool:
    """The threads of this process, made when they are first needed."""

    def __init__(self) -> None:
        self.count: int | None = None
        self.reset()

    def reset(self) -> None:
        """Start anew: after a fork the child has none of the parent's threads, and perhaps a lock nobody will open."""
        self.lock = threading.Lock()
        self.executor: ThreadPoolExecutor | None = None
        self.inside = threading.local()

    def get(self) -> ThreadPoolExecutor:
        with self.lock:
            if self.executor is None:
                self.executor = ThreadPoolExecutor(get_num_threads(), thread_name_prefix="kinetree")
            return self.executor

    def help(self, work: Callable[[], None]) -> None:
        self.inside.working = True
        work()


_pool = _Pool()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.reset)


def get_num_threads() -> int:
    """How many threads a large batch is spread over: as many as this process may use CPUs, unless set."""
    if _pool.count is not None:
        return _pool.count
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
            _pool.count = wanted
            _pool.executor = None  # the old one ends with the work it has


def run_ranges(work: Callable[[int, int], None], size: int, block: int, pieces: int) -> None:
    """work(start, stop) over 0 … size in `pieces` runs of whole blocks, on this thread and helpers from the pool.

    Whoever is free takes the next run. Inside a helper everything runs on that helper alone.
    """
    helpers = min(get_num_threads(), pieces) - 1
    if helpers < 1 or getattr(_pool.inside, "working", False):
        work(0, size)
        return
    step = -(-size // (block * pieces)) * block
    starts = iter(range(0, size, step))
    next_start = threading.Lock()

    def take() -> None:
        while True:
            with next_start:
                start = next(starts, None)
            if start is None:
                return
            work(start, min(start + step, size))

    executor = _pool.get()
    futures = [executor.submit(_pool.help, take) for _ in range(helpers)]
    try:
        take()
    finally:
        for future in futures:
            future.result()
