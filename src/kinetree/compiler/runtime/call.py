"""Calls of kernels on NumPy arrays, whose shapes and types are checked before their pointers are passed on.

One state runs the scalar kernel. A batch runs the vector kernel in blocks of lanes, on several threads if it is large.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
import threading
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from kinetree.compiler.runtime.code import BATCH, LOOP, SINGLE, Code, Kind, Source
from kinetree.compiler.runtime.jit import LoadedCode, Target, lock
from kinetree.compiler.runtime.pace import AT_ONCE, NANOSECONDS, Pace
from kinetree.compiler.runtime.threads import get_num_threads, run_ranges
from kinetree.ops import Array

WORTH_A_THREAD = 200_000.0
"""Nanoseconds of work below which a batch stays on the calling thread."""

_SIGNATURES: dict[Kind, Any] = {
    "single": ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3),
    "batch": ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p),
    "loop": ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 5, *[ctypes.c_void_p] * 3),
}
_SYMBOLS: dict[Kind, str] = {"single": SINGLE, "batch": BATCH, "loop": LOOP}


class Loaded:
    """Machine code of one kind in memory, as a function to call."""

    def __init__(self, kind: Kind, code: Code, target: Target) -> None:
        self.memory = LoadedCode(code.object_file, target)
        self.address = self.memory.address(_SYMBOLS[kind])
        self.function: Callable[..., None] = _SIGNATURES[kind](self.address)
        self.operations = code.operations
        self.workspace = code.workspace

    def states_for_one_thread(self, lanes: int) -> int:
        """The largest number of states for which a second thread does not pay."""
        return int(2.0 * WORTH_A_THREAD * lanes / (NANOSECONDS * max(1, self.operations))) - 1

    def states_at_once(self, lanes: int) -> int:
        """The number of states, in whole blocks of lanes, for one uninterruptible call of about `AT_ONCE`."""
        return lanes * int(max(1.0, AT_ONCE / (NANOSECONDS * max(1, self.operations))))


Shape = tuple[int, ...]


def flat_rows(array: Array, batch: Shape, core: Shape) -> Array:
    """An array (…, *core) broadcast to (*batch, *core) and reshaped to (N, n); a view where possible."""
    if array.shape != batch + core:
        array = np.broadcast_to(array, batch + core)
    return array if array.ndim == 2 and len(core) == 1 else array.reshape(prod(batch), prod(core))


class Kernel:
    """A compiled function; machine code of each kind is made on its first use."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._sizes_in = source.layout.inputs
        self._sizes_out = source.layout.outputs
        self._loaded: dict[Kind, Loaded] = {}
        self._table = ctypes.c_void_p * (len(self._sizes_in) + len(self._sizes_out))
        self._descriptor = ctypes.c_int64 * (3 * len(self._sizes_in) + 2 * len(self._sizes_out))
        self._local = threading.local()

    # -- machine code ------------------------------------------------------------------------------------------

    def loaded(self, kind: Kind) -> Loaded | None:
        """The code of this kind if it was loaded before, else None."""
        return self._loaded.get(kind)

    def load(self, kind: Kind) -> Loaded:
        """The code of this kind, compiled or read from disk on first use."""
        loaded = self._loaded.get(kind)
        if loaded is None:
            with lock:
                loaded = self._loaded.get(kind)
                if loaded is None:
                    made = Loaded(kind, self.source.code(kind), self.source.target)
                    loaded = self._loaded.setdefault(kind, made)  # a signal handler may have made it meanwhile
        return loaded

    # -- calls -------------------------------------------------------------------------------------------------

    def single(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Run one state: float64 inputs of the program's shapes, C-contiguous outputs to write to."""
        code = self.load("single")
        self._check((), inputs, outputs)
        inputs = [_contiguous(array) for array in inputs]
        table = self._table(*[address_of(array) for array in (*inputs, *outputs)])
        memory, address = self.workspace(code.workspace)
        start = ctypes.addressof(table)
        code.function(start, start + ctypes.sizeof(ctypes.c_void_p) * len(inputs), address)
        del memory

    def batch(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Run N states: float64 inputs (N, size) of any strides, C-contiguous outputs (N, size) to write to."""
        code = self.load("batch")
        self._check((len(outputs[0]),), inputs, outputs)
        descriptor: list[int] = []
        alive = []  # arrays that must live until the kernel is done
        for array in inputs:
            array, row, column = _strided(array)
            alive.append(array)
            descriptor += [address_of(array), row, column]
        for array, size in zip(outputs, self._sizes_out, strict=True):
            descriptor += [address_of(array), size]
        block = self._descriptor(*descriptor)
        states, lanes = len(outputs[0]), self.source.target.lanes
        stopped = threading.Event()

        def work(start: int, stop: int, keep: object = (alive, outputs)) -> None:
            memory, address = self.workspace(code.workspace)  # a reference, in case this thread replaces its workspace
            for first, last in Pace(code.operations, lanes).pieces(start, stop):
                if stopped.is_set():
                    return
                code.function(first, last, block, address)
            del memory, keep

        if states <= code.states_for_one_thread(lanes) or get_num_threads() == 1:
            work(0, states)
        else:
            useful_threads = int(code.operations * NANOSECONDS * (states / lanes) / WORTH_A_THREAD)
            run_ranges(work, states, lanes, useful_threads, stopped.set)

    def run(self, arguments: Sequence[tuple[Array, Shape]], batch: Shape, outputs: Sequence[Array]) -> None:
        """Run one state or all states of a batch. Each input (…, *core) comes with its core shape; outputs (*batch, …)
        are C-contiguous and do not overlap the inputs."""
        count = prod(batch)
        flat = [output.reshape(count, -1) for output in outputs]
        if batch == ():
            self.single([array.reshape(-1) for array, _ in arguments], flat)
        else:
            self.batch([flat_rows(array, batch, core) for array, core in arguments], flat)

    def _check(self, batch: tuple[int, ...], inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Raise unless all that the kernel reads and writes lies inside these arrays."""
        fits = all(array.shape == (*batch, size) for array, size in zip(inputs, self._sizes_in, strict=True))
        fits = fits and all(
            array.size == size * prod(batch) and array.flags.c_contiguous and array.flags.aligned
            for array, size in zip(outputs, self._sizes_out, strict=True)
        )
        if not fits or any(array.dtype.char != "d" for array in (*inputs, *outputs)):
            raise RuntimeError("arrays do not fit the compiled code")

    def workspace(self, size: int) -> tuple[Array, int]:
        """This thread's scratch memory of at least `size` bytes, and its first address that is a multiple of 64."""
        found: tuple[Array, int] | None = getattr(self._local, "memory", None)
        if found is None or len(found[0]) < size + 64:
            memory = np.empty(size + 64, dtype=np.uint8)
            found = self._local.memory = (memory, -(-address_of(memory) // 64) * 64)
        return found


def _slow_address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def _fast_address(array: Array) -> int:
    """The data pointer, read as the first field behind the object header: ten times faster than NumPy's interface."""
    return _pointer_at(id(array) + _HEADER).value or 0


def _fast_address_works() -> bool:
    """Whether arrays of this NumPy and this Python are laid out as `_fast_address` assumes."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    samples = [np.empty(n) for n in (1, 3, 1000)] + [np.empty((4, 5))[1:, ::2], np.empty((2, 3)).T[::-1]]
    return all(_fast_address(sample) == _slow_address(sample) for sample in samples)


_pointer_at = ctypes.c_void_p.from_address
_HEADER = object.__basicsize__
address_of = _fast_address if _fast_address_works() else _slow_address


def _contiguous(array: Array) -> Array:
    ready = array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative
    return array if ready else np.array(array, dtype=np.float64, order="C")


def _strided(array: Array) -> tuple[Array, int, int]:
    """The array (N, n), copied if the kernel cannot read its memory, and its strides in elements."""
    rows, columns = array.strides
    if rows % 8 or columns % 8 or not array.flags.aligned or not array.dtype.isnative:
        array = np.array(array, dtype=np.float64, order="C")
        rows, columns = array.strides
    return array, rows // 8, columns // 8
