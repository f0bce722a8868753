"""Calls that no signal handler can break off in the middle."""

from __future__ import annotations

import _thread
import gc
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

STACK = 2**24
"""Bytes of stack that LLVM has, whatever threads of the program are given: twice those of a usual main thread."""
PERIOD = 0.05
"""Seconds after which a signal that another thread has received is handled, at the latest."""


def undisturbed(function: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
    """The function's result; what signal handlers raise meanwhile is raised when it is there.

    Python runs signal handlers on the main thread only, between any two of its instructions. If one of them raised
    inside of llvmlite, its lock would stay taken for ever, or memory be given back twice. So on the main thread the
    function is called by another thread, for which the main thread waits. Handlers run at once, each as often and in
    the order in which Python would run it; no handler is replaced, so that those that C code has installed stay too.
    Nor does the garbage collector run: it would call finalizers on a thread that has none of its caller's locks.
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments, **named)
    with no_collection():
        return _by_another_thread(lambda: function(*arguments, **named))


def _by_another_thread(function: Callable[[], R]) -> R:
    process, call = os.getpid(), _Call(function)
    interrupt = call.start()
    while not call.is_over:
        try:
            call.over.acquire(timeout=PERIOD)
            if os.getpid() != process:  # a handler has forked: in the child there is no other thread
                return _by_another_thread(function)
        except BaseException as raised:
            interrupt = _after(interrupt, raised)
    if interrupt is not None:
        raise interrupt
    if call.problem is not None:
        raise call.problem
    result: R = call.result
    return result


@contextmanager
def no_collection() -> Iterator[None]:
    """Without the garbage collector."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Call:
    """A call that whoever comes first makes: the thread that is started for it, or the one that cannot start it."""

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
        """On another thread, or on this one where there are no more threads to be had, as while Python shuts down. What
        a signal handler raises meanwhile is returned, if the call is under way, else raised."""
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


def _after(first: BaseException | None, raised: BaseException) -> BaseException:
    """What is raised last counts, as when one handler interrupts another; it says what came before."""
    if first is not None and raised.__context__ is None and raised is not first:
        raised.__context__ = first
    return raised
