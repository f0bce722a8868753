"""A pool of threads for large batches. Machine code runs without Python's lock, so they really run side by side."""

from __future__ import annotations

import ctypes
import operator
import os
import platform
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from kinetree.base.lazy_imports import importing
from kinetree.base.locks import is_held
from kinetree.compiler.codegen.pause import PAUSE, pause_assembly
from kinetree.compiler.runtime.jit import LoadedCode, compile_object, host, lock
from kinetree.errors import ArgumentError, short

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


THREADS = ctypes.c_int64(0)
"""How many threads a large batch is spread over, where machine code can see it."""


LOOKS = 2000
"""At the count of helpers before the caller is put to sleep: some 0.1 ms."""
_IS_X86 = platform.machine().lower() in ("x86_64", "amd64")


class _Pool:
    """The threads of this process, made when they are first needed."""

    def __init__(self) -> None:
        self.count: int | None = None
        self._wait: Callable[[int, int], None] | None = None
        self.reset()

    def reset(self) -> None:
        """Start anew: after a fork the child has none of the parent's threads, and perhaps a lock nobody will open."""
        self._lock = threading.RLock()
        self._busy = False
        self._executor: ThreadPoolExecutor | None = None
        self._size = 0

    def pause(self, count: int, looks: int) -> None:
        """Waits for a count to become zero, for a short while and without Python's lock."""
        if self._wait is None and lock.acquire(blocking=False):  # else somebody compiles, perhaps for long
            try:
                self._code = LoadedCode(compile_object(pause_assembly(_IS_X86), host()), host(), library=False)
                self._wait = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(self._code.address(PAUSE))
            finally:
                lock.release()
        if self._wait is not None:
            self._wait(count, looks)

    def submit(self, work: Callable[[], None]) -> None:
        """Let a helper do the work, unless there are no threads to be had, as while Python shuts down."""
        with self._lock:
            if self._busy:  # a signal handler or a finalizer, which came while this very thread was here
                return
            self._busy = True
            try:
                if self._executor is None or self._size != get_num_threads():  # the old one ends with the work it has
                    importing("concurrent.futures")
                    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - slow to load, and few need it

                    self._size = get_num_threads()
                    self._executor = ThreadPoolExecutor(self._size, thread_name_prefix="kinetree")
                self._executor.submit(work)
            except (RuntimeError, ImportError):
                self._executor = None  # it has kept the work, and perhaps no thread that would ever take it
            finally:
                self._busy = False


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
    _pool.count = THREADS.value = wanted


def run_ranges(
    work: Callable[[int, int], None], size: int, block: int, worth: int, abandon: Callable[[], None] = lambda: None
) -> None:
    """work(start, stop) over 0 … size in runs of whole blocks, on this thread and helpers of the pool; `worth` is how
    many threads would pay. Who compiles stays on his thread: whoever waits for him must not be waited for.

    Whoever is free takes the next run, long ones first, so that all end at nearly the same time. Returns, also by an
    exception or an interrupt, only when nobody works any more; `abandon` is called first, to tell work that takes long
    to come to an end.
    """
    threads = 1 if is_held(lock) else min(get_num_threads(), worth)
    runs = _Runs(work, _shrinking(size, block, threads, 8 * worth), abandon)
    try:
        for _ in range(threads - 1):
            _pool.submit(runs.help)
        runs.take()
    except BaseException:
        abandon()
        raise
    finally:
        runs.close()
    if runs.problem is not None:
        raise runs.problem


def _shrinking(size: int, block: int, threads: int, most: int) -> Iterator[tuple[int, int]]:
    """Runs from 0 to size: each half of a fair share of what is left, but no smaller than size / most."""
    start, blocks = 0, -(-size // block)
    least = -(-blocks // most)
    while blocks > 0:
        run = max(least, blocks // (2 * threads))
        yield start, min(start + run * block, size)
        start, blocks = start + run * block, blocks - run


class _Runs:
    """Runs that nobody has taken yet, and how many helpers are at work.

    A helper that comes when all is done finds that out here. Nobody waits for one that has not begun: all threads of
    the pool may be busy, perhaps with waiting themselves.
    """

    def __init__(
        self, work: Callable[[int, int], None], runs: Iterator[tuple[int, int]], abandon: Callable[[], None]
    ) -> None:
        self.problem: BaseException | None = None
        self._work, self._runs, self._abandon = work, runs, abandon
        self._helpers = ctypes.c_int64(0)
        self._changed = threading.Condition()

    def take(self) -> None:
        """Work until nothing is left."""
        while True:
            with self._changed:
                run = next(self._runs, None)
            if run is None:
                return
            self._work(*run)

    def help(self) -> None:
        """The same on another thread, which keeps what goes wrong for the caller."""
        with self._changed:
            self._helpers.value += 1
        try:
            self.take()
        except BaseException as problem:
            self._runs = iter(())
            self.problem = problem
            self._abandon()
        finally:
            with self._changed:
                self._helpers.value -= 1
                self._changed.notify()

    def close(self) -> None:
        """Leave nothing for others, wait for those at work, and only then let an interrupt through."""
        self._runs = iter(())
        interrupt: BaseException | None = None
        looks = LOOKS
        while self._helpers.value:
            try:
                if looks:
                    _pool.pause(ctypes.addressof(self._helpers), looks)
                    looks = 0
                with self._changed:
                    self._changed.wait_for(lambda: not self._helpers.value)
            except BaseException as caught:
                interrupt = caught
                self._abandon()
        if interrupt is not None:
            raise interrupt


THREADS.value = _cpus()
