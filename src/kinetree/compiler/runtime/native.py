"""Calls that go from the interpreter straight into a kernel, with no Python in between.

`NativeEntry.bind` returns a built-in function, like a method written in C: its ``__self__`` is the object it belongs
to. `codegen.entry` writes the machine code of these functions. This module fills the records that the code reads, and
probes it before its first use: CPython and NumPy must be laid out as it assumes.
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
from kinetree.base.locks import FREE_THREADED
from kinetree.base.precision import FLOAT64
from kinetree.compiler.codegen.elementary import no_library
from kinetree.compiler.codegen.entry import records
from kinetree.compiler.codegen.ir import ONE, Lines
from kinetree.compiler.runtime.assumptions import (
    arrays_are_as_expected,
    counts_are_as_expected,
    is_cpython,
    python_addresses,
    types_are_as_expected,
)
from kinetree.compiler.runtime.call import Loaded
from kinetree.compiler.runtime.code import SINGLE, Code
from kinetree.compiler.runtime.jit import LoadedCode, host, keep_alive, lock, machine_code_works, simplified_object
from kinetree.compiler.runtime.memory import LARGE, TOGETHER
from kinetree.compiler.runtime.stored import stored_object

NATIVE = "KINETREE_NATIVE"
"""An environment variable: with the value 0, every call takes the Python path."""

_FASTCALL_KEYWORDS = 0x0080 | 0x0002

MOST_ARRAYS, MOST_RESULTS = records.MOST_PARAMETERS - 2, records.MOST_OUTPUTS - 1
"""Limits on the arguments and results of a native call."""

PROBES = 20
"""Attempts: a probe fails if other threads change reference counts meanwhile, that of the dtype float64 above all."""

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
    """The arguments and results of a call. After the arrays come either `options` (strings) or one mapping."""

    name: str
    text: str
    """Signature and docstring, as CPython keeps them: ``name($self, q)\\n--\\n\\nWhat it does.``"""
    arrays: tuple[tuple[str, Shape], ...]
    results: tuple[Shape, ...]
    bare: bool
    """Whether there is one result, returned without a tuple and accepted as `out`."""
    fallback: Callable[..., Any]
    """fallback(self, *args, **kwargs) serves every call that the native code cannot."""
    module: str
    """The ``__module__`` of the built-in function."""
    options: tuple[str, ...] = ()
    defaults: tuple[str, ...] = ()
    mapping: Mapping | None = None
    presets: tuple[Any, ...] = ()
    """The default of each array, or None for a required one."""
    spreads: int = 0
    """With this many positional arguments, the last may be a tuple of its array and the following ones; 0: never."""
    spread_to: int = 0
    """The maximum number of arguments, counting the items of that tuple."""
    by_name: int = 0
    """The number of arrays, the last ones, that are given by name only."""
    dtype: np.dtype[Any] = FLOAT64
    """The type of the numbers of all kernels; in float32 Python serves calls of one state."""


class Variant(NamedTuple):
    """The kernels of an entry for one choice of options and places."""

    code: Loaded | None
    """The kernel for one state; without it, Python serves the call."""
    options: tuple[str, ...] = ()
    """The value of each option."""
    places: tuple[tuple[str, str], ...] = ()
    """Name and tag of each array of the mapping that the kernel takes."""
    covers: bool = False
    """Whether it also serves calls with fewer arrays in the mapping: the missing ones are zero."""
    has_status: bool = False
    """Whether the kernel's last output is a status: a call whose status is not 0.0 goes to Python."""
    batch: Loaded | None = None
    """The kernel for a batch."""
    results: tuple[Shape, ...] | None = None
    """The shapes of the results, if they are not those of the interface."""


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _ModuleName(str):
    """The ``__module__`` of a bound call, which also keeps its entry alive."""

    entry: NativeEntry


class NativeEntry:
    """A native function and the table of its kernels."""

    def __init__(self, interface: Interface) -> None:
        self.interface = interface
        self._references: list[object] = []  # keeps alive all that the record points to
        self._variant_fields: dict[Variant, dict[str, int]] = {}
        names = [name for name, _ in interface.arrays] + list(interface.options)
        mapping = interface.mapping
        if mapping is not None:
            names.append(mapping.parameter)
        if len(names) + 1 > records.MOST_PARAMETERS or len(interface.results) + 1 > records.MOST_OUTPUTS:
            raise ValueError(f"{interface.name} has more arguments or results than a native call can have")
        if interface.spread_to > len(interface.arrays):
            raise ValueError(f"{interface.name} has no {interface.spread_to} arguments to spread a tuple over")
        fields = {
            "fallback": self._object(interface.fallback),
            "parameters": self._table([self._name(name) for name in (*names, "out")]),
            "positional": len(names),
            "arrays": len(interface.arrays),
            "inputs": self._shapes([shape for _, shape in interface.arrays]),
            "results": len(interface.results),
            "bare": int(interface.bare),
            "spreads": interface.spreads,
            "spread_to": interface.spread_to,
            "by_name": interface.by_name,
            "dtype": self._object(interface.dtype),
            "size": interface.dtype.itemsize,
            "shift": interface.dtype.itemsize.bit_length() - 1,
            "recycles": int(interface.bare and interface.results[0] != () and counts_are_as_expected()),
        }
        if interface.presets:
            presets = [0 if array is None else self._object(array) for array in interface.presets]
            fields["presets"] = self._table(presets)
        if mapping is not None:
            fields |= {
                "wrapper": self._object(mapping.wrapper),
                "value": self._name(mapping.value),
                "tag": self._name(mapping.tag),
                "untagged": self._name(mapping.untagged),
                "mapped": self._shapes([mapping.shape]),
            }
        slot = _Slot(*_free_place())
        self._slot = keep_alive(slot)
        self._record = slot.record
        self._record[: len(_RELEASED)] = records.numbers(records.Entry, fields)
        slot.method.name, slot.method.doc = interface.name.encode(), interface.text.encode()
        self._method = ctypes.addressof(slot.method)

    def bind(self, instance: object) -> Callable[..., Any]:
        """The built-in function, bound to an object as a method."""
        module = _ModuleName(self.interface.module)
        module.entry = self
        return _new_function(self._method, instance, module)

    def set_variants(self, variants: Iterable[Variant]) -> None:
        """Replace the kernels that calls can reach. A call takes the first variant that fits, fewest places first."""
        arrays = len(self.interface.arrays)
        fitting = [variant for variant in variants if arrays + len(variant.places) <= records.MOST_INPUTS]
        ordered = sorted(fitting, key=lambda variant: len(variant.places))
        chain = (ctypes.c_int64 * (records.VARIANT * len(ordered)))()
        self._references.append(chain)  # former ones stay: another call may still read them
        places = [ctypes.addressof(chain) + 8 * records.VARIANT * k for k in range(len(ordered))] + [0]
        plain = 0
        for k, variant in enumerate(ordered):
            fields = self._fields(variant) | {"next": places[k + 1]}
            for j, number in enumerate(records.numbers(records.Variant, fields)):
                chain[records.VARIANT * k + j] = number
            if not variant.places and variant.options == self.interface.defaults and not self.interface.by_name:
                plain = places[k]
        self._record[records.position(records.Entry, "first")] = places[0]
        self._record[records.position(records.Entry, "plain")] = plain

    def _fields(self, variant: Variant) -> dict[str, int]:
        """The record of a variant, without the address of the next one."""
        if variant in self._variant_fields:
            return self._variant_fields[variant]
        self._references += [variant.code, variant.batch]
        results = self.interface.results if variant.results is None else variant.results
        if list(map(len, results)) != list(map(len, self.interface.results)):
            raise ValueError(f"{self.interface.name} has variants with different numbers of axes")
        counts = [prod(shape) for shape in results]
        lanes = host().computing_in(self.interface.dtype).lanes
        size = LARGE if len(counts) == 1 else TOGETHER
        max_states = (size - 1) // (self.interface.dtype.itemsize * max(1, sum(counts)))
        if variant.batch is not None:
            max_states = min(max_states, variant.batch.states_at_once(lanes))  # longer calls are interruptible
        code_size = 0 if variant.code is None else variant.code.workspace
        sizes = [code_size, 8 * (sum(counts) + 1), 8 * self._numbers(variant)]
        for_workspace, for_scratch, for_room = (-(-size // 64) * 64 for size in sizes)
        workspace = self._aligned_zeros(for_workspace + for_scratch + for_room)
        scratch = workspace + for_workspace
        options: list[int] = []
        for word, default in zip(variant.options, self.interface.defaults, strict=True):
            options += [self._name(word), int(word == default)]
        names = [self._name(word) for place in variant.places for word in place]
        mapping = self.interface.mapping
        self._variant_fields[variant] = fields = {
            "kernel": 0 if variant.code is None else variant.code.address,
            "workspace": workspace,
            "batch": 0 if variant.batch is None else variant.batch.address,
            "batch_workspace": 0 if variant.batch is None else variant.batch.workspace,
            "small": 0 if variant.batch is None else variant.batch.states_for_one_thread(lanes),
            "most": max_states,
            "options": self._table(options),
            "place_count": -1 if mapping is None else len(variant.places),
            "places": self._table(names),
            "covers": int(variant.covers),
            "status": scratch + 8 * sum(counts) if variant.has_status else 0,
            "scratch": scratch,
            "outputs": self._shapes(results),
            "room": scratch + for_scratch,
            "room_size": for_room,
            "memory_size": for_workspace + for_scratch + for_room,
            "zeros": 0 if mapping is None else self._aligned_zeros(8 * prod(mapping.shape)),
        }
        return fields

    def _numbers(self, variant: Variant) -> int:
        """How many all inputs of one state have."""
        mapped = 0 if self.interface.mapping is None else prod(self.interface.mapping.shape)
        return sum(prod(shape) for _, shape in self.interface.arrays) + mapped * len(variant.places)

    # -- memory that lives as long as the entry ----------------------------------------------------------------

    def _object(self, value: object) -> int:
        self._references.append(value)
        return id(value)

    def _name(self, word: str) -> int:
        return self._object(sys.intern(str(word)))

    def _table(self, numbers: Sequence[int]) -> int:
        array = (ctypes.c_int64 * max(1, len(numbers)))(*numbers)
        self._references.append(array)
        return ctypes.addressof(array)

    def _aligned_zeros(self, size: int) -> int:
        """The address of `size` bytes of zeros, a multiple of 64."""
        memory = (ctypes.c_char * (size + 64))()
        self._references.append(memory)
        return -(-ctypes.addressof(memory) // 64) * 64

    def _shapes(self, shapes: Sequence[Shape]) -> int:
        """The address of a table with the rank, shape, size and offset of each array."""
        numbers: list[int] = []
        for k, shape in enumerate(shapes):
            numbers += [len(shape), self._table(shape), prod(shape), sum(map(prod, shapes[:k]))]
        return self._table(numbers)


# -- pages of entries: their code is never freed, and their slots are used again ---------------------------------------


class _Page:
    """A loaded module of native entries, each with a record and a method definition."""

    def __init__(self, object_file: bytes) -> None:
        self.code = LoadedCode(object_file, host(), library=False)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.code.address(records.CONNECT))(python_addresses())
        place = ctypes.CFUNCTYPE(ctypes.c_void_p)(self.code.address(records.RECORDS))()
        self.records = (ctypes.c_int64 * records.FIELDS * records.ENTRIES).from_address(place)
        self.methods = (_MethodDef * records.ENTRIES)()
        addresses = self.code.addresses(map(records.entry_name, range(records.ENTRIES)))
        for method, address in zip(self.methods, addresses, strict=True):
            method.function, method.flags = address, _FASTCALL_KEYWORDS
        self.free = list(range(records.ENTRIES))
        self.raise_released = _raise_released


def _raise_released(*arguments: object, **named: object) -> None:
    raise ReferenceError("the object that this call belonged to no longer exists")


_pages: list[_Page] = []
_decref = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(("Py_DecRef", ctypes.pythonapi))
"""Py_DecRef of the object at an address, or of nothing at 0."""
_RECYCLED = tuple(records.position(records.Entry, field) for field in ("last", "earlier"))
_RELEASED = tuple(records.numbers(records.Entry, {"positional": -1, "fallback": id(_raise_released)}))


def _free_place() -> tuple[_Page, int]:
    """A page and the index of a place in it that no entry has."""
    with lock:
        if not any(page.free for page in _pages):
            _pages.append(_Page(_entry_object()))
        page = next(page for page in _pages if page.free)
        return page, page.free.pop()


class _Slot:
    """An entry's place in a page, which is free again when the slot is deallocated."""

    def __init__(self, page: _Page, index: int) -> None:
        self.page, self.index = page, index
        self.record: Any = page.records[index]
        self.method = page.methods[index]

    def __del__(
        self,  # defaults outlive the names of this module at shutdown
        recycled: Sequence[int] = _RECYCLED,
        released: Sequence[int] = _RELEASED,
        decref: Callable[[int], None] = _decref,
    ) -> None:
        results = [self.record[field] for field in recycled]
        self.record[: len(released)] = released
        for address in results:
            decref(address)
        self.page.free.append(self.index)


_ENTRY = "entry without a global lock" if FREE_THREADED else "entry"


@cache
def _entry_object() -> bytes:
    return stored_object(_ENTRY, _entry_assembly, host(), simplified_object)


def store(cpu: str) -> None:
    """Keep on disk what native calls need on this CPU, beside kernels."""
    stored_object(_ENTRY, _entry_assembly, host(cpu), simplified_object)
    stored_object("probe", _probe, host(cpu))


def _entry_assembly() -> str:
    importing("kinetree.compiler.codegen.entry.assembly")
    from kinetree.compiler.codegen.entry.assembly import entry_assembly  # noqa: PLC0415 - not needed with a warm cache

    return entry_assembly()


_new_function: Callable[..., Callable[..., Any]] = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object
)(("PyCFunction_NewEx", ctypes.pythonapi))


# -- checks of the assumptions on CPython and NumPy --------------------------------------------------------------------


def available() -> bool:
    """Whether native calls work on this interpreter and are not switched off."""
    return os.environ.get(NATIVE, "") != "0" and machine_code_works() and _works()


@cache
def _works() -> bool:
    """Whether the layout of objects in memory is as expected, and then a probe of native code succeeds."""
    if host().lacking or not is_cpython():
        return False
    try:
        with lock:
            return types_are_as_expected() and arrays_are_as_expected() and _probe_succeeds()
    except (AttributeError, KeyError, OSError, RuntimeError, ValueError):
        return False


def _probe() -> str:
    """A kernel that adds two numbers."""
    b = Lines(ONE)
    x, y = b.word("%inputs", 0, "ptr"), b.word("%outputs", 0, "ptr")
    b.store("double", b.real("fadd", b.word(x, 0, "double"), b.word(x, 1, "double")), y)
    return f"{b.function(SINGLE, 'ptr %inputs, ptr %outputs, ptr %workspace')}\n\n{no_library()}"


def _probe_succeeds() -> bool:
    """Whether the kernel of `_probe` works in all ways to call it."""

    def python(owner: object, x: Any, *, out: Any = None) -> str:
        return "python"

    entry = NativeEntry(Interface("probe", "probe($self, x)\n--\n\n", (("x", (2,)),), ((1,),), True, python, __name__))
    entry.set_variants([Variant(Loaded("single", Code(stored_object("probe", _probe, host()), 1, 0), host()))])
    call, x, out = entry.bind(entry), np.array([1.0, 2.0]), np.zeros(1)
    results = [call(x), call(x), call(x)]
    del results[:]
    return any(_calls_leak_nothing(call, x, out, python, entry) for _ in range(PROBES))


def _calls_leak_nothing(call: Any, x: Any, out: Any, python: Any, entry: NativeEntry) -> bool:
    """Whether the calls return the right results and leave all reference counts unchanged."""
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
