"""Calls of one state that go from the interpreter straight into a kernel, with no Python in between.

`Door.bind` makes a built-in function of Python's own kind, whose ``__self__`` is the object it belongs to, as of any
method written in C. What it leads to is in `emit.entry`; here its records are filled, and what it assumes of CPython
and NumPy is checked before the first use.
"""

from __future__ import annotations

import ctypes
import os
import sys
import sysconfig
import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from kinetree.compiler.call import Loaded
from kinetree.compiler.code import Code
from kinetree.compiler.emit import entry
from kinetree.compiler.hold import hold
from kinetree.compiler.jit import LoadedCode, host, lock
from kinetree.compiler.memory import LARGE
from kinetree.compiler.stored import stored_object
from kinetree.compiler.threads import THREADS

NATIVE = "KINETREE_NATIVE"
"""Environment variable: set to 0, every call takes the Python path."""

_ADDRESS = ctypes.sizeof(ctypes.c_void_p)
_FASTCALL_KEYWORDS = 0x0080 | 0x0002
_NEW_FROM_DESCR, _SCALAR = 94, 60  # positions in NumPy's table of functions
_NDARRAY, _DTYPE = 2, 3

MOST_ARRAYS, MOST_RESULTS = entry.MOST_PARAMETERS - 2, entry.MOST_OUTPUTS - 1
"""What a native call can take and return."""

PROBES = 20
"""Other threads may take and give up references during a probe, to the type float64 above all: it may fail for that."""

Shape = tuple[int, ...]


class Mapping(NamedTuple):
    """A parameter that is a dict from names to arrays, each plain or wrapped with a tag."""

    parameter: str
    shape: Shape
    wrapper: type
    value: str
    tag: str
    untagged: str


class Interface(NamedTuple):
    """What a call takes and returns. After the arrays come either `options`, which are strings, or one mapping."""

    name: str
    text: str
    """Signature and docstring, as CPython keeps them: ``name($self, q)\\n--\\n\\nWhat it does.``"""
    arrays: tuple[tuple[str, Shape], ...]
    options: tuple[str, ...]
    defaults: tuple[str, ...]
    mapping: Mapping | None
    results: tuple[Shape, ...]
    bare: bool
    """One result, returned as it is, and accepted as `out`."""
    fallback: Callable[..., Any]
    """fallback(self, *args, **kwargs): for whatever the native code does not know."""
    home: str
    """The module it is from."""
    presets: tuple[Any, ...] = ()
    """For each array, what it is where it is not given, or None where it must be."""
    spreads: int = 0
    """Of so many arguments by position the last may be a tuple, of that array and those after it; 0 for never."""


class Variant(NamedTuple):
    """A kernel behind a door, and for which calls it is."""

    code: Loaded | None
    """For one state; Python serves what is missing."""
    options: tuple[str, ...] = ()
    """What each option must be."""
    places: tuple[tuple[str, str], ...] = ()
    """Name and tag of each array of the mapping that the kernel takes."""
    covers: bool = False
    """Whether it also serves calls with fewer arrays in the mapping, the others being zero."""
    has_status: bool = False
    """The kernel's last output says whether all is well (0.0), else Python is to look at it."""
    batch: Loaded | None = None
    """For a batch."""


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Home(str):
    """The ``__module__`` of a bound call: a name that also keeps alive what the call runs."""

    door: Door


class Door:
    """One callable's way to its kernels."""

    def __init__(self, interface: Interface) -> None:
        self.interface = interface
        self._kept: list[object] = []  # all memory the record points to
        self._known: dict[Variant, dict[entry.Variant, int]] = {}
        names = [name for name, _ in interface.arrays] + list(interface.options)
        mapping = interface.mapping
        if mapping is not None:
            names.append(mapping.parameter)
        if len(names) + 1 > entry.MOST_PARAMETERS or len(interface.results) + 1 > entry.MOST_OUTPUTS:
            raise ValueError(f"{interface.name} has more arguments or results than a native call can have")
        fields = {
            entry.Door.FALLBACK: self._object(interface.fallback),
            entry.Door.PARAMETERS: self._table([self._name(name) for name in (*names, "out")]),
            entry.Door.POSITIONAL: len(names),
            entry.Door.ARRAYS: len(interface.arrays),
            entry.Door.INPUTS: self._forms([shape for _, shape in interface.arrays]),
            entry.Door.OUTPUTS: self._forms(interface.results),
            entry.Door.RESULTS: len(interface.results),
            entry.Door.BARE: int(interface.bare),
            entry.Door.SPREADS: interface.spreads,
            entry.Door.RECYCLES: int(interface.bare and interface.results[0] != () and _counts_are_as_expected()),
        }
        if interface.presets:
            held = [0 if array is None else self._object(array) for array in interface.presets]
            fields[entry.Door.PRESETS] = self._table(held)
        if mapping is not None:
            fields |= {
                entry.Door.WRAPPER: self._object(mapping.wrapper),
                entry.Door.VALUE: self._name(mapping.value),
                entry.Door.TAG: self._name(mapping.tag),
                entry.Door.UNTAGGED: self._name(mapping.untagged),
                entry.Door.MAPPED: self._forms([mapping.shape]),
            }
        slot = _Slot()
        self._hold = hold(slot)
        self._record = slot.record
        for field in entry.Door:
            self._record[field] = fields.get(field, 0)
        slot.method.name, slot.method.doc = interface.name.encode(), interface.text.encode()
        self._method = ctypes.addressof(slot.method)

    def bind(self, instance: object) -> Callable[..., Any]:
        """The call as a method of this object."""
        home = _Home(self.interface.home)
        home.door = self
        return _new_function(self._method, instance, home)

    def lead_to(self, variants: Iterable[Variant]) -> None:
        """Let calls reach these kernels and no others, and of several that fit the first with the fewest places."""
        fitting = [known for known in variants if len(self.interface.arrays) + len(known.places) <= entry.MOST_INPUTS]
        ordered = sorted(fitting, key=lambda known: len(known.places))
        records = (ctypes.c_int64 * (entry.VARIANT * len(ordered)))()
        self._kept.append(records)  # and the former ones stay: a call may be in the midst of them
        places = [ctypes.addressof(records) + 8 * entry.VARIANT * k for k in range(len(ordered))] + [0]
        plain = 0
        for k, variant in enumerate(ordered):
            fields = self._fields(variant) | {entry.Variant.NEXT: places[k + 1]}
            for field, value in fields.items():
                records[entry.VARIANT * k + field] = value
            if not variant.places and variant.options == self.interface.defaults:
                plain = places[k]
        self._record[entry.Door.FIRST] = places[0]
        self._record[entry.Door.PLAIN] = plain

    def _fields(self, variant: Variant) -> dict[entry.Variant, int]:
        """All but what comes next."""
        if variant in self._known:
            return self._known[variant]
        self._kept += [variant.code, variant.batch]
        counts = [prod(shape) for shape in self.interface.results]
        scratch = self._room(8 * (sum(counts) + 1))
        options: list[int] = []
        for word, default in zip(variant.options, self.interface.defaults, strict=True):
            options += [self._name(word), int(word == default)]
        names = [self._name(word) for place in variant.places for word in place]
        mapping = self.interface.mapping
        self._known[variant] = fields = {
            entry.Variant.KERNEL: 0 if variant.code is None else variant.code.address,
            entry.Variant.WORKSPACE: self._room(0 if variant.code is None else variant.code.workspace),
            entry.Variant.BATCH: 0 if variant.batch is None else variant.batch.address,
            entry.Variant.BATCH_WORKSPACE: 0 if variant.batch is None else variant.batch.workspace,
            entry.Variant.SMALL: 0 if variant.batch is None else variant.batch.states_for_one_thread(host().lanes),
            entry.Variant.MOST: (LARGE - 1) // (8 * max(1, sum(counts))),
            entry.Variant.OPTIONS: self._table(options),
            entry.Variant.PLACES: -1 if mapping is None else len(variant.places),
            entry.Variant.NAMES: self._table(names),
            entry.Variant.COVERS: int(variant.covers),
            entry.Variant.STATUS: scratch + 8 * sum(counts) if variant.has_status else 0,
            entry.Variant.SCRATCH: scratch,
            entry.Variant.ZEROS: 0 if mapping is None else self._room(8 * prod(mapping.shape)),
        }
        return fields

    # -- memory that lives as long as the door -----------------------------------------------------------------

    def _object(self, value: object) -> int:
        self._kept.append(value)
        return id(value)

    def _name(self, word: str) -> int:
        return self._object(sys.intern(str(word)))

    def _table(self, numbers: Sequence[int]) -> int:
        array = (ctypes.c_int64 * max(1, len(numbers)))(*numbers)
        self._kept.append(array)
        return ctypes.addressof(array)

    def _room(self, size: int) -> int:
        """Zeros, at an address that is a multiple of 64."""
        memory = (ctypes.c_char * (size + 64))()
        self._kept.append(memory)
        return -(-ctypes.addressof(memory) // 64) * 64

    def _forms(self, shapes: Sequence[Shape]) -> int:
        numbers: list[int] = []
        for k, shape in enumerate(shapes):
            numbers += [len(shape), self._table(shape), prod(shape), sum(map(prod, shapes[:k]))]
        return self._table(numbers)


# -- doors come from pages of native code, which are never freed: their doors are used again ---------------------------


class _Page:
    """A module of native doors."""

    def __init__(self, object_file: bytes) -> None:
        self.code = LoadedCode(object_file, host(), library=False)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.code.address(entry.CONNECT))(_python_addresses())
        place = ctypes.CFUNCTYPE(ctypes.c_void_p)(self.code.address(entry.RECORDS))()
        self.records = (ctypes.c_int64 * entry.FIELDS * entry.DOORS).from_address(place)
        self.methods = (_MethodDef * entry.DOORS)()
        for k, method in enumerate(self.methods):
            method.function = self.code.address(entry.door_name(k))
            method.flags = _FASTCALL_KEYWORDS
        self.free = list(range(entry.DOORS))
        self.gone = _gone


def _gone(*arguments: object, **named: object) -> None:
    raise ReferenceError("what this call belonged to is gone")


_pages: list[_Page] = []
_forget = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(("Py_DecRef", ctypes.pythonapi))
"""Gives up a reference to an object, given its address or 0."""
_RESULTS = (int(entry.Door.LAST), int(entry.Door.EARLIER))
_CLOSED = tuple({entry.Door.POSITIONAL: -1, entry.Door.FALLBACK: id(_gone)}.get(field, 0) for field in entry.Door)


class _Slot:
    """A door's place in a page, free again when this is gone."""

    def __init__(self) -> None:
        with lock:
            if not any(page.free for page in _pages):
                _pages.append(_Page(_entry_object()))
            self.page = next(page for page in _pages if page.free)
            self.index = self.page.free.pop()
        self.record: Any = self.page.records[self.index]
        self.method = self.page.methods[self.index]

    def __del__(
        self,  # what follows is there even when this module no longer is
        results: Sequence[int] = _RESULTS,
        closed: Sequence[int] = _CLOSED,
        forget: Callable[[int], None] = _forget,
    ) -> None:
        kept = [self.record[field] for field in results]
        self.record[: len(closed)] = closed
        for address in kept:
            forget(address)
        self.page.free.append(self.index)


@cache
def _entry_object() -> bytes:
    return stored_object("entry", entry.entry_assembly, host())


def _python_addresses() -> Any:
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
        "PyArray_NewFromDescr": table[_NEW_FROM_DESCR],
        "PyArray_Scalar": table[_SCALAR],
    }
    for name in entry.PYTHON:
        if name not in known:
            known[name] = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    return (ctypes.c_void_p * len(entry.PYTHON))(*[known[name] for name in entry.PYTHON])


def _numpy_table() -> Any:
    """NumPy's table of functions for C."""
    core = sys.modules.get("numpy._core._multiarray_umath") or sys.modules["numpy.core._multiarray_umath"]
    return (ctypes.c_void_p * (_NEW_FROM_DESCR + 1)).from_address(_capsule_pointer(core._ARRAY_API, None))


_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_new_function: Callable[..., Callable[..., Any]] = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object
)(("PyCFunction_NewEx", ctypes.pythonapi))


# -- is this the Python and the NumPy we think it is? ------------------------------------------------------------------


def available() -> bool:
    """Whether native calls work here and are not switched off."""
    return os.environ.get(NATIVE, "") != "0" and _works()


@cache
def _works() -> bool:
    """Looks at memory only where it must be readable, and runs native code only if all of that is as expected."""
    try:
        with lock:
            return _is_cpython() and _types_are_as_expected() and _arrays_are_as_expected() and _probe_succeeds()
    except (AttributeError, KeyError, OSError, RuntimeError, ValueError):
        return False


def _is_cpython() -> bool:
    return (
        sys.implementation.name == "cpython"
        and not sysconfig.get_config_var("Py_GIL_DISABLED")
        and sys.byteorder == "little"
        and ctypes.sizeof(ctypes.c_void_p) == _ADDRESS == 8
        and object.__basicsize__ == 16
    )


def _types_are_as_expected() -> bool:
    """Whether one can tell a tuple, and what is derived from it."""
    if type.__sizeof__(object) < entry.TYPE_FLAGS + 8:
        return False
    for kind in (tuple, Interface, list, np.ndarray, object):
        flags = ctypes.c_uint32.from_address(id(kind) + entry.TYPE_FLAGS).value
        if flags != kind.__flags__ & 0xFFFFFFFF or bool(flags & entry.TUPLE) != issubclass(kind, tuple):
            return False
    return True


def _arrays_are_as_expected() -> bool:
    samples = [
        np.empty(3),
        np.empty((2, 5))[:, ::2],
        np.empty((3, 2), order="F"),
        np.zeros(4, dtype=">f8"),
        np.empty(()),
    ]
    samples += [np.arange(6, dtype=np.int32).reshape(1, 2, 3), np.frombuffer(bytes(17), dtype="<f8", offset=1, count=2)]
    size = entry.ARRAY_FLAGS + 4
    if np.ndarray.__basicsize__ < size or np.dtype.__basicsize__ < entry.DTYPE_NUMBER + 4:
        return False
    table = _numpy_table()
    if table[_NDARRAY] != id(np.ndarray) or table[_DTYPE] != id(np.dtype):
        return False
    numbers = [1.5, -2.25e300, np.float64(3.75)]
    values = [ctypes.c_double.from_address(id(number) + entry.NUMBER_VALUE).value for number in numbers]
    return values == numbers and all(_array_is_as_expected(sample) for sample in samples)


@cache
def _counts_are_as_expected() -> bool:
    """Whether one can tell that nobody refers to an array any more."""
    owner = [np.empty(3)]
    place = id(owner[0])

    def count() -> int:
        return ctypes.c_ssize_t.from_address(place + entry.OBJECT_REFERENCES).value

    def weak() -> bool:
        return ctypes.c_void_p.from_address(place + entry.ARRAY_WEAK).value is not None

    seen = [count(), weak()]
    reference = weakref.ref(owner[0])
    view = owner[0][1:]
    base = ctypes.c_void_p.from_address(id(view) + entry.ARRAY_BASE).value
    seen += [count(), weak(), base == place]
    del view, reference
    return np.ndarray.__basicsize__ >= entry.ARRAY_WEAK + 8 and seen == [1, False, 2, True, True]


def _array_is_as_expected(array: Any) -> bool:
    def number(kind: Any, base: int, offset: int) -> int:
        return int(kind.from_address(base + offset).value or 0)

    place, dtype = id(array), id(array.dtype)
    flags = number(ctypes.c_int, place, entry.ARRAY_FLAGS)
    shape = number(ctypes.c_void_p, place, entry.ARRAY_SHAPE)
    strides = number(ctypes.c_void_p, place, entry.ARRAY_STRIDES)
    return (
        number(ctypes.c_void_p, place, entry.OBJECT_TYPE) == id(np.ndarray)
        and number(ctypes.c_void_p, place, entry.ARRAY_DATA) == array.__array_interface__["data"][0]
        and number(ctypes.c_int, place, entry.ARRAY_RANK) == array.ndim
        and number(ctypes.c_void_p, place, entry.ARRAY_DTYPE) == dtype
        and [number(ctypes.c_int64, shape, 8 * k) for k in range(array.ndim)] == list(array.shape)
        and [number(ctypes.c_int64, strides, 8 * k) for k in range(array.ndim)] == list(array.strides)
        and bool(flags & entry.C_CONTIGUOUS) == array.flags.c_contiguous
        and bool(flags & entry.ALIGNED) == array.flags.aligned
        and bool(flags & entry.WRITEABLE) == array.flags.writeable
        and number(ctypes.c_int, dtype, entry.DTYPE_NUMBER) == array.dtype.num
        and chr(number(ctypes.c_ubyte, dtype, entry.DTYPE_ORDER)) == array.dtype.byteorder
    )


_PROBE = """
define void @kinetree_single(ptr %inputs, ptr %outputs, ptr %workspace) nounwind {
  %x = load ptr, ptr %inputs
  %y = load ptr, ptr %outputs
  %x1 = getelementptr double, ptr %x, i64 1
  %first = load double, ptr %x
  %second = load double, ptr %x1
  %sum = fadd double %first, %second
  store double %sum, ptr %y
  ret void
}

define void @kinetree_bind(ptr %table) nounwind {
  ret void
}
"""


def _probe_succeeds() -> bool:
    """A native call of a sum of two numbers, in all the ways there are to call it."""

    def python(owner: object, x: Any, *, out: Any = None) -> str:
        return "python"

    door = Door(
        Interface("probe", "probe($self, x)\n--\n\n", (("x", (2,)),), (), (), None, ((1,),), True, python, __name__)
    )
    door.lead_to([Variant(Loaded("single", Code(stored_object("probe", lambda: _PROBE, host()), 1, 0), host()))])
    call, x, out = door.bind(door), np.array([1.0, 2.0]), np.zeros(1)
    kept = [call(x), call(x), call(x)]
    del kept[:]
    return any(_nothing_is_lost(call, x, out, python, door) for _ in range(PROBES))


def _nothing_is_lost(call: Any, x: Any, out: Any, python: Any, door: Door) -> bool:
    """Whether the calls give the right results and leave no references behind."""
    counts = [sys.getrefcount(item) for item in (x, out, x.dtype, python, door)]
    for _ in range(3):
        if (
            call(x)[0] != 3.0
            or call(x).tolist() != [3.0]
            or call(x=x)[0] != 3.0
            or call(x, out=out) is not out
            or out[0] != 3.0
        ):
            return False
        if call([1.0, 2.0]) != "python" or call(x[::-1]) != "python" or call(x, out=x) != "python":
            return False
    return counts == [sys.getrefcount(item) for item in (x, out, x.dtype, python, door)]
