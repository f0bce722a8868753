"""Whether a call goes straight into machine code, or through Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kinetree.base.locks import FREE_THREADED
from kinetree.compiler.runtime import native
from kinetree.functions.compiled_function import CompiledFunction

native_only = pytest.mark.skipif(not native.available(), reason="native calls are switched off, or not known here")

recycling = pytest.mark.skipif(FREE_THREADED, reason="without a global lock, results are not used again")


@contextmanager
def python_calls() -> Iterator[list[str]]:
    """The quantities that are computed through Python meanwhile."""
    entered: list[str] = []
    evaluate = CompiledFunction.evaluate

    def counted(self, *args, **named):
        if hasattr(self, "declared"):
            entered.append(self.name)
        return evaluate(self, *args, **named)

    CompiledFunction.evaluate = counted
    try:
        yield entered
    finally:
        CompiledFunction.evaluate = evaluate


def natively(function, *args, **named):
    """The result of a call, which must not have been through Python."""
    with python_calls() as entered:
        result = function(*args, **named)
    assert not entered, f"{function} went through Python"
    return result


def in_python(function, *args, **named):
    """The result of the same method, written in Python."""
    owner = function.__self__
    return getattr(type(owner), function.__name__)(owner, *args, **named)


def resident() -> int:
    """Bytes of memory in use; 0 where Linux does not tell."""
    if not sys.platform.startswith("linux"):
        return 0
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
