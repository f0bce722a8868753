"""One compilation per host: of several processes that need an entry of the disk cache, the first makes it and the
others wait for it.

The lock of a key is an advisory lock (flock) on a file beside its entry. The system releases it when its process ends,
however it ends. Without such locks (Windows, some network drives, no cache) nobody waits, and every process makes its
own. The lock only saves work: results are the same without it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from kinetree.compiler.runtime import cache as disk

PATIENCE = 600.0
"""Seconds after which a process no longer waits for another one."""
PAUSE = 0.01
"""Seconds from one attempt to the next."""

_HERE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_held: set[tuple[int, str]] = set()
"""Process and key of the locks that this process holds: a signal handler may need what it has interrupted."""


@contextmanager
def first_on_this_host(key: str) -> Iterator[None]:
    """Hold the lock of a key; while it waited, another process may have made the entry.

    It is held under the compiler's lock, so only one thread of a process comes here.
    """
    own = (os.getpid(), key)
    path = disk.lock_path(key)
    if sys.platform == "win32" or path is None or own in _held:
        yield
        return
    file = _taken(path)
    if file is None:
        yield
        return
    with file:
        _held.add(own)
        try:
            yield
        finally:
            _held.discard(own)
            with suppress(OSError):
                os.unlink(path)  # who waits for this file finds that it has gone, and takes the new one


def _taken(path: str) -> IO[bytes] | None:
    """The locked file, which releases its lock when it is closed or forgotten; None where there are no locks, or where
    patience ends."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            file = open(path, "ab", opener=_opened)  # noqa: SIM115 - it is returned
        except OSError:  # the folder accepts no files
            return None
        with suppress(OSError):
            if _locked(file.fileno()) and _is_at(path, file.fileno()):
                return file
            file.close()
            time.sleep(PAUSE)
            continue
        file.close()  # the file system has no locks
        return None
    return None


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | _HERE, 0o600)


def _locked(descriptor: int) -> bool:
    import fcntl  # noqa: PLC0415 - Windows has none

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(path: str, descriptor: int) -> bool:
    """Whether a path still leads to the open file."""
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(descriptor))
    except FileNotFoundError:
        return False
