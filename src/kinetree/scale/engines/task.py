"""What every engine does with a partition: the same function, in another process."""

from __future__ import annotations

import errno
import os
import pickle
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any

from kinetree.errors import ArgumentError, KinetreeError, printable
from kinetree.scale.partition import Done, Failed, Partition

GUARD = "expected the calls of a script that starts workers under if __name__ == '__main__':"

Work = Callable[[Partition], Any]
Outcome = Done | Failed

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


def packed(work: Work) -> bytes:
    """The function of all tasks as bytes, by cloudpickle if it is installed: it takes functions of `__main__`, too."""
    dumps: Callable[[Work], bytes] = pickle.dumps
    with suppress(ModuleNotFoundError):
        from cloudpickle import dumps  # type: ignore[no-redef]  # noqa: PLC0415 - Dask and Ray have it
    try:
        return dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as problem:
        hint = "" if dumps is not pickle.dumps else "; functions outside of modules need the package cloudpickle"
        raise ArgumentError(f"the functions to compute cannot be sent to other processes: {problem}{hint}") from problem


@lru_cache(maxsize=4)
def _unpacked(payload: bytes) -> Work:
    return pickle.loads(payload)


def attempt(payload: bytes, partition: Partition) -> Outcome:
    """Do one partition; what goes wrong is returned, so that other partitions go on."""
    return tried(_unpacked(payload), partition)


def tried(work: Work, partition: Partition) -> Outcome:
    """The result of the work, or the sentence of its error."""
    try:
        return Done(partition, work(partition))
    except OSError as problem:
        is_full = problem.errno in _FULL
        reason = os.strerror(problem.errno or 0).lower() if is_full else str(problem)
        return Failed(partition, printable(reason), is_full)
    except (KinetreeError, MemoryError) as problem:
        return Failed(partition, printable(str(problem) or type(problem).__name__))
    except Exception as problem:  # of the user's own functions, or of a library that reads files
        return Failed(partition, printable(f"{type(problem).__name__}: {problem}"))


def ignore_interrupts() -> None:
    """Ctrl-C reaches all processes of a terminal; the one that was called decides, and workers finish what they do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


DIED = "its worker ended without a word, as after SIGKILL or for want of memory"
ATTEMPTS = 3
"""How often a partition is tried whose worker dies."""
EXTRA = 2
"""Partitions for each worker that wait in line, so that no worker waits for this process."""
