"""Interrupts that wait until what must not be left half done is done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def undisturbed(function: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
    """The function's result; signals that come meanwhile are handled when it is there.

    Python handles signals on the main thread, between any two of its instructions. llvmlite, for one, would then keep
    its lock for ever, or give memory back twice.
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments, **named)
    arrived: list[tuple[int, FrameType | None]] = []
    replaced: list[tuple[int, Any]] = []

    def later(number: int, frame: FrameType | None) -> None:
        arrived.append((number, frame))

    try:
        for number in signal.valid_signals():
            handler = signal.getsignal(number)
            if callable(handler):
                replaced.append((number, handler))
                signal.signal(number, later)
        return function(*arguments, **named)
    finally:
        handlers = dict(replaced)
        _restore(replaced)
        for came, frame in arrived:
            handlers[came](came, frame)


def _restore(replaced: list[tuple[int, Any]]) -> None:
    """All handlers, also when one of them is called at once and raises."""
    if replaced:
        number, handler = replaced.pop()
        try:
            signal.signal(number, handler)
        finally:
            _restore(replaced)
