"""Native calls of kernels made by hand."""

import numpy as np

from kinetree.compiler.program import build
from kinetree.compiler.runtime.call import Kernel
from kinetree.compiler.runtime.jit import host
from kinetree.compiler.runtime.native import Interface, NativeEntry

X, Y = np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])
SUM = [21.0, 42.0, 63.0]


class Owner:
    """What the calls below belong to."""


def python(self, /, *args, **named):
    return "python", args, named


def compiled(function, *shapes):
    return Kernel(build(function, shapes, host())).load("single")


def open_entry(arrays, results, variants, *, options=(), defaults=(), mapping=None, bare=True, fallback=python):
    text = f"call($self, {', '.join(name for name, _ in arrays)})\n--\n\nWhat it does."
    entry = NativeEntry(Interface("call", text, arrays, results, bare, fallback, __name__, options, defaults, mapping))
    entry.set_variants(variants)
    return entry
