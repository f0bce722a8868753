"""Types of the loop language: numbers, arrays, and structures of C, which ctypes declares.

A class derived from `ctypes.Structure` or `ctypes.Union` stands for the address of such a structure: `form.rank` is a
field, `form[k]` is the structure k places further on. Fields of 4 bytes or 1 byte are read as int, c_float as float.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, TypeAlias

from numpy.typing import NDArray

Vector = NDArray[Any]
"""A parameter that is a contiguous vector of float64."""
Matrix = NDArray[Any]
"""A parameter that is a matrix of float64 with contiguous rows."""
Integers: TypeAlias = Any
"""A contiguous vector of int64; `Integers(n)` is a new one, for the duration of the call."""
Addresses: TypeAlias = Any
"""A contiguous vector of addresses; `Addresses(n)` is a new one, for the duration of the call."""
Address: TypeAlias = Any
"""The address of anything. As in C, it may become that of a structure or of an array, and back."""
Int32 = int
"""C's int, as a parameter or result of a C function."""

INT, FLOAT, BOOL, ADDRESS = ctypes.c_int64, ctypes.c_double, ctypes.c_bool, ctypes.c_void_p
VECTOR = ctypes.POINTER(FLOAT)


class MATRIX:
    """The type of a matrix."""


class Rows(ctypes.Structure):
    """A matrix as a field of a structure: its address, and the stride between its rows in numbers."""

    _fields_ = (("data", ctypes.c_void_p), ("stride", ctypes.c_int64))


TYPES: dict[str, Any] = {
    "int": INT, "float": FLOAT, "bool": BOOL, "None": None, "Vector": VECTOR, "Matrix": MATRIX,
    "Integers": ctypes.POINTER(INT), "Addresses": ctypes.POINTER(ADDRESS), "Address": ADDRESS, "Int32": ctypes.c_int32,
}  # fmt: skip
_LLVM: dict[Any, str] = {INT: "i64", FLOAT: "double", BOOL: "i1", None: "void"}
_LLVM |= {ctypes.c_int32: "i32", ctypes.c_uint32: "i32", ctypes.c_uint8: "i8", ctypes.c_float: "float"}
WIDENED = {
    ctypes.c_int32: (INT, "sext i32 {} to i64"),
    ctypes.c_uint32: (INT, "zext i32 {} to i64"),
    ctypes.c_uint8: (INT, "zext i8 {} to i64"),
    ctypes.c_float: (FLOAT, "fpext float {} to double"),
}
"""What a stored number is read as, and the instruction that converts it."""


def llvm_type(kind: Any) -> str:
    """The type in LLVM assembly: "ptr" for addresses of all kinds."""
    return _LLVM.get(kind, "ptr")


def type_named(name: str, known: Mapping[str, Any]) -> Any:
    """The type that an annotation names, where the names of its module are known."""
    name = name.removesuffix(" | None")
    if name in TYPES:
        return TYPES[name]
    found: Any = known
    for part in name.split("."):
        found = vars(found)[part] if isinstance(found, ModuleType) else found[part]
    return ctypes.POINTER(found)


def name_of(kind: Any) -> str:
    """The name of a type, as annotations have it."""
    return next((name for name, known in TYPES.items() if known is kind), getattr(kind, "__name__", str(kind)))


def is_address(kind: Any) -> bool:
    """Whether values of this type are addresses."""
    return kind is not MATRIX and llvm_type(kind) == "ptr"


def fits(kind: Any, wanted: Any) -> bool:
    """Whether an address of one kind may stand for one of another: an untyped one, or one of a derived structure."""
    if not is_address(kind) or not is_address(wanted):
        return False
    return ADDRESS in (kind, wanted) or issubclass(kind._type_, wanted._type_)


def is_structure(kind: Any) -> bool:
    """Whether this is a type of C that is used by its address only."""
    return isinstance(kind, type) and issubclass(kind, ctypes.Structure | ctypes.Union)


def is_array(kind: Any) -> bool:
    """Whether this is an array of C, as structures contain them."""
    return isinstance(kind, type) and issubclass(kind, ctypes.Array)


def signature(function: Callable[..., Any]) -> tuple[dict[str, Any], Any]:
    """Types of the parameters by name, and of the result."""
    given = {name: type_named(str(kind), function.__globals__) for name, kind in function.__annotations__.items()}
    returns = given.pop("return")
    return given, returns


def symbol(function: Callable[..., Any]) -> str:
    """The name of a function in the assembly."""
    return f"{function.__module__}.{function.__qualname__}"


def pointer(number: int) -> Address:
    """The address of this number; the loop language knows this function itself."""
