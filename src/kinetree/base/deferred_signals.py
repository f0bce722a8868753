"""Calls that no signal handler can interrupt."""

from __future__ import annotations

import _thread
import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

STACK = 2**24
"""The stack of the thread that calls LLVM, in bytes: twice that of a usual main thread."""
PERIOD = 0.05
"""The maximum delay, in seconds, of the handler of a signal that another thread has received."""


def deferring_signals(function: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
    """The function's result. Exceptions that signal handlers raise meanwhile are raised when the function is done.

    Python runs signal handlers on the main thread, between any two instructions. A handler that raised inside llvmlite
    would leave its lock taken for ever, or memory freed twice. So the main thread lets another thread call the
    function, and waits for it. Handlers run immediately, as often and in the order that Python would run them; none is
    replaced, so that handlers installed by C code stay too. The garbage collector is off: it would run finalizers on a
    thread without the caller's locks. While Python shuts down, no other thread runs, and no handler.
    """
    if sys.is_finalizing() or threading.current_thread() is not threading.main_thread():
        return function(*arguments, **named)
    with no_collection():
        return _call_on_another_thread(lambda: function(*arguments, **named))


def _call_on_another_thread(function: Callable[[], R]) -> R:
    process, call = os.getpid(), _Call(function)
    interrupt = call.start()
    while not call.is_over:
        try:
            call.over.acquire(timeout=PERIOD)
            if os.getpid() != process:  # a handler has forked, and the child lacks the other thread
                return _call_on_another_thread(function)
        except BaseException as raised:
            interrupt = _chained(interrupt, raised)
    if interrupt is not None:
        raise interrupt
    if call.problem is not None:
        raise call.problem
    return call.result


@contextmanager
def no_collection() -> Iterator[None]:
    """A context in which the garbage collector does not run."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Call:
    """A call that is made once: by the thread started for it, or by the caller if no thread can start."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call = call
        self.result: Any = None
        self.problem: BaseException | None = None
        self.is_over = False
        self.over = threading.Lock()
        self.over.acquire()
        self._taken = threading.Lock()

    def make(self) -> None:
        if self._taken.acquire(blocking=False):
            try:
                self.result = self.call()
            except BaseException as problem:
                self.problem = problem
            finally:
                self.is_over = True
                self.over.release()

    def start(self) -> BaseException | None:
        """Start the call on another thread, or make it on this one if no thread can start, as while Python shuts down.

        An exception of a signal handler is returned if the call has begun, else raised.
        """
        usual = threading.stack_size(STACK)
        try:
            _thread.start_new_thread(self.make, ())
        except RuntimeError:
            self.make()
        except BaseException as raised:
            if self._taken.acquire(blocking=False):
                raise
            return raised
        finally:
            threading.stack_size(usual)
        return None


def _chained(first: BaseException | None, raised: BaseException) -> BaseException:
    """The last exception, with the first as its context, as when one handler interrupts another."""
    if first is not None and raised.__context__ is None and raised is not first:
        raised.__context__ = first
    return raised
