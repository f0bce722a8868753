"""The memory of an array that came from Python, if it has exactly the form a kernel takes."""

from __future__ import annotations

from ctypes import addressof
from typing import cast

from kinetree.compiler.codegen.entry import interpreter as python
from kinetree.compiler.codegen.entry.interpreter import Array, Float, Object
from kinetree.compiler.codegen.entry.records import READ, Form
from kinetree.compiler.codegen.loop_types import Address, Integers


def data(array: Array, form: Form, flags: int) -> Address | None:
    """The memory of an array of exactly this form with these flags, or of a number that stands for such an array."""
    if array.type is not python.ndarray:
        if form.rank == 0 and flags == READ and is_float(array):
            return addressof(cast(Float, array).value)
        return None
    if array.flags & flags != flags or array.rank != form.rank:
        return None
    if array.dtype is not python.float64 and not (
        array.dtype.number == python.DOUBLE and array.dtype.order == python.NATIVE
    ):
        return None
    if not same_lengths(array.shape, form.shape, form.rank):
        return None
    return array.data


def is_float(item: Object) -> bool:
    """Whether this is a float of Python's or a float64 of NumPy's."""
    return item.type is python.float_type or item.type is python.float64_scalar


def same_lengths(shape: Integers, wanted: Integers, rank: int) -> bool:
    """Whether so many axes have the lengths that they should have."""
    for k in range(rank):
        if shape[k] != wanted[k]:
            return False
    return True
