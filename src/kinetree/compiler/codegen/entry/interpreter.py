"""CPython and NumPy as a C program includes them: layouts of objects, global objects, functions.

Nothing here is defined: `runtime.assumptions` compares the layouts with real objects before the first use, and finds
the addresses of the others, `symbols`.
"""

from __future__ import annotations

import ctypes
from inspect import isfunction
from typing import Any, ClassVar

from kinetree.base.locks import FREE_THREADED
from kinetree.compiler.codegen.loop_types import Address, Addresses, Int32, Integers

# -- layouts -----------------------------------------------------------------------------------------------------------


class Object(ctypes.Structure):
    """PyObject. In free-threaded builds the owning thread, its lock and its count of references come first."""

    _fields_: ClassVar[Any] = (
        ("owner", ctypes.c_char * (16 if FREE_THREADED else 0)),
        ("references", ctypes.c_int64),
        ("type", ctypes.c_void_p),
    )


class Type(ctypes.Structure):
    """PyTypeObject, as far as the lower half of its flags."""

    _fields_ = (("head", ctypes.c_char * (184 if FREE_THREADED else 168)), ("flags", ctypes.c_uint32))


class Float(Object):
    """PyFloatObject, and NumPy's float64."""

    _fields_ = (("value", ctypes.c_double),)


class Dtype(Object):
    """PyArray_Descr."""

    _fields_ = (
        ("scalar_type", ctypes.c_void_p),
        ("kind", ctypes.c_char),
        ("character", ctypes.c_char),
        ("order", ctypes.c_uint8),
        ("former_flags", ctypes.c_char),
        ("number", ctypes.c_int32),
    )


class Array(Object):
    """PyArrayObject."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("rank", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("base", ctypes.c_void_p),
        ("dtype", ctypes.POINTER(Dtype)),
        ("flags", ctypes.c_int32),
        ("weak", ctypes.c_void_p),
    )


class CriticalSection(ctypes.Structure):
    """PyCriticalSection."""

    _fields_ = (("words", ctypes.c_int64 * 2),)


TUPLE = 1 << 26  # a flag of types: tuple or derived from it
INT, LONG, LONGLONG, FLOAT, DOUBLE = 5, 7, 9, 11, 12  # numbers of dtypes
NATIVE = ord("=")  # an order of bytes
C_CONTIGUOUS, OWNED, ALIGNED, WRITEABLE = 0x001, 0x004, 0x100, 0x400  # flags of arrays

# -- objects and variables ---------------------------------------------------------------------------------------------

ndarray: Address
float64: Address
float_type: Address
float64_scalar: Address
none: Address
dict_type: Address
str_type: Address
int_type: Address
list_type: Address
tuple_type: Address
threads: Integers

# -- functions ---------------------------------------------------------------------------------------------------------


def PyArray_NewFromDescr(
    kind: Address, dtype: Address, rank: Int32, shape: Integers, strides: Address, data: Address, flags: Int32,
    like: Address,
) -> Address: ...  # fmt: skip
def PyArray_Scalar(data: Address, dtype: Address, base: Address) -> Address: ...
def Py_IncRef(item: Address) -> None: ...
def Py_DecRef(item: Address) -> None: ...
def PyMethod_New(function: Address, instance: Address) -> Address: ...
def PyObject_Vectorcall(function: Address, arguments: Addresses, count: int, names: Address) -> Address: ...
def PyObject_GetAttr(item: Address, name: Address) -> Address: ...
def PyUnicode_Compare(a: Address, b: Address) -> Int32: ...
def PyDict_Next(mapping: Address, position: Integers, key: Addresses, value: Addresses) -> Int32: ...
def PyDict_Size(mapping: Address) -> int: ...
def PyTuple_Size(items: Address) -> int: ...
def PyTuple_GetItem(items: Address, k: int) -> Address: ...
def PyTuple_New(count: int) -> Address: ...
def PyTuple_SetItem(items: Address, k: int, item: Address) -> Int32: ...
def PyList_Size(items: Address) -> int: ...
def PyList_GetItem(items: Address, k: int) -> Address: ...
def PyLong_AsLongLongAndOverflow(number: Address, overflow: Integers) -> int: ...
def PyErr_Clear() -> None: ...
def PyMem_RawMalloc(size: int) -> Address: ...
def PyMem_RawFree(memory: Address) -> None: ...
def PyEval_SaveThread() -> Address: ...
def PyEval_RestoreThread(state: Address) -> None: ...
def PyList_GetItemRef(items: Address, k: int) -> Address: ...
def PyCriticalSection_Begin(section: CriticalSection, item: Address) -> None: ...
def PyCriticalSection_End(section: CriticalSection) -> None: ...


WITHOUT_LOCK = (PyList_GetItemRef, PyCriticalSection_Begin, PyCriticalSection_End)
"""Functions that only free-threaded builds need; older versions do not have them."""


def symbols() -> list[str]:
    """The names of all objects, variables and functions above that this build needs."""
    functions = [value for name, value in globals().items() if isfunction(value) and name.startswith("Py")]
    needed = [function for function in functions if FREE_THREADED or function not in WITHOUT_LOCK]
    return [*__annotations__, *(function.__name__ for function in needed)]
