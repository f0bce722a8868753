"""A thread pool for large batches. Machine code runs without the GIL, so the threads run in parallel."""

from __future__ import annotations

import ctypes
import operator
import os
import platform
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from kinetree.base.deferred_signals import deferring_signals
from kinetree.base.lazy_imports import importing
from kinetree.base.locks import ReentrantLock, is_held
from kinetree.compiler.runtime.jit import LoadedCode, host, lock
from kinetree.compiler.runtime.stored import stored_object
from kinetree.errors import ArgumentError, short

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor


THREADS = ctypes.c_int64(0)
"""The number of threads for a large batch, in memory that machine code reads."""


LIMITS = ("KINETREE_NUM_THREADS", "OMP_NUM_THREADS")
"""Environment variables with the number of threads, unless it was set; the first that has a number counts."""
SPINS = 2000
"""Reads of the count of helpers before the caller sleeps: some 0.1 ms."""


class _Pool:
    """The threads of this process, created when they are first needed."""

    def __init__(self) -> None:
        self.count: int | None = None
        self._wait: Callable[[int, int], None] | None = None
        self.reset()

    def reset(self) -> None:
        """Forget the threads: a forked child has none of its parent's, and may inherit a lock that nobody releases."""
        self._lock = ReentrantLock()
        self._busy = False
        self._executor: ThreadPoolExecutor | None = None
        self._size = 0
        self.callers: set[int] = set()
        """Threads that compute a large batch. They are as many helpers fewer for each other."""

    def load_spin(self) -> None:
        """Load the code of `spin`, with the first helper: if it were only loaded when a caller is first to finish, an
        exported cache would have it or not by chance."""
        if self._wait is None and lock.acquire(blocking=False):  # else another thread compiles, perhaps for long
            try:
                self._code = LoadedCode(stored_object("pause", _pause, host()), host(), library=False)
                self._wait = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(self._code.address("pause"))
            finally:
                lock.release()

    def spin(self, count: int, spins: int) -> None:
        """Wait briefly, without the GIL, until the number at the address `count` is zero."""
        if self._wait is not None:
            self._wait(count, spins)

    def submit(self, work: Callable[[], None]) -> None:
        """Run the work on a thread of the pool; do nothing if no thread can start, as while Python shuts down."""
        with self._lock:
            if self._busy:  # a signal handler or a finalizer interrupted this thread in here
                return
            self._busy = True
            try:
                if self._executor is None or self._size != get_num_threads():  # the old one finishes its work
                    importing("concurrent.futures")
                    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - slow to load, and few need it

                    self._size = get_num_threads()
                    self._executor = ThreadPoolExecutor(self._size, thread_name_prefix="kinetree")
                if len(self._executor._threads) < self._size:
                    # it may start a thread: if an interrupt came before it knows that thread, Python could not end
                    deferring_signals(self._executor.submit, work)
                else:
                    self._executor.submit(work)
            except (RuntimeError, ImportError):
                self._executor = None  # it has queued the work, and may have no thread to run it
            finally:
                self._busy = False


def _pause() -> str:
    """void pause(i64* count, i64 tries), which returns when *count is zero, or after that many reads of it: sleeping
    and waking takes longer than most waits."""
    is_x86 = platform.machine().lower() in ("x86_64", "amd64")
    declared = "declare void @llvm.x86.sse2.pause()" if is_x86 else ""
    hint = "call void @llvm.x86.sse2.pause()" if is_x86 else "fence seq_cst"
    return f"""
{declared}
define void @pause(ptr %count, i64 %tries) nounwind {{
entry:
  br label %look
look:
  %try = phi i64 [ 0, %entry ], [ %next, %again ]
  %left = load atomic i64, ptr %count acquire, align 8
  %done = icmp eq i64 %left, 0
  br i1 %done, label %end, label %again
again:
  {hint}
  %next = add i64 %try, 1
  %more = icmp ult i64 %next, %tries
  br i1 %more, label %look, label %end
end:
  ret void
}}
"""


_pool = _Pool()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.reset)


def get_num_threads() -> int:
    """The number of threads for a large batch: the CPUs that this process may use, unless it was set.

    One in a process that `multiprocessing` has started. `KINETREE_NUM_THREADS` is another default, or else
    `OMP_NUM_THREADS`, which Dask, Ray and joblib set for their workers.
    """
    if _pool.count is not None:
        return _pool.count
    return _default_count()


def _default_count() -> int:
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for name in LIMITS:
        text = os.environ.get(name, "").partition(",")[0].strip()
        if text.isdecimal() and int(text) > 0:
            return min(int(text), cpus)
    processes = sys.modules.get("multiprocessing.process")
    return 1 if processes is not None and processes.parent_process() is not None else cpus


def set_num_threads(count: int) -> None:
    """Spread large batches over this many threads."""
    try:
        wanted = operator.index(count)
    except TypeError:
        wanted = 0
    if wanted < 1 or isinstance(count, bool):
        raise ArgumentError(f"count is {short(count)}; expected an integer of at least 1")
    _pool.count = THREADS.value = wanted


def run_ranges(
    work: Callable[[int, int], None],
    size: int,
    block: int,
    useful_threads: int,
    abandon: Callable[[], None] = lambda: None,
) -> None:
    """Call work(start, stop) for ranges of whole blocks that cover 0 … size, on this thread and on helpers of the pool.

    Free threads take the next range, long ones first, so that all finish at nearly the same time. At most
    `useful_threads` take part, fewer if other threads compute batches. A thread that compiles does all the work itself:
    a helper that needs its lock would never finish.

    The call returns or raises only when no thread works any more. On an exception or an interrupt it first calls
    `abandon`, which asks long work to stop.
    """
    own = threading.get_ident()
    others = len(_pool.callers - {own})
    threads = 1 if is_held(lock) else max(1, min(get_num_threads() - others, useful_threads))
    queue = _WorkQueue(work, _guided_ranges(size, block, threads, 8 * useful_threads), abandon)
    try:
        _pool.callers.add(own)
        if threads > 1:
            _pool.load_spin()
        for _ in range(threads - 1):
            _pool.submit(queue.help)
        queue.run()
    except BaseException:
        abandon()
        raise
    finally:
        _pool.callers.discard(own)
        queue.close()
    if queue.problem is not None:
        raise queue.problem


def _guided_ranges(size: int, block: int, threads: int, max_count: int) -> Iterator[tuple[int, int]]:
    """Ranges from 0 to size: each is half a thread's share of what is left, and at least size / max_count."""
    start, blocks = 0, -(-size // block)
    minimum = -(-blocks // max_count)
    while blocks > 0:
        taken = max(minimum, blocks // (2 * threads))
        yield start, min(start + taken * block, size)
        start, blocks = start + taken * block, blocks - taken


class _WorkQueue:
    """The ranges that no thread has taken yet, and the number of helpers at work.

    A helper that starts after the end finds the queue empty. The caller waits only for helpers that have started: all
    threads of the pool may be busy, perhaps waiting themselves.
    """

    def __init__(
        self, work: Callable[[int, int], None], ranges: Iterator[tuple[int, int]], abandon: Callable[[], None]
    ) -> None:
        self.problem: BaseException | None = None
        self._work, self._ranges, self._abandon = work, ranges, abandon
        self._helpers = ctypes.c_int64(0)
        self._changed = threading.Condition(ReentrantLock())

    def run(self) -> None:
        """Take and process ranges until none is left."""
        while True:
            with self._changed:
                taken = next(self._ranges, None)
            if taken is None:
                return
            self._work(*taken)

    def help(self) -> None:
        """Do the same as a helper: an exception is stored for the caller."""
        with self._changed:
            self._helpers.value += 1
        try:
            self.run()
        except BaseException as problem:
            self._ranges = iter(())
            self.problem = problem
            self._abandon()
        finally:
            with self._changed:
                self._helpers.value -= 1
                self._changed.notify()

    def close(self) -> None:
        """Drop the remaining ranges and wait for helpers at work; raise an interrupt only after that."""
        self._ranges = iter(())
        interrupt: BaseException | None = None
        spins = SPINS
        while self._helpers.value:
            try:
                if spins:
                    _pool.spin(ctypes.addressof(self._helpers), spins)
                    spins = 0
                with self._changed:
                    self._changed.wait_for(lambda: not self._helpers.value)
            except BaseException as caught:
                interrupt = caught
                self._abandon()
        if interrupt is not None:
            raise interrupt


THREADS.value = _default_count()
