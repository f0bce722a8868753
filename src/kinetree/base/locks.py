"""The locks that all threads of a process share, and the order in which they are taken.

    compiler    whatever traces, compiles, loads or links code, and whatever keeps what came of it
    llvmlite    llvmlite's own, which it takes for every call

Who holds one of them takes only those below it. Nobody holds a lock of his own while he takes the first: properties
that are computed once are `lazy`, which has no lock, or `lazy_code`, which has this one. Who holds it waits for no
other thread: a large batch then stays on its thread (`compiler.threads`). A viewer's lock is outside of all of them.

Nobody takes llvmlite's without the compiler's, or while signal handlers or finalizers may run: on the main thread it is
called by another thread (`base.deferred_signals`), and code that nobody needs any more is given back at the next call.

Python's own locks of imports come after the compiler's: no module takes ours while it is imported.

All are reentrant, since a signal handler or a finalizer may call the library wherever it likes. So is the lock of the
pool of threads, inside of which nothing of ours is taken. The memory of results has none.

A fork takes all of them, in this order: a child has one thread, and none of those that would give them back. Modules
that another thread was about to import are imported anew there.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from importlib import _bootstrap
from typing import Any

compiler = threading.RLock()

IN_ORDER: list[Any] = [compiler]
"""llvmlite's comes last, where it is imported."""


def is_held(lock: Any) -> bool:
    """Whether this very thread has it."""
    return bool(lock._is_owned())


class _Fork(threading.local):
    """What the thread that forks has taken."""

    held: Iterator[None] = iter(())


_fork = _Fork()


def _taken(locks: list[Any]) -> Iterator[None]:
    """Holds these locks, taken from the first on, until it is asked to go on; an interrupt gives all of them back."""
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
    for lock in IN_ORDER:  # had an interrupt come before they were taken, others may have them
        if not is_held(lock):
            lock._at_fork_reinit()
    _begin_imports_anew()


def _begin_imports_anew() -> None:
    """Python has a lock for every module that is being imported, and a child never gets those that other threads had:
    the next import of the module would wait for ever. What there is of the module is dropped with its lock, as after an
    import that failed."""
    known, own = getattr(_bootstrap, "_module_locks", {}), threading.get_ident()
    for name, reference in list(known.items()):
        if getattr(reference(), "owner", None) not in (None, own):
            known.pop(name, None)
            if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
                sys.modules.pop(name, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after_in_child)
