"""LLVM assembly to machine code for this CPU, and into memory. The only place that imports llvmlite."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, TypeVar, cast

import llvmlite
import llvmlite.binding as llvm

from kinetree.base import locks
from kinetree.base.deferred_signals import undisturbed
from kinetree.base.lazy import lazy
from kinetree.compiler.codegen.elementary import BIND, LIBRARY
from kinetree.compiler.codegen.ir import Width
from kinetree.compiler.runtime.keep_alive import hold

lock = locks.compiler
"""llvmlite does one thing at a time, and so does everything that makes machine code; `locks` says what else is taken
with it, and in which order."""
_llvmlite_lock = getattr(getattr(llvm.ffi.lib, "_lock", None), "_lock", None) or threading.RLock()
"""llvmlite's own."""
locks.IN_ORDER.append(_llvmlite_lock)

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def once(make: F) -> F:
    """Like `functools.cache`, for what holds machine code: threads that ask at the same time get the same. Of two that
    were made, the one that is not kept would be gone while the thread that made it still runs its code."""
    made: dict[tuple[Any, ...], Any] = {}

    @wraps(make)
    def get(*arguments: Any) -> Any:
        if arguments not in made:
            with lock:
                if arguments not in made:
                    made.setdefault(arguments, make(*arguments))  # a signal handler may have made it meanwhile
        return made[arguments]

    return cast(F, get)


class lazy_code(lazy[T]):
    """The same for a property: `lazy`, and computed by one thread at a time, which holds the lock of the compiler."""

    lock = lock


_given_up: list[Any] = []
"""Pointers to what nobody needs any more."""


def _alone(function: F) -> F:
    """Alone with llvmlite, and to the end. Functions of this kind do not call each other: the lock is not theirs."""

    def give_back_and_call(*arguments: Any, **named: Any) -> Any:
        while _given_up:
            llvm.ffi.lib.LLVMPY_DisposeExecutionEngine(_given_up.pop())
        return function(*arguments, **named)

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        with lock:
            return undisturbed(give_back_and_call, *arguments, **named)

    return cast(F, call)


_LANES = (("avx512f", 8), ("avx", 4), ("neon", 2), ("sse2", 2))


@dataclass(frozen=True)
class Target:
    """A CPU: how many states its vector instructions take at once, and whether they multiply and add at once."""

    cpu: str
    features: str
    lanes: int
    fuses: bool

    @property
    def width(self) -> Width:
        return Width(self.lanes, older=llvm.llvm_version_info[0] < 22)


@cache
@_alone
def host(without: frozenset[str] = frozenset()) -> Target:
    """This machine; `without` some of its features, to test code for lesser ones."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features()
    for name in features:
        if any(name.startswith(word) for word in without):
            features[name] = False
    lanes = next((lanes for name, lanes in _LANES if features.get(name)), 2)
    fuses = bool(features.get("fma") or features.get("neon"))
    return Target(cpu if not without else "x86-64", features.flatten(), lanes, fuses)


def versions() -> str:
    """Of what turns assembly into machine code."""
    return f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, llvm.llvm_version_info))}"


def _machine(target: Target) -> Any:
    """Code in one piece with its constants (small code model), except for CPUs that must call fma from outside."""
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=target.cpu,
        features=target.features,
        opt=2,
        reloc="pic",
        codemodel="small" if target.fuses else "jitdefault",
    )


def _c_library() -> Any:
    """What Python itself runs on, where it shows that; to search for the library takes longer."""
    with suppress(OSError, TypeError):
        library = ctypes.CDLL(None)
        if all(hasattr(library, name) for name in ("fma", *LIBRARY)):
            return library
    from ctypes.util import find_library  # noqa: PLC0415

    return ctypes.CDLL(find_library("m") or find_library("c"))


@cache
def _library_addresses() -> Any:
    """Addresses of the C library's functions, in the order of LIBRARY."""
    library = _c_library()
    llvm.add_symbol("fma", ctypes.cast(library.fma, ctypes.c_void_p).value)
    addresses = [ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in LIBRARY]
    return (ctypes.c_void_p * len(addresses))(*addresses)


@_alone
def compile_object(assembly: str, target: Target) -> bytes:
    """Machine code of a module, as an object file in memory."""
    module = llvm.parse_assembly(assembly)
    return bytes(_machine(target).emit_object(module))


@_alone
def optimized_object(assembly: str, target: Target) -> bytes:
    """The same of a module with loops, after LLVM's own passes: they inline, unroll and use vector instructions."""
    machine = _machine(target)
    module = llvm.parse_assembly(assembly)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


@_alone
def assembly_of(text: str, target: Target) -> str:
    """The same as assembly for people."""
    return str(_machine(target).emit_assembly(llvm.parse_assembly(text)))


class _Given:
    """Memory of LLVM's, until this is deallocated; it is given back when llvmlite is called next.

    An object may be deallocated on any thread and between any two instructions, also while somebody compiles. If it
    took llvmlite's lock then, a signal handler that came meanwhile could wait for the compiler's lock, which comes
    first; and an interrupt in llvmlite's own functions would leave its lock taken for ever.
    """

    def __init__(self, engine: Any) -> None:
        self._pointer = engine._ptr
        engine._owned = True  # not by llvmlite's objects, which leave it alone then

    def __del__(self, leave: Callable[[Any], None] = _given_up.append) -> None:
        leave(self._pointer)


class LoadedCode:
    """An object file in executable memory, for as long as this lives; even if it is garbage that still runs.

    All its sections lie in one reservation, since they reach each other by short distances.
    """

    @_alone
    def __init__(self, object_file: bytes, target: Target, library: bool = True) -> None:
        """With `library`, the code calls functions of the C library through pointers that are set here."""
        addresses = _library_addresses()
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(target), use_lmm=target.fuses)
        self._hold = hold(_Given(self._engine))
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(object_file))
        self._engine.finalize_object()
        if library:
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._address(BIND))(addresses)

    def _address(self, name: str) -> int:
        return int(self._engine.get_function_address(name))

    address = _alone(_address)
    """Of a function, by its name."""
