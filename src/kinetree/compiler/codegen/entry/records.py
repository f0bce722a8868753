"""What the native code reads of a call: its records, all of whose fields have 8 bytes, and how many there may be.

`kinetree.compiler.runtime.native` fills the records.
"""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import POINTER, Structure, c_int64, c_void_p, sizeof

from kinetree.compiler.codegen.entry.interpreter import ALIGNED, C_CONTIGUOUS, OWNED, WRITEABLE

ENTRIES = 64
"""Native entries of one module."""
MOST_PARAMETERS = 20
"""Parameters of a call, `out` included."""
MOST_INPUTS = 48
"""Input arrays of a kernel, those given in a mapping included."""
MOST_OUTPUTS = 8
MOST_AXES = 16
MOST_DESCRIPTOR = 3 * MOST_PARAMETERS + 2 * MOST_OUTPUTS
MOST_HELD = 4 * MOST_INPUTS
"""References that a call may hold."""
READ = C_CONTIGUOUS | ALIGNED
"""Flags of an array that a kernel reads,"""
WRITTEN = READ | WRITEABLE
"""of one that it writes into,"""
RECYCLED = WRITTEN | OWNED
"""and of a result that is used again."""
TO_PYTHON = 1
"""In place of the address of a result: let Python serve the call."""

CONNECT = "kinetree_connect"
"""void kinetree_connect(table): the addresses of `interpreter.symbols()`, in their order."""
RECORDS = "kinetree_records"
"""ptr kinetree_records(): the records of all entries, ENTRIES * FIELDS fields."""


def entry_name(k: int) -> str:
    """PyObject *entry(self, args, nargs, names), the k-th."""
    return f"kinetree_entry{k}"


class Form(Structure):
    """An array."""

    _fields_ = (
        ("rank", c_int64),
        ("shape", POINTER(c_int64)),
        ("count", c_int64),  # how many numbers
        ("offset", c_int64),  # of a result: numbers before it in the variant's scratch memory
    )


class Option(Structure):
    """A parameter between the arrays and `out`."""

    _fields_ = (
        ("value", c_void_p),  # the string it must be
        ("is_default", c_int64),  # whether it may be missing
    )


class Place(Structure):
    """An array in a mapping."""

    _fields_ = (("name", c_void_p), ("tag", c_void_p))


class Variant(Structure):
    """The kernels for one choice of options and places."""


Variant._fields_ = (
    ("next", POINTER(Variant)),
    ("kernel", c_void_p),  # for one state, or 0
    ("workspace", c_void_p),
    ("options", POINTER(Option)),
    ("place_count", c_int64),  # in place of options, a mapping: how many arrays it may hold; -1 if there is none
    ("places", POINTER(Place)),
    ("covers", c_int64),  # 1: the mapping may hold fewer, or be missing
    ("status", c_void_p),  # where the kernel writes whether all is well (0.0), or 0
    ("scratch", c_void_p),  # room for all results
    ("zeros", c_void_p),  # an array of zeros, for what the mapping does not hold
    ("batch", c_void_p),  # the kernel for a batch, or 0
    ("batch_workspace", c_int64),  # how many bytes it needs
    ("small", c_int64),  # up to so many states, one thread is enough
    ("most", c_int64),  # up to so many states, results are small enough to be allocated here
    ("room", c_void_p),  # for the numbers of all inputs of one state
    ("outputs", POINTER(Form)),  # the form of each result
    ("room_size", c_int64),  # bytes of the room
    ("memory_size", c_int64),  # bytes of workspace, scratch and room, which lie in one piece
)


class Entry(Structure):
    """A native entry."""

    _fields_ = (
        ("plain", POINTER(Variant)),  # the variant for a call with nothing but arrays, or 0
        ("first", POINTER(Variant)),  # the first of all variants, or 0
        ("fallback", c_void_p),  # the Python function: fallback(self, *args, **kwargs)
        ("parameters", POINTER(c_void_p)),  # their names (interned), arrays first, `out` last
        ("positional", c_int64),  # how many may be given by position: all but `out`
        ("arrays", c_int64),  # how many are arrays
        ("inputs", POINTER(Form)),  # the form of each array
        ("results", c_int64),  # how many results
        ("bare", c_int64),  # 1: the one result itself is returned, and `out` may be given; 0: a tuple of results
        ("wrapper", c_void_p),  # type of the values in a mapping that carry a tag, or 0
        ("value", c_void_p),  # its attribute for the array
        ("tag", c_void_p),  # and for the tag
        ("untagged", c_void_p),  # the tag of an array that carries none
        ("mapped", POINTER(Form)),  # the form of the arrays in a mapping
        ("last", c_void_p),  # the last result, and
        ("earlier", c_void_p),  # the one before, each with a reference of the entry's
        ("recycles", c_int64),  # 1: use them again
        ("presets", POINTER(c_void_p)),  # per array, what it is where it is not given, or 0; or 0 if there are none
        ("spreads", c_int64),  # of so many arguments by position the last may be a tuple, of that one and those after
        ("spread_to", c_int64),  # with the items of the tuple, so many at most
        ("dtype", c_void_p),  # that of the kernels' numbers, float64 or float32; calls of one state are float64 only
        ("size", c_int64),  # bytes of one of them, and
        ("shift", c_int64),  # that as a power of two
        ("by_name", c_int64),  # how many of the arrays, the last ones, are given by name only
    )


FIELDS = 24
"""Fields from one entry's record to the next: whole lines of the cache."""
VARIANT = sizeof(Variant) // 8


def position(record: type[Structure], field: str) -> int:
    """The position of a field among those of its record."""
    return int(getattr(record, field).offset) // 8


def numbers(record: type[Structure], fields: Mapping[str, int]) -> list[int]:
    """A record as numbers: values or addresses of these fields, 0 in the others."""
    filled = [0] * (sizeof(record) // 8)
    for field, number in fields.items():
        filled[position(record, field)] = number
    return filled
