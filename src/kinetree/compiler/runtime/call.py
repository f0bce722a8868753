"""Calls of kernels on NumPy arrays, whose shapes and types are checked before their pointers are passed on.

One state runs the scalar kernel. A batch runs the vector kernel in blocks of lanes, on several threads if it is large.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from kinetree.compiler.runtime.code import BATCH, LOOP, SINGLE, Code, Kind, Source
from kinetree.compiler.runtime.jit import LoadedCode, made_once
from kinetree.compiler.runtime.pace import AT_ONCE, NANOSECONDS, Pace
from kinetree.compiler.runtime.target import Target
from kinetree.compiler.runtime.threads import get_num_threads, run_ranges
from kinetree.ops import Array

BLOCK = 512
"""Rows that are copied at a time, where they are scattered: a multiple of all numbers of lanes."""
FEW = 4096
"""States up to which scattered rows are copied at once, which takes less than many calls of the kernel."""
SPAN = 32
"""Rows from which on a call for them alone takes no longer than to copy them."""
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


class ScatteredRows:
    """(*batch, *core) as rows (N, n) that no pair of strides describes: those of several batch axes, or of matrices.

    Rows along the last `inner` batch axes are as far apart as `row` says [numbers], and their numbers as `column` says;
    without such axes rows are copied.
    """

    def __init__(self, array: Array, batch: Shape, core: Shape) -> None:
        self.array, self.batch, self.dtype = array, batch, array.dtype
        self.shape = (prod(batch), prod(core))
        self.inner, self.row, self.column = 0, self.shape[1], 1
        size = array.itemsize
        column = _one_stride(core, array.strides[len(batch) :], size)
        whole = not any(stride % size for stride in array.strides)
        if column is not None and whole and array.flags.aligned and array.dtype.isnative:
            self.column = column // size
            while self.inner < len(batch):
                part = slice(len(batch) - self.inner - 1, len(batch))
                row = _one_stride(batch[part], array.strides[part], size)
                if row is None:
                    break
                self.inner, self.row = self.inner + 1, row // size

    def address(self, outer: int, axes: int) -> int:
        """That of the first row of those along the last axes, for an index of the others."""
        place, strides = address_of(self.array), self.array.strides
        for axis in reversed(range(len(self.batch) - axes)):
            outer, index = divmod(outer, self.batch[axis])
            place += index * strides[axis]
        return place

    def copied(self) -> Array:
        """All rows, copied one behind the other."""
        return np.ascontiguousarray(self.array, dtype=self.dtype.newbyteorder("=")).reshape(self.shape)

    def block(self, start: int, stop: int) -> Array:
        """Rows copied one behind the other."""
        rows = self.array[np.unravel_index(np.arange(start, stop), self.batch)]
        return np.ascontiguousarray(rows, dtype=self.dtype.newbyteorder("=")).reshape(stop - start, -1)


def flat_rows(array: Array, batch: Shape, core: Shape) -> Array | ScatteredRows:
    """(…, *core) broadcast to (*batch, *core), as rows (N, n), without a copy."""
    if array.shape != batch + core:
        array = np.broadcast_to(array, batch + core)
    if array.ndim == 2 and len(core) == 1:
        return array
    parts = np.s_[: len(batch), len(batch) :]
    row, column = (_one_stride(array.shape[part], array.strides[part], array.itemsize) for part in parts)
    if row is None or column is None:
        return ScatteredRows(array, batch, core)
    return as_strided(array, (prod(batch), prod(core)), (row, column), writeable=False)


def _one_stride(shape: Shape, strides: Shape, size: int) -> int | None:
    """The distance from number to number along several axes in C order; None if it is not always the same."""
    axes = [(length, stride) for length, stride in zip(shape, strides, strict=True) if length != 1]
    for (_, outer), (length, inner) in pairwise(axes):
        if outer != length * inner:
            return None
    return axes[-1][1] if axes else size


class Kernel:
    """A compiled function; machine code of each kind is made on its first use."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._sizes_in = source.layout.inputs
        self._sizes_out = source.layout.outputs
        self.dtype = source.target.dtype
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
        return self._loaded.get(kind) or made_once(self._loaded, kind, lambda: self._made(kind))

    def _made(self, kind: Kind) -> Loaded:
        return Loaded(kind, self.source.code(kind), self.source.target)

    # -- calls -------------------------------------------------------------------------------------------------

    def single(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Run one state: inputs of the program's shapes and dtype, C-contiguous outputs to write to."""
        code = self.load("single")
        self._check((), inputs, outputs)
        inputs = [_contiguous(array, self.dtype) for array in inputs]
        table = self._table(*[address_of(array) for array in (*inputs, *outputs)])
        memory, address = self.workspace(code.workspace)
        start = ctypes.addressof(table)
        code.function(start, start + ctypes.sizeof(ctypes.c_void_p) * len(inputs), address)
        del memory

    def batch(self, inputs: Sequence[Array | ScatteredRows], outputs: Sequence[Array]) -> None:
        """Run N states: inputs (N, size) of any strides or scattered, C-contiguous outputs (N, size)."""
        code = self.load("batch")
        self._check((len(outputs[0]),), inputs, outputs)
        descriptor: list[int] = []
        alive = []  # arrays that must live until the kernel is done
        scattered = []
        for k, array in enumerate(inputs):
            if isinstance(array, ScatteredRows):
                scattered.append((3 * k, array))
                descriptor += [0, array.row, array.column]
            else:
                array, row, column = _strided(array, self.dtype)
                alive.append(array)
                descriptor += [address_of(array), row, column]
        for array, size in zip(outputs, self._sizes_out, strict=True):
            descriptor += [address_of(array), size]
        block = self._descriptor(*descriptor)
        states, lanes, width = len(outputs[0]), self.source.target.lanes, self.dtype.itemsize
        stopped: list[bool] = []

        def work(start: int, stop: int, keep: object = (alive, outputs)) -> None:
            memory, address = self.workspace(code.workspace)  # a reference, in case this thread replaces its workspace
            for first, last in Pace(code.operations, lanes).pieces(start, stop):
                if stopped:
                    return
                if scattered:
                    piecewise(first, last, address)
                else:
                    code.function(first, last, block, address)
            del memory, keep

        def in_spans(start: int, stop: int, address: int) -> None:
            """Rows that are strided along some axes, one call for each index of the others."""
            mine = self._descriptor(*descriptor)
            while start < stop:
                outer, done = divmod(start, length)
                end = min(stop, start + length - done)
                for place, rows in scattered:
                    mine[place] = rows.address(outer, axes) - width * rows.row * (start - done)
                code.function(start, end, mine, address)
                start = end

        def in_blocks(start: int, stop: int, address: int) -> None:
            """Rows that are copied, some at a time."""
            mine = self._descriptor(*descriptor)
            for first in range(start, stop, BLOCK):
                last = min(first + BLOCK, stop)
                copies = [rows.block(first, last) for _, rows in scattered]
                for (place, _), copy in zip(scattered, copies, strict=True):
                    mine[place : place + 3] = [address_of(copy) - width * first * copy.shape[1], copy.shape[1], 1]
                code.function(first, last, mine, address)

        axes = min((rows.inner for _, rows in scattered), default=0)
        length = prod(scattered[0][1].batch[-axes:]) if axes else 1
        piecewise = in_spans if length >= SPAN else in_blocks

        if states <= code.states_for_one_thread(lanes) or get_num_threads() == 1:
            work(0, states)
        else:
            useful_threads = int(code.operations * NANOSECONDS * (states / lanes) / WORTH_A_THREAD)
            run_ranges(work, states, lanes, useful_threads, partial(stopped.append, True))

    def run(self, arguments: Sequence[tuple[Array, Shape]], batch: Shape, outputs: Sequence[Array]) -> None:
        """Run one state or all states of a batch. Each input (…, *core) comes with its core shape; outputs (*batch, …)
        are C-contiguous and do not overlap the inputs."""
        count = prod(batch)
        flat = [output.reshape(count, -1) for output in outputs]
        if batch == ():
            self.single([array.reshape(-1) for array, _ in arguments], flat)
        else:
            rows = [flat_rows(array, batch, core) for array, core in arguments]
            if count <= FEW:
                rows = [array.copied() if isinstance(array, ScatteredRows) else array for array in rows]
            self.batch(rows, flat)

    def _check(self, batch: tuple[int, ...], inputs: Sequence[Array | ScatteredRows], outputs: Sequence[Array]) -> None:
        """Raise unless all that the kernel reads and writes lies inside these arrays."""
        fits = all(array.shape == (*batch, size) for array, size in zip(inputs, self._sizes_in, strict=True))
        fits = fits and all(
            array.size == size * prod(batch) and array.flags.c_contiguous and array.flags.aligned
            for array, size in zip(outputs, self._sizes_out, strict=True)
        )
        if not fits or any(array.dtype.char != self.dtype.char for array in (*inputs, *outputs)):
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
    if sys.implementation.name != "cpython":
        return False
    samples = [np.empty(n) for n in (1, 3, 1000)] + [np.empty((4, 5))[1:, ::2], np.empty((2, 3)).T[::-1]]
    return all(_fast_address(sample) == _slow_address(sample) for sample in samples)


_pointer_at = ctypes.c_void_p.from_address
_HEADER = object.__basicsize__
address_of = _fast_address if _fast_address_works() else _slow_address


def _contiguous(array: Array, dtype: np.dtype[Any]) -> Array:
    ready = array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative
    return array if ready else np.array(array, dtype=dtype, order="C")


def _strided(array: Array, dtype: np.dtype[Any]) -> tuple[Array, int, int]:
    """The array (N, n), copied if the kernel cannot read its memory, and its strides in elements."""
    rows, columns = array.strides
    size = dtype.itemsize
    if rows % size or columns % size or not array.flags.aligned or not array.dtype.isnative:
        array = np.array(array, dtype=dtype, order="C")
        rows, columns = array.strides
    return array, rows // size, columns // size
