"""The numbers of arguments that are not laid out as kernels read them: other strides, other dtypes, lists and tuples.

They are copied to a room that belongs to the variant. No code of the user's runs meanwhile, so no other call uses it;
where threads run at the same time, each call has a room of its own.
"""

from __future__ import annotations

from ctypes import Union, c_double, c_float, c_int32, c_int64, c_long, sizeof
from typing import cast

from kinetree.base.locks import FREE_THREADED
from kinetree.compiler.codegen.entry import interpreter as python
from kinetree.compiler.codegen.entry.arrays import is_float, same_lengths
from kinetree.compiler.codegen.entry.interpreter import ALIGNED, Array, Float, Object
from kinetree.compiler.codegen.entry.records import Form
from kinetree.compiler.codegen.loop_types import Address, Integers, Vector

LONG_SIZE = sizeof(c_long)  # 4 on Windows


class Number(Union):
    """A number in an array."""

    _fields_ = (("double", c_double), ("float", c_float), ("int", c_int32), ("long", c_int64))


def converted(given: Array, form: Form, room: Vector) -> Vector | None:
    """The numbers of an argument, in order at `room`: of an array of any strides that holds floats or integers, or of
    nested lists and tuples of numbers. None if it is none of these, or has another shape."""
    if given.type is not python.ndarray:
        return None if items(given, form.shape, form.rank, room) is None else room
    if given.rank != form.rank or not given.flags & ALIGNED or given.dtype.order != python.NATIVE:
        return None
    if not is_number(given.dtype.number) or not same_lengths(given.shape, form.shape, form.rank):
        return None
    gather(given.data, form.shape, given.strides, form.rank, given.dtype.number, room)
    return room


def number(item: Object, to: Vector) -> bool:
    """Store the number in a float or an int of Python's or a float64 of NumPy's; False for any other object."""
    if is_float(item):
        to[0] = cast(Float, item).value
        return True
    if item.type is not python.int_type:
        return False
    overflow = Integers(1)
    overflow[0] = 0
    to[0] = python.PyLong_AsLongLongAndOverflow(item, overflow)
    return overflow[0] == 0


def items(given: Object, shape: Integers, rank: int, to: Vector) -> Vector | None:
    """Store the numbers of a list or tuple of this shape, nested as deep as it has axes; where they end."""
    if rank == 0:
        return to[1:] if number(given, to) else None
    is_list = given.type is python.list_type
    if is_list:
        count = python.PyList_Size(given)
    elif given.type is python.tuple_type:
        count = python.PyTuple_Size(given)
    else:
        return None
    if count != shape[0]:
        return None
    for k in range(count):
        end = (
            list_item(given, k, shape, rank, to)
            if is_list
            else items(python.PyTuple_GetItem(given, k), shape[1:], rank - 1, to)
        )
        if end is None:
            return None
        to = end
    return to


def item_of_list(given: Object, k: int, shape: Integers, rank: int, to: Vector) -> Vector | None:
    """`items` of an item of a list."""
    return items(python.PyList_GetItem(given, k), shape[1:], rank - 1, to)


def item_of_shared_list(given: Object, k: int, shape: Integers, rank: int, to: Vector) -> Vector | None:
    """`items` of an item of a list that other threads may change: it is held meanwhile, if there still is one."""
    item = python.PyList_GetItemRef(given, k)
    if item is None:
        python.PyErr_Clear()
        return None
    end = items(item, shape[1:], rank - 1, to)
    python.Py_DecRef(item)
    return end


list_item = item_of_shared_list if FREE_THREADED else item_of_list


def gather(start: Address, shape: Integers, strides: Integers, rank: int, dtype: int, to: Vector) -> Vector:
    """Store the numbers of an array's part with these axes in order; where they end."""
    if rank > 1:
        for k in range(shape[0]):
            to = gather(start + k * strides[0], shape[1:], strides[1:], rank - 1, dtype, to)
        return to
    count = 1
    step = 0
    if rank == 1:
        count = shape[0]
        step = strides[0]
    for k in range(count):
        to[k] = number_at(start + k * step, dtype)
    return to[count:]


def is_number(dtype: int) -> bool:
    """Whether `number_at` knows the dtype of this number."""
    return (
        dtype == python.DOUBLE
        or dtype == python.FLOAT
        or dtype == python.INT
        or dtype == python.LONG
        or dtype == python.LONGLONG
    )


def number_at(place: Address, dtype: int) -> float:
    """The number of this dtype that lies there."""
    stored: Number = place
    if dtype == python.DOUBLE:
        return stored.double
    if dtype == python.FLOAT:
        return stored.float
    if dtype == python.INT or (dtype == python.LONG and LONG_SIZE == 4):
        return stored.int
    return stored.long
