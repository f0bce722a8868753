"""Calls of one state that go from the interpreter straight into a kernel, with no Python in between.

`NativeEntry.bind` makes a built-in function of Python's own kind, whose ``__self__`` is the object it belongs to, as of
any method written in C. What it leads to is in `codegen.entry`; here its records are filled, and it is tried before its
first use, where CPython and NumPy are what it assumes.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from kinetree.base.lazy_imports import importing
from kinetree.compiler.codegen.entry import records
from kinetree.compiler.runtime.assumptions import (
    arrays_are_as_expected,
    counts_are_as_expected,
    is_cpython,
    python_addresses,
    types_are_as_expected,
)
from kinetree.compiler.runtime.call import Loaded
from kinetree.compiler.runtime.code import Code
from kinetree.compiler.runtime.jit import LoadedCode, host, lock
from kinetree.compiler.runtime.keep_alive import hold
from kinetree.compiler.runtime.memory import LARGE
from kinetree.compiler.runtime.stored import stored_object

NATIVE = "KINETREE_NATIVE"
"""Environment variable: set to 0, every call takes the Python path."""

_FASTCALL_KEYWORDS = 0x0080 | 0x0002

MOST_ARRAYS, MOST_RESULTS = records.MOST_PARAMETERS - 2, records.MOST_OUTPUTS - 1
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
    results: tuple[Shape, ...]
    bare: bool
    """One result, returned as it is, and accepted as `out`."""
    fallback: Callable[..., Any]
    """fallback(self, *args, **kwargs): for whatever the native code does not know."""
    module: str
    """The module it is from."""
    options: tuple[str, ...] = ()
    defaults: tuple[str, ...] = ()
    mapping: Mapping | None = None
    presets: tuple[Any, ...] = ()
    """For each array, what it is where it is not given, or None where it must be."""
    spreads: int = 0
    """Of so many arguments by position the last may be a tuple, of that array and those after it; 0 for never."""
    spread_to: int = 0
    """How many arguments there are at most with the items of that tuple."""


class Variant(NamedTuple):
    """A kernel of an entry, and for which calls it is."""

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


class _ModuleName(str):
    """The ``__module__`` of a bound call, which also keeps alive what the call runs."""

    entry: NativeEntry


class NativeEntry:
    """One callable's way to its kernels."""

    def __init__(self, interface: Interface) -> None:
        self.interface = interface
        self._kept: list[object] = []  # all memory the record points to
        self._known: dict[Variant, dict[records.Variant, int]] = {}
        names = [name for name, _ in interface.arrays] + list(interface.options)
        mapping = interface.mapping
        if mapping is not None:
            names.append(mapping.parameter)
        if len(names) + 1 > records.MOST_PARAMETERS or len(interface.results) + 1 > records.MOST_OUTPUTS:
            raise ValueError(f"{interface.name} has more arguments or results than a native call can have")
        if interface.spread_to > len(interface.arrays):
            raise ValueError(f"{interface.name} has no {interface.spread_to} arguments to spread a tuple over")
        fields = {
            records.Entry.FALLBACK: self._object(interface.fallback),
            records.Entry.PARAMETERS: self._table([self._name(name) for name in (*names, "out")]),
            records.Entry.POSITIONAL: len(names),
            records.Entry.ARRAYS: len(interface.arrays),
            records.Entry.INPUTS: self._forms([shape for _, shape in interface.arrays]),
            records.Entry.OUTPUTS: self._forms(interface.results),
            records.Entry.RESULTS: len(interface.results),
            records.Entry.BARE: int(interface.bare),
            records.Entry.SPREADS: interface.spreads,
            records.Entry.SPREAD_TO: interface.spread_to,
            records.Entry.RECYCLES: int(interface.bare and interface.results[0] != () and counts_are_as_expected()),
        }
        if interface.presets:
            held = [0 if array is None else self._object(array) for array in interface.presets]
            fields[records.Entry.PRESETS] = self._table(held)
        if mapping is not None:
            fields |= {
                records.Entry.WRAPPER: self._object(mapping.wrapper),
                records.Entry.VALUE: self._name(mapping.value),
                records.Entry.TAG: self._name(mapping.tag),
                records.Entry.UNTAGGED: self._name(mapping.untagged),
                records.Entry.MAPPED: self._forms([mapping.shape]),
            }
        slot = _Slot()
        self._hold = hold(slot)
        self._record = slot.record
        for field in records.Entry:
            self._record[field] = fields.get(field, 0)
        slot.method.name, slot.method.doc = interface.name.encode(), interface.text.encode()
        self._method = ctypes.addressof(slot.method)

    def bind(self, instance: object) -> Callable[..., Any]:
        """The call as a method of this object."""
        module = _ModuleName(self.interface.module)
        module.entry = self
        return _new_function(self._method, instance, module)

    def set_variants(self, variants: Iterable[Variant]) -> None:
        """Let calls reach these kernels and no others, and of several that fit the first with the fewest places."""
        fitting = [known for known in variants if len(self.interface.arrays) + len(known.places) <= records.MOST_INPUTS]
        ordered = sorted(fitting, key=lambda known: len(known.places))
        chain = (ctypes.c_int64 * (records.VARIANT * len(ordered)))()
        self._kept.append(chain)  # and the former ones stay: a call may be in the midst of them
        places = [ctypes.addressof(chain) + 8 * records.VARIANT * k for k in range(len(ordered))] + [0]
        plain = 0
        for k, variant in enumerate(ordered):
            fields = self._fields(variant) | {records.Variant.NEXT: places[k + 1]}
            for field, value in fields.items():
                chain[records.VARIANT * k + field] = value
            if not variant.places and variant.options == self.interface.defaults:
                plain = places[k]
        self._record[records.Entry.FIRST] = places[0]
        self._record[records.Entry.PLAIN] = plain

    def _fields(self, variant: Variant) -> dict[records.Variant, int]:
        """All but what comes next."""
        if variant in self._known:
            return self._known[variant]
        self._kept += [variant.code, variant.batch]
        counts = [prod(shape) for shape in self.interface.results]
        most = (LARGE - 1) // (8 * max(1, sum(counts)))
        if variant.batch is not None:
            most = min(most, variant.batch.states_at_once(host().lanes))  # Python can be interrupted in between
        scratch = self._room(8 * (sum(counts) + 1))
        options: list[int] = []
        for word, default in zip(variant.options, self.interface.defaults, strict=True):
            options += [self._name(word), int(word == default)]
        names = [self._name(word) for place in variant.places for word in place]
        mapping = self.interface.mapping
        self._known[variant] = fields = {
            records.Variant.KERNEL: 0 if variant.code is None else variant.code.address,
            records.Variant.WORKSPACE: self._room(0 if variant.code is None else variant.code.workspace),
            records.Variant.BATCH: 0 if variant.batch is None else variant.batch.address,
            records.Variant.BATCH_WORKSPACE: 0 if variant.batch is None else variant.batch.workspace,
            records.Variant.SMALL: 0 if variant.batch is None else variant.batch.states_for_one_thread(host().lanes),
            records.Variant.MOST: most,
            records.Variant.OPTIONS: self._table(options),
            records.Variant.PLACES: -1 if mapping is None else len(variant.places),
            records.Variant.NAMES: self._table(names),
            records.Variant.COVERS: int(variant.covers),
            records.Variant.STATUS: scratch + 8 * sum(counts) if variant.has_status else 0,
            records.Variant.SCRATCH: scratch,
            records.Variant.ROOM: self._room(8 * self._numbers(variant)),
            records.Variant.ZEROS: 0 if mapping is None else self._room(8 * prod(mapping.shape)),
        }
        return fields

    def _numbers(self, variant: Variant) -> int:
        """How many all inputs of one state have."""
        mapped = 0 if self.interface.mapping is None else prod(self.interface.mapping.shape)
        return sum(prod(shape) for _, shape in self.interface.arrays) + mapped * len(variant.places)

    # -- memory that lives as long as the entry ----------------------------------------------------------------

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


# -- entries come from pages of native code, which are never freed: their entries are used again -----------------------


class _Page:
    """A module of native entries."""

    def __init__(self, object_file: bytes) -> None:
        self.code = LoadedCode(object_file, host(), library=False)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.code.address(records.CONNECT))(python_addresses())
        place = ctypes.CFUNCTYPE(ctypes.c_void_p)(self.code.address(records.RECORDS))()
        self.records = (ctypes.c_int64 * records.FIELDS * records.ENTRIES).from_address(place)
        self.methods = (_MethodDef * records.ENTRIES)()
        for k, method in enumerate(self.methods):
            method.function = self.code.address(records.entry_name(k))
            method.flags = _FASTCALL_KEYWORDS
        self.free = list(range(records.ENTRIES))
        self.gone = _gone


def _gone(*arguments: object, **named: object) -> None:
    raise ReferenceError("what this call belonged to is gone")


_pages: list[_Page] = []
_forget = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(("Py_DecRef", ctypes.pythonapi))
"""Gives up a reference to an object, given its address or 0."""
_RESULTS = (int(records.Entry.LAST), int(records.Entry.EARLIER))
_CLOSED = tuple(
    {records.Entry.POSITIONAL: -1, records.Entry.FALLBACK: id(_gone)}.get(field, 0) for field in records.Entry
)


class _Slot:
    """An entry's place in a page, free again when this is gone."""

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
    return stored_object("entry", _entry_assembly, host())


def _entry_assembly() -> str:
    importing("kinetree.compiler.codegen.entry.assembly")
    from kinetree.compiler.codegen.entry.assembly import entry_assembly  # noqa: PLC0415 - a warm start does without

    return entry_assembly()


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
            return is_cpython() and types_are_as_expected() and arrays_are_as_expected() and _probe_succeeds()
    except (AttributeError, KeyError, OSError, RuntimeError, ValueError):
        return False


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

    entry = NativeEntry(Interface("probe", "probe($self, x)\n--\n\n", (("x", (2,)),), ((1,),), True, python, __name__))
    entry.set_variants([Variant(Loaded("single", Code(stored_object("probe", lambda: _PROBE, host()), 1, 0), host()))])
    call, x, out = entry.bind(entry), np.array([1.0, 2.0]), np.zeros(1)
    kept = [call(x), call(x), call(x)]
    del kept[:]
    return any(_nothing_is_lost(call, x, out, python, entry) for _ in range(PROBES))


def _nothing_is_lost(call: Any, x: Any, out: Any, python: Any, entry: NativeEntry) -> bool:
    """Whether the calls give the right results and leave no references behind."""
    others = ([1, 2.0], (np.float64(1.0), 2), x[::-1], np.array([1, 2]), np.array([1.0, 2.0], dtype=np.float32))
    counts = [sys.getrefcount(item) for item in (x, out, x.dtype, python, entry)]
    for _ in range(3):
        if (
            call(x)[0] != 3.0
            or call(x).tolist() != [3.0]
            or call(x=x)[0] != 3.0
            or call(x, out=out) is not out
            or out[0] != 3.0
        ):
            return False
        if any(call(other)[0] != 3.0 for other in others):
            return False
        if call([1.0, "2"]) != "python" or call(x[:1]) != "python" or call(x, out=x) != "python":
            return False
    return counts == [sys.getrefcount(item) for item in (x, out, x.dtype, python, entry)]
