"""Immutable objects that a process unpickles once, however often it receives them.

A worker of Dask, Ray or a process pool receives the function of a task with every task. If every copy were another
object, each would load its machine code, and a law would be traced again. So objects that own code have a token, made
when they are first pickled. A process that has unpickled a token gives the same object for it again. The process that
made the object copies it, as pickle does.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

KEPT = 64
"""The number of objects that a process keeps alive; the least recently received is dropped."""

_TOKEN = "_pickle_token"
_kept: dict[str, Any] = {}
_session = os.urandom(8).hex()


def reduced_once(instance: Any, make: Callable[..., Any], *arguments: Any) -> tuple[Any, ...]:
    """The result of `__reduce__` for an immutable object that `make(*arguments)` makes again."""
    token = instance.__dict__.setdefault(_TOKEN, os.urandom(12).hex())
    return _unpickled, (_here(), token, make, *arguments)


def _unpickled(origin: str, token: str, make: Callable[..., Any], *arguments: Any) -> Any:
    """The object of a token. Without a lock: of two threads that make it at once, both get the one that is kept."""
    if origin == _here():
        return make(*arguments)
    found = _kept.pop(token, None)
    if found is None:
        found = make(*arguments)
        found.__dict__.setdefault(_TOKEN, token)
    found = _kept.setdefault(token, found)  # now the most recent
    for oldest in list(_kept)[:-KEPT]:
        _kept.pop(oldest, None)
    return found


def _here() -> str:
    """A name of this process; a forked child has another one."""
    return f"{_session} {os.getpid()}"
