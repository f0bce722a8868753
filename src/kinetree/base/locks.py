"""The locks that all threads of a process share, and the order in which they are taken.

    compiler    for tracing, compiling, loading and linking code, and for caching the results
    llvmlite    llvmlite's own lock, which it takes for every call

A thread that holds one of them takes only those below it, and holds no other lock when it takes the first: properties
that are computed once are `lazy`, which has no lock, or `lazy_code`, which has the compiler's. A thread that holds the
compiler's lock waits for no other thread: it computes a large batch alone (`compiler.runtime.threads`). The lock of a
viewer is taken before all of these.

llvmlite's lock is taken only under the compiler's, and only where no signal handler or finalizer can run: the main
thread lets another thread call llvmlite (`base.deferred_signals`), and unused code is freed at the next call.

Python's import locks come after the compiler's: no module takes a lock of ours while it is imported.

All are reentrant, because a signal handler or a finalizer may call the library at any point. So is the lock of the
thread pool, inside which no other lock of ours is taken. The memory of results has no lock.

A fork takes all locks in this order: a child has one thread, and other threads could not release them there. The child
imports modules again whose import by another thread was not complete.
"""

from __future__ import annotations

import _thread
import os
import sys
import sysconfig
import threading
from collections.abc import Iterator
from importlib import _bootstrap
from typing import Any

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
"""Whether threads of this Python run at the same time: a free-threaded build, which has no global lock."""

if sys.version_info < (3, 14):
    ReentrantLock = threading.RLock
else:

    class ReentrantLock(_thread.RLock):
        """A reentrant lock that `with` takes and an interrupt gives back.

        Python 3.14 may run a signal handler after a built-in `__enter__` has returned and before the block begins. If
        the handler raises, `__exit__` is not called. After a Python function has returned no handler runs.
        """

        def __enter__(self) -> bool:
            before = self._recursion_count()
            try:
                return super().acquire(True)
            except BaseException:
                while self._recursion_count() > before:
                    self.release()
                raise


compiler = ReentrantLock()

IN_ORDER: list[Any] = [compiler]
"""Importing llvmlite appends its lock."""


def is_held(lock: Any) -> bool:
    """Whether the current thread holds the lock."""
    return bool(lock._is_owned())


class _Fork(threading.local):
    """The locks that a forking thread has taken."""

    held: Iterator[None] = iter(())


_fork = _Fork()


def _taken(locks: list[Any]) -> Iterator[None]:
    """Take these locks in order and hold them until the iterator is advanced; an interrupt releases all of them."""
    if locks:
        with locks[0]:
            yield from _taken(locks[1:])
    else:
        yield


def _before() -> None:
    _fork.held = _taken(IN_ORDER)
    next(_fork.held)


def _after() -> None:
    next(_fork.held, None)


def _after_in_child() -> None:
    _after()
    for lock in IN_ORDER:  # after an interrupt in `_before`, other threads may hold them
        if not is_held(lock):
            lock._at_fork_reinit()
    _drop_incomplete_imports()


def _drop_incomplete_imports() -> None:
    """Drop modules that other threads were importing, with their locks, as after a failed import.

    Python has a lock for every module that is being imported. A child never gets those of other threads, and the next
    import of the module would wait for ever.
    """
    known, own = getattr(_bootstrap, "_module_locks", {}), threading.get_ident()
    for name, reference in list(known.items()):
        if getattr(reference(), "owner", None) not in (None, own):
            known.pop(name, None)
            if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
                sys.modules.pop(name, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after_in_child)
