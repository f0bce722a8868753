"""Kernels that run one after the other in one native call and pass their results on in memory.

Each stage has the signature of a kernel for one state, ``stage(inputs, outputs, workspace)`` with tables of addresses.
Its last output is a status. A status other than 0.0 ends the chain and becomes the status of the chain.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kinetree.compiler.codegen.ir import ONE, Lines, imported
from kinetree.compiler.runtime.call import WORTH_A_THREAD, Kernel, Loaded, ScatteredRows
from kinetree.compiler.runtime.code import SINGLE, Code, Kind, Layout
from kinetree.compiler.runtime.jit import LoadedCode, host
from kinetree.compiler.runtime.pace import NANOSECONDS
from kinetree.compiler.runtime.single_state_loop import run_rows
from kinetree.compiler.runtime.stored import stored_object
from kinetree.compiler.runtime.strided_view import StridedView
from kinetree.compiler.runtime.target import Target
from kinetree.compiler.runtime.threads import get_num_threads, run_ranges
from kinetree.ops import Array

_CONNECT = "chain_connect"
_LINE = 64


class Argument(NamedTuple):
    """An argument of the chain."""

    position: int


class Result(NamedTuple):
    """A result of the chain."""

    position: int


class Buffer(NamedTuple):
    """Memory of `size` numbers between stages; buffers with equal names are the same memory."""

    name: str
    size: int


class Numbers(NamedTuple):
    """Constants."""

    values: tuple[float, ...]


Operand: TypeAlias = Argument | Result | Buffer | Numbers


@dataclass(frozen=True)
class Stage:
    """A kernel, the operands that it reads and those that it writes."""

    code: Loaded
    workspace: int
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    """The status follows these."""
    source: Any = None
    """What it was made from, for exporters: a law, or a solver with its sizes."""


class _LoadedChain:
    """Machine code of a chain, linked to its stages."""

    def __init__(self, stages: Sequence[Stage], results: int, target: Target) -> None:
        text, self.workspace = _assembly(stages, results)
        self.memory = LoadedCode(stored_object(f"chain {text}", lambda: text, target), target, library=False)
        self.stages = tuple(stages)
        addresses = (ctypes.c_void_p * len(stages))(*(stage.code.address for stage in stages))
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.memory.address(_CONNECT))(addresses)
        self.address = self.memory.address(SINGLE)
        self.function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(self.address)
        self.operations = sum(stage.code.operations for stage in stages)


@dataclass(frozen=True)
class _ChainSource:
    """The layout and target of a chain, which has no code of its own."""

    layout: Layout
    target: Target

    def code(self, kind: Kind) -> Code:
        raise RuntimeError("a chain has no code for batches")


class Chain(Kernel):
    """Stages behind one call. `layout` describes the whole chain; its last output is the status."""

    def __init__(self, stages: Sequence[Stage], layout: Layout) -> None:
        super().__init__(_ChainSource(layout, host()))
        self.stages = tuple(stages)

    def _made(self, kind: Kind) -> Any:
        if kind != "single":
            return super()._made(kind)  # which raises
        return _LoadedChain(self.stages, len(self.source.layout.outputs) - 1, self.source.target)

    def batch(self, inputs: Sequence[Array | ScatteredRows], outputs: Sequence[Array]) -> None:
        """Run N states: float64 inputs (N, size) of any strides or scattered, C-contiguous outputs (N, size)."""
        whole = [array.block(0, len(outputs[0])) if isinstance(array, ScatteredRows) else array for array in inputs]
        rows = [array[0] if array.strides[0] == 0 else array for array in whole]  # broadcast inputs
        self.states([np.ascontiguousarray(array) for array in rows], outputs)

    def states(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Run N states, on several threads if that pays. Inputs have shape (N, size), or (size,) if all states share
        them; outputs have shape (N, size). All are C-contiguous."""
        count, stopped = len(outputs[0]), threading.Event()

        def work(start: int, stop: int) -> None:
            views = [_rows(array, start, stop) for array in (*inputs, *outputs)]
            run_rows(self, views[: len(inputs)], views[len(inputs) :], stop - start, stopped.is_set)

        pieces = int(count * self.load("single").operations * NANOSECONDS / WORTH_A_THREAD)
        if count and (pieces < 2 or get_num_threads() == 1):
            work(0, count)
        elif count:
            run_ranges(work, count, 1, pieces, stopped.set)


def _rows(array: Array, start: int, stop: int) -> StridedView:
    """A view whose steps are the rows start … stop of a matrix; a vector is the same at every step."""
    if array.ndim == 1:
        return StridedView(array[None], array[None], 0)
    rows = array[start:stop]
    return StridedView(rows[None], rows[None, 0], rows.strides[0])


def _assembly(stages: Sequence[Stage], results: int) -> tuple[str, int]:
    """The module of the chain, and the size of its workspace in bytes."""
    buffers: dict[Operand, int] = {}
    end = 0
    for stage in stages:
        for place in (*stage.inputs, *stage.outputs):
            if isinstance(place, Buffer | Numbers) and place not in buffers:
                size = place.size if isinstance(place, Buffer) else len(place.values)
                buffers[place] = end
                end += -(-8 * max(1, size) // _LINE) * _LINE
    tables = end
    longest = max(len(stage.inputs) + len(stage.outputs) + 1 for stage in stages)
    scratch = tables + -(-8 * longest // _LINE) * _LINE
    b = Lines(ONE)
    for place, offset in buffers.items():
        for k, number in enumerate(place.values if isinstance(place, Numbers) else ()):
            b.store("double", ONE.number(number), b.at("%work", offset + 8 * k))
    for s, stage in enumerate(stages):
        _stage(b, s, stage, buffers, tables, scratch, results)
    connect = imported([f"stage{s}" for s in range(len(stages))], _CONNECT)
    text = f"{connect}\n{b.function(SINGLE, 'ptr %in, ptr %out, ptr %work')}"
    return text, scratch + max(stage.workspace for stage in stages)


def _stage(
    b: Lines, s: int, stage: Stage, buffers: dict[Operand, int], tables: int, scratch: int, results: int
) -> None:
    """Fill the tables of one stage, call it, and return if its status is not zero."""
    address = ""
    for k, place in enumerate((*stage.inputs, *stage.outputs, Result(results))):
        if isinstance(place, Argument | Result):
            address = b.word("%in" if isinstance(place, Argument) else "%out", place.position, "ptr")
        else:
            address = b.at("%work", buffers[place])
        b.store("ptr", address, b.at("%work", tables + 8 * k))
    given = [b.at("%work", offset) for offset in (tables, tables + 8 * len(stage.inputs), scratch)]
    b.add(f"call void {b.load('ptr', f'@stage{s}')}({', '.join(f'ptr {pointer}' for pointer in given)})")
    well = b.compare("oeq", b.load("double", address), "0.0")
    b.add(f"br i1 {well}, label %after{s}, label %bad{s}")
    b.label(f"bad{s}")
    b.add("ret void")
    b.label(f"after{s}")
