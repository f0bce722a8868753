"""LLVM assembly is compiled for this CPU and loaded into memory here. No other module imports llvmlite."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, wraps
from typing import Any, TypeVar, cast

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from kinetree.base import locks
from kinetree.base.deferred_signals import deferring_signals
from kinetree.base.lazy import lazy
from kinetree.base.precision import FLOAT32, FLOAT64
from kinetree.compiler.codegen.elementary import BIND, LIBRARY
from kinetree.compiler.codegen.ir import Width
from kinetree.compiler.runtime.keep_alive import keep_alive

lock = locks.compiler
"""The lock of everything that makes machine code; `locks` gives the order in which it is taken with others."""
_llvmlite_lock = getattr(getattr(llvm.ffi.lib, "_lock", None), "_lock", None) or threading.RLock()
"""The lock of llvmlite itself."""
locks.IN_ORDER.append(_llvmlite_lock)

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def once(make: F) -> F:
    """`functools.cache` for functions that return machine code: concurrent calls get the same object.

    If two were made, the one that is not kept could be freed while its thread still runs its code.
    """
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
    """A `lazy` attribute that one thread at a time computes, holding the compiler's lock."""

    lock = lock


_unused_engines: list[Any] = []
"""Pointers to execution engines that wait to be disposed of."""


def _exclusive(function: F) -> F:
    """The function, run by one thread at a time and not interrupted by signal handlers.

    Such functions must not call each other: on the main thread another thread runs them, which does not hold the lock.
    """

    def dispose_and_call(*arguments: Any, **named: Any) -> Any:
        while _unused_engines:
            llvm.ffi.lib.LLVMPY_DisposeExecutionEngine(_unused_engines.pop())
        return function(*arguments, **named)

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        with lock:
            return deferring_signals(dispose_and_call, *arguments, **named)

    return cast(F, call)


_LANES = (("avx512f", 8), ("avx", 4), ("neon", 2), ("sse2", 2))


@dataclass(frozen=True)
class Target:
    """A CPU: the count of numbers in a vector register (lanes), whether it has fused multiply-add, and the type of the
    numbers, double or float."""

    cpu: str
    features: str
    lanes: int
    fuses: bool
    element: str = "double"

    @property
    def width(self) -> Width:
        return Width(self.lanes, llvm.llvm_version_info[0] < 22, self.element)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's type of the numbers."""
        return FLOAT64 if self.element == "double" else FLOAT32

    def computing_in(self, dtype: np.dtype[Any]) -> Target:
        """The same CPU for numbers of this type, float64 or float32: a register holds twice as many of the latter."""
        lanes = self.lanes * self.dtype.itemsize // dtype.itemsize
        return replace(self, lanes=lanes, element="double" if dtype == FLOAT64 else "float")


@cache
@_exclusive
def host(without: frozenset[str] = frozenset()) -> Target:
    """The CPU of this machine, `without` some features: tests then compile for older CPUs."""
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
    """The versions of llvmlite and LLVM."""
    return f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, llvm.llvm_version_info))}"


def _machine(target: Target) -> Any:
    """The target machine: position-independent code in the small code model, except for CPUs that call fma in libm."""
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=target.cpu,
        features=target.features,
        opt=2,
        reloc="pic",
        codemodel="small" if target.fuses else "jitdefault",
    )


def _c_library() -> Any:
    """The C library of this process, if it exports the functions; a search for the library takes longer."""
    with suppress(OSError, TypeError):
        library = ctypes.CDLL(None)
        if all(hasattr(library, name) for name in ("fma", "fmaf", *LIBRARY)):
            return library
    from ctypes.util import find_library  # noqa: PLC0415

    return ctypes.CDLL(find_library("m") or find_library("c"))


@cache
def _library_addresses() -> Any:
    """Addresses of the C library's functions, in the order of LIBRARY."""
    library = _c_library()
    for name in ("fma", "fmaf"):
        llvm.add_symbol(name, ctypes.cast(getattr(library, name), ctypes.c_void_p).value)
    addresses = [ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in LIBRARY]
    return (ctypes.c_void_p * len(addresses))(*addresses)


@_exclusive
def compile_object(assembly: str, target: Target) -> bytes:
    """The object file of a module."""
    module = llvm.parse_assembly(assembly)
    return bytes(_machine(target).emit_object(module))


@_exclusive
def simplified_object(assembly: str, target: Target) -> bytes:
    """The object file of a module without long loops: variables in memory become registers, and functions that ask for
    it are inlined. The passes of `optimized_object` take ten times as long."""
    machine = _machine(target)
    module = llvm.parse_assembly(assembly)
    passes = llvm.create_new_module_pass_manager()
    passes.add_sroa_pass()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    return bytes(machine.emit_object(module))


@_exclusive
def optimized_object(assembly: str, target: Target) -> bytes:
    """The object file of a module with loops, after LLVM's passes: they inline, unroll and vectorize."""
    machine = _machine(target)
    module = llvm.parse_assembly(assembly)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


@_exclusive
def assembly_of(text: str, target: Target) -> str:
    """The machine instructions of a module, as text."""
    return str(_machine(target).emit_assembly(llvm.parse_assembly(text)))


class _EngineOwner:
    """Owns an execution engine. The next call of llvmlite after its deallocation disposes of the engine.

    An object may be deallocated on any thread and between any two instructions, even during a compilation. If that
    took llvmlite's lock, a signal handler could meanwhile wait for the compiler's lock, which must be taken first; and
    an interrupt inside llvmlite would leave its lock taken for ever.
    """

    def __init__(self, engine: Any) -> None:
        self._pointer = engine._ptr
        engine._owned = True  # llvmlite then does not dispose of it

    def __del__(self, dispose_later: Callable[[Any], None] = _unused_engines.append) -> None:
        dispose_later(self._pointer)


class LoadedCode:
    """An object file in executable memory, freed with this object, but not before finalizers that still run the code.

    All sections lie in one reservation, because they address each other by short offsets.
    """

    @_exclusive
    def __init__(self, object_file: bytes, target: Target, library: bool = True) -> None:
        """With `library`, set the pointers through which the code calls the C library."""
        addresses = _library_addresses()
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(target), use_lmm=target.fuses)
        self._owner = keep_alive(_EngineOwner(self._engine))
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(object_file))
        self._engine.finalize_object()
        if library:
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._address(BIND))(addresses)

    def _address(self, name: str) -> int:
        return int(self._engine.get_function_address(name))

    address = _exclusive(_address)
    """The address of a function, by its name."""
