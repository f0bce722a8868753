"""Checks of what the native code assumes about CPython and NumPy.

They read memory only where it is certainly mapped.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
import weakref
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from kinetree.compiler.codegen.entry import interpreter
from kinetree.compiler.runtime.threads import THREADS

_NEW_FROM_DESCR, _SCALAR = 94, 60  # positions in NumPy's C API table
_NDARRAY, _DTYPE = 2, 3


def is_cpython() -> bool:
    """Whether this is CPython with a GIL, on a little-endian 64-bit machine."""
    return (
        sys.implementation.name == "cpython"
        and not sysconfig.get_config_var("Py_GIL_DISABLED")
        and sys.byteorder == "little"
        and ctypes.sizeof(ctypes.c_void_p) == 8
        and object.__basicsize__ == 16
    )


class _Named(NamedTuple):
    number: int


def types_are_as_expected() -> bool:
    """Whether the flags of a type tell tuples and their subclasses."""
    if type.__sizeof__(object) < interpreter.TYPE_FLAGS + 8:
        return False
    for kind in (tuple, _Named, list, np.ndarray, object):
        flags = ctypes.c_uint32.from_address(id(kind) + interpreter.TYPE_FLAGS).value
        if flags != kind.__flags__ & 0xFFFFFFFF or bool(flags & interpreter.TUPLE) != issubclass(kind, tuple):
            return False
    return True


def arrays_are_as_expected() -> bool:
    """Whether the fields of arrays and floats have the offsets that the native code reads."""
    samples = [
        np.empty(3),
        np.empty((2, 5))[:, ::2],
        np.empty((3, 2), order="F"),
        np.zeros(4, dtype=">f8"),
        np.empty(()),
    ]
    samples += [np.arange(6, dtype=np.int32).reshape(1, 2, 3), np.frombuffer(bytes(17), dtype="<f8", offset=1, count=2)]
    size = interpreter.ARRAY_FLAGS + 4
    if np.ndarray.__basicsize__ < size or np.dtype.__basicsize__ < interpreter.DTYPE_NUMBER + 4:
        return False
    table = _numpy_table()
    if table[_NDARRAY] != id(np.ndarray) or table[_DTYPE] != id(np.dtype):
        return False
    numbers = [1.5, -2.25e300, np.float64(3.75)]
    values = [ctypes.c_double.from_address(id(number) + interpreter.NUMBER_VALUE).value for number in numbers]
    return values == numbers and all(_array_is_as_expected(sample) for sample in samples)


@cache
def counts_are_as_expected() -> bool:
    """Whether reference counts and weak references of an array can be read from its memory."""
    owner = [np.empty(3)]
    address = id(owner[0])

    def count() -> int:
        return ctypes.c_ssize_t.from_address(address + interpreter.OBJECT_REFERENCES).value

    def weak() -> bool:
        return ctypes.c_void_p.from_address(address + interpreter.ARRAY_WEAK).value is not None

    seen = [count(), weak()]
    reference = weakref.ref(owner[0])
    view = owner[0][1:]
    base = ctypes.c_void_p.from_address(id(view) + interpreter.ARRAY_BASE).value
    seen += [count(), weak(), base == address]
    del view, reference
    return np.ndarray.__basicsize__ >= interpreter.ARRAY_WEAK + 8 and seen == [1, False, 2, True, True]


def _array_is_as_expected(array: Any) -> bool:
    def number(kind: Any, base: int, offset: int) -> int:
        return int(kind.from_address(base + offset).value or 0)

    address, dtype = id(array), id(array.dtype)
    flags = number(ctypes.c_int, address, interpreter.ARRAY_FLAGS)
    shape = number(ctypes.c_void_p, address, interpreter.ARRAY_SHAPE)
    strides = number(ctypes.c_void_p, address, interpreter.ARRAY_STRIDES)
    return (
        number(ctypes.c_void_p, address, interpreter.OBJECT_TYPE) == id(np.ndarray)
        and number(ctypes.c_void_p, address, interpreter.ARRAY_DATA) == array.__array_interface__["data"][0]
        and number(ctypes.c_int, address, interpreter.ARRAY_RANK) == array.ndim
        and number(ctypes.c_void_p, address, interpreter.ARRAY_DTYPE) == dtype
        and [number(ctypes.c_int64, shape, 8 * k) for k in range(array.ndim)] == list(array.shape)
        and [number(ctypes.c_int64, strides, 8 * k) for k in range(array.ndim)] == list(array.strides)
        and bool(flags & interpreter.C_CONTIGUOUS) == array.flags.c_contiguous
        and bool(flags & interpreter.ALIGNED) == array.flags.aligned
        and bool(flags & interpreter.WRITEABLE) == array.flags.writeable
        and number(ctypes.c_int, dtype, interpreter.DTYPE_NUMBER) == array.dtype.num
        and chr(number(ctypes.c_ubyte, dtype, interpreter.DTYPE_ORDER)) == array.dtype.byteorder
    )


def python_addresses() -> Any:
    """The addresses of `interpreter.PYTHON`, in its order."""
    table = _numpy_table()
    known = {
        "ndarray": id(np.ndarray),
        "float64": id(np.dtype(np.float64)),
        "float": id(float),
        "float64_scalar": id(np.float64),
        "none": id(None),
        "threads": ctypes.addressof(THREADS),
        "dict": id(dict),
        "str": id(str),
        "int": id(int),
        "list": id(list),
        "tuple": id(tuple),
        "PyArray_NewFromDescr": table[_NEW_FROM_DESCR],
        "PyArray_Scalar": table[_SCALAR],
    }
    for name in interpreter.PYTHON:
        if name not in known:
            known[name] = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    return (ctypes.c_void_p * len(interpreter.PYTHON))(*[known[name] for name in interpreter.PYTHON])


def _numpy_table() -> Any:
    """NumPy's C API table."""
    core = sys.modules.get("numpy._core._multiarray_umath") or sys.modules["numpy.core._multiarray_umath"]
    return (ctypes.c_void_p * (_NEW_FROM_DESCR + 1)).from_address(_capsule_pointer(core._ARRAY_API, None))


_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
