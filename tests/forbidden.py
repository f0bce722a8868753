"""What a process must not do, held without replacing any part of the library, which it would notice."""

import sys
import threading
from contextlib import contextmanager

from llvmlite.binding.targets import TargetMachine

from kinetree.compiler.graph.trace import trace


def forbid_compiling():
    """From now on, to make machine code raises."""

    def refuse(*arguments):
        raise AssertionError("compiled")

    TargetMachine.emit_object = refuse


def forbid_tracing():
    """From now on, to trace or compile a formula raises; a program may still link what there is."""
    from kinetree.compiler.program import Program  # noqa: PLC0415 - whether it is loaded may be what is asked

    forbidden = (trace.__code__, Program.code.__code__)

    def look(frame, event, argument):
        if event == "call" and frame.f_code in forbidden:
            raise AssertionError("traced")

    threading.setprofile(look)
    sys.setprofile(look)


@contextmanager
def counted(function):
    """How often a function of the library is called on this thread, as a list of ones."""
    calls, before = [], sys.getprofile()

    def look(frame, event, argument):
        if event == "call" and frame.f_code is function.__code__:
            calls.append(1)

    sys.setprofile(look)
    try:
        yield calls
    finally:
        sys.setprofile(before)
