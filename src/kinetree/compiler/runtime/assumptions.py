"""Checks of what the native code assumes about CPython and NumPy.

They read memory only where it is certainly mapped.
"""

from __future__ import annotations

import ctypes
import sys
import weakref
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from kinetree.base.locks import FREE_THREADED
from kinetree.compiler.codegen.entry import interpreter
from kinetree.compiler.runtime.threads import THREADS

_NEW_FROM_DESCR, _SCALAR = 94, 60  # positions in NumPy's C API table
_NDARRAY, _DTYPE = 2, 3


def is_cpython() -> bool:
    """Whether this is CPython on a little-endian 64-bit machine."""
    return (
        sys.implementation.name == "cpython"
        and sys.byteorder == "little"
        and ctypes.sizeof(ctypes.c_void_p) == 8
        and object.__basicsize__ == ctypes.sizeof(interpreter.Object)
    )


class _Named(NamedTuple):
    number: int


def types_are_as_expected() -> bool:
    """Whether the flags of a type tell tuples and their subclasses."""
    if type.__sizeof__(object) < interpreter.Type.flags.offset + 8:
        return False
    for kind in (tuple, _Named, list, np.ndarray, object):
        flags = interpreter.Type.from_address(id(kind)).flags
        if flags != kind.__flags__ & 0xFFFFFFFF or bool(flags & interpreter.TUPLE) != issubclass(kind, tuple):
            return False
    return True


def arrays_are_as_expected() -> bool:
    """Whether arrays and floats are laid out as the native code reads them."""
    samples = [
        np.empty(3),
        np.empty((2, 5))[:, ::2],
        np.empty((3, 2), order="F"),
        np.zeros(4, dtype=">f8"),
        np.empty(()),
    ]
    samples += [np.arange(6, dtype=np.int32).reshape(1, 2, 3), np.frombuffer(bytes(17), dtype="<f8", offset=1, count=2)]
    size = interpreter.Array.flags.offset + 4
    if np.ndarray.__basicsize__ < size or np.dtype.__basicsize__ < ctypes.sizeof(interpreter.Dtype):
        return False
    table = _numpy_table()
    if table[_NDARRAY] != id(np.ndarray) or table[_DTYPE] != id(np.dtype):
        return False
    numbers = [1.5, -2.25e300, np.float64(3.75)]
    values = [interpreter.Float.from_address(id(number)).value for number in numbers]
    return values == numbers and all(_array_is_as_expected(sample) for sample in samples)


@cache
def counts_are_as_expected() -> bool:
    """Whether reference counts and weak references of an array can be read from its memory, while no thread changes
    them."""
    if FREE_THREADED:
        return False
    owner = [np.empty(3)]
    address = id(owner[0])
    array = interpreter.Array.from_address(address)
    seen = [array.references, array.weak is None]
    reference = weakref.ref(owner[0])
    view = owner[0][1:]
    seen += [array.references, array.weak is None, interpreter.Array.from_address(id(view)).base == address]
    del view, reference
    return np.ndarray.__basicsize__ >= ctypes.sizeof(interpreter.Array) and seen == [1, True, 2, False, True]


def _array_is_as_expected(array: Any) -> bool:
    found = interpreter.Array.from_address(id(array))
    dtype = interpreter.Dtype.from_address(id(array.dtype))
    return (
        found.type == id(np.ndarray)
        and found.data == array.__array_interface__["data"][0]
        and found.rank == array.ndim
        and ctypes.cast(found.dtype, ctypes.c_void_p).value == id(array.dtype)
        and found.shape[: array.ndim] == list(array.shape)
        and found.strides[: array.ndim] == list(array.strides)
        and bool(found.flags & interpreter.C_CONTIGUOUS) == array.flags.c_contiguous
        and bool(found.flags & interpreter.ALIGNED) == array.flags.aligned
        and bool(found.flags & interpreter.WRITEABLE) == array.flags.writeable
        and dtype.number == array.dtype.num
        and chr(dtype.order) == array.dtype.byteorder
    )


def python_addresses() -> Any:
    """The addresses of `interpreter.symbols()`, in their order."""
    table = _numpy_table()
    known = {
        **{f"{kind.__name__}_type": id(kind) for kind in (float, int, str, dict, list, tuple)},
        "ndarray": id(np.ndarray),
        "float64": id(np.dtype(np.float64)),
        "float64_scalar": id(np.float64),
        "none": id(None),
        "threads": ctypes.addressof(THREADS),
        "PyArray_NewFromDescr": table[_NEW_FROM_DESCR],
        "PyArray_Scalar": table[_SCALAR],
    }
    names = interpreter.symbols()
    for name in names:
        if name not in known:
            known[name] = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    return (ctypes.c_void_p * len(names))(*[known[name] for name in names])


def _numpy_table() -> Any:
    """NumPy's C API table."""
    core = sys.modules.get("numpy._core._multiarray_umath") or sys.modules["numpy.core._multiarray_umath"]
    return (ctypes.c_void_p * (_NEW_FROM_DESCR + 1)).from_address(_capsule_pointer(core._ARRAY_API, None))


_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
