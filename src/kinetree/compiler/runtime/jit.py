"""LLVM assembly is compiled for a CPU and loaded into memory here, by llvmlite, which `target` imports."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, wraps
from typing import Any, TypeVar, cast

import numpy as np

from kinetree.base import locks
from kinetree.base.deferred_signals import deferring_signals
from kinetree.base.lazy import lazy
from kinetree.compiler.codegen.elementary import BIND, LIBRARY
from kinetree.compiler.runtime.side_by_side import Workers, joined, pieces_of, processes_for, separated
from kinetree.compiler.runtime.target import (
    CPU,
    Target,
    architecture,
    llvm,
    llvmlite,
    named_target,
    native_target,
    require_llvmlite,
)
from kinetree.errors import PlatformError, PlatformWarning
from kinetree.ops import Array

lock = locks.compiler
"""The lock of everything that makes machine code; `locks` gives the order in which it is taken with others."""
_library = None if llvm is None else llvm.ffi.lib
_llvmlite_lock = getattr(getattr(_library, "_lock", None), "_lock", None) or threading.RLock()
"""The lock of llvmlite itself."""
locks.IN_ORDER.append(_llvmlite_lock)

LONG = 330_000
"""The size of a module, in characters, from which on it is optimized less: some 2,500 operations."""

F = TypeVar("F", bound=Callable[..., Any])
K = TypeVar("K")
T = TypeVar("T")


def made_once(known: dict[K, T], key: K, make: Callable[[], T]) -> T:
    """The object of a key, made under the compiler's lock unless it is known: concurrent calls get the same one.

    If two were made, the one that is not kept could be freed while its thread still runs its code.
    """
    if key not in known:
        with lock:
            if key not in known:
                known.setdefault(key, make())  # a signal handler may have made it meanwhile
    return known[key]


def once(make: F) -> F:
    """`functools.cache` for functions that return machine code."""
    made: dict[tuple[Any, ...], Any] = {}

    @wraps(make)
    def get(*arguments: Any) -> Any:
        return made_once(made, arguments, lambda: make(*arguments))

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


@cache
@_exclusive
def host(name: str = "") -> Target:
    """The CPU that code is made for: the one of this name, or the one that KINETREE_CPU names, or this machine's own.

    Raises PlatformError where no machine code can run.
    """
    architecture()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    try:
        llvm.check_jit_execution()
    except OSError as error:
        raise PlatformError(f"this process may not run machine code that it makes: {error}") from error
    name = name or os.environ.get(CPU, "")
    features = llvm.get_host_cpu_features()
    if name:
        return named_target(name, features)
    return native_target(llvm.get_host_cpu_name(), features, features.flatten())


@cache
def machine_code_works() -> bool:
    """Whether machine code can be made and run on this computer; the first call warns if it cannot."""
    try:
        host()
    except PlatformError as error:
        message = f"{error}. Formulas run as Python, hundreds of times slower; solvers and rollouts are not available"
        warnings.warn(message, PlatformWarning, stacklevel=1)
        return False
    return True


def versions() -> str:
    """The versions of llvmlite and LLVM."""
    require_llvmlite()
    return f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, llvm.llvm_version_info))}"


def llvmlite_folder() -> str:
    """Where other processes find llvmlite."""
    require_llvmlite()
    return os.path.dirname(os.path.dirname(llvmlite.__file__))


LARGEST = 2**30
"""The size of the largest object file that is loaded, in bytes. Its sections lie in one reservation, so none is further
from another: code on x86-64 reaches 2 GiB, code on AArch64 4 GiB, in either direction."""


def object_triple(system: str) -> str:
    """The triple of a system, with object files in the format ELF on Windows too: LLVM ends the process when it loads
    one in Windows' own format in which an instruction has an address and a number behind it, as comparisons have."""
    return f"{system}-elf" if "windows" in system else system


def _options(target: Target, level: int) -> dict[str, Any]:
    """Of the target machine: position-independent code in the small code model, whose sections lie near each other."""
    return {"cpu": target.cpu, "features": target.features, "opt": level, "reloc": "pic", "codemodel": "small"}


def _machine(target: Target, level: int = 2) -> Any:
    triple = object_triple(llvm.get_default_triple())
    return llvm.Target.from_triple(triple).create_target_machine(**_options(target, level))


def _c_library() -> Any:
    """The C library of this process, if it exports the functions; a search for the library takes longer.

    On Windows a process exports nothing, and its C library is not one that `find_library` knows.
    """
    if sys.platform == "win32":
        return ctypes.CDLL("ucrtbase")
    with suppress(OSError, TypeError):
        library = ctypes.CDLL(None)
        if all(hasattr(library, name) for name in LIBRARY):
            return library
    from ctypes.util import find_library  # noqa: PLC0415

    return ctypes.CDLL(find_library("m") or find_library("c"))


STACK_PROBE = "__chkstk"
"""The one symbol from outside, on Windows alone: functions with more than a page of local memory call it there."""


@cache
def _library_addresses() -> Any:
    """Addresses of the C library's functions, in the order of LIBRARY."""
    library = _c_library()
    if sys.platform == "win32":
        probe = getattr(ctypes.CDLL("ntdll"), STACK_PROBE)
        llvm.add_symbol(STACK_PROBE, ctypes.cast(probe, ctypes.c_void_p).value)
    addresses = [ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in LIBRARY]
    return (ctypes.c_void_p * len(addresses))(*addresses)


@_exclusive
def compile_object(assembly: str, target: Target, cores: int = 1) -> bytes:
    """The object file of a module; a long one is optimized less, which takes two thirds of the time and costs a few
    percent of its speed. On several cores it is compiled in pieces, whose object files are joined."""
    level = 1 if len(assembly) > LONG else 2
    count = processes_for(assembly, cores)
    if count > 1:
        first, *others = pieces_of(assembly, count)
        triple = object_triple(llvm.get_default_triple())
        request = {"llvmlite": llvmlite_folder(), "triple": triple, "machine": _options(target, level)}
        with suppress(OSError), Workers(others, request) as workers:
            own = bytes(_machine(target, level).emit_object(llvm.parse_assembly(first)))
            return joined([own, *workers.results()])
    return bytes(_machine(target, level).emit_object(llvm.parse_assembly(assembly)))


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


def keep_alive(thing: object) -> Array:
    """A reference that keeps an object from being finalized until the reference itself is deallocated.

    The collector runs all finalizers of a dead cycle, in any order, before it deallocates the first object. A user's
    finalizer may still call machine code, so the owner of that code must not be finalized with the cycle. The
    collector does not look into arrays: for it, an object in an array is referenced from outside of the cycle.
    """
    reference = np.empty(1, dtype=object)
    reference[0] = thing
    return reference


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

    The code has no symbols from outside, and all sections lie in one reservation (`use_lmm`): they address each other
    by offsets of 32 or 33 bits, and LLVM ends the process where one does not fit.
    """

    @_exclusive
    def __init__(self, object_file: bytes, target: Target, library: bool = True) -> None:
        """With `library`, set the pointers through which the code calls the C library."""
        if target.lacking:
            raise PlatformError(f"this CPU cannot run code for {target.cpu}: it lacks {', '.join(target.lacking)}")
        if len(object_file) > LARGEST:
            raise PlatformError(f"{len(object_file):,} bytes of machine code are too many; {LARGEST:,} can be loaded")
        addresses = _library_addresses()
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine(target), use_lmm=True)
        self._owner = keep_alive(_EngineOwner(self._engine))
        for piece in separated(object_file):
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(piece))
        self._engine.finalize_object()
        if library:
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._address(BIND))(addresses)

    def _address(self, name: str) -> int:
        return int(self._engine.get_function_address(name))

    address = _exclusive(_address)
    """The address of a function, by its name."""

    @_exclusive
    def addresses(self, names: Iterable[str]) -> list[int]:
        """The addresses of functions, by their names."""
        return list(map(self._address, names))
