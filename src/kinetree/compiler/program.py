"""A traced and simplified function, and its LLVM assembly for one state, for a batch and for many steps."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from kinetree.base.deferred_signals import no_collection
from kinetree.base.lazy import lazy
from kinetree.base.progress import announced
from kinetree.compiler.codegen.batch import BLOCK, emit_batch
from kinetree.compiler.codegen.kernel import BlockSpace, RowPlaces, elementary_functions, emit_block, emit_single
from kinetree.compiler.codegen.step_loop import emit_step_loop
from kinetree.compiler.graph.column_program import ColumnProgram
from kinetree.compiler.graph.expr import Node, array_operations_if, interned, new_table
from kinetree.compiler.graph.graph import Graph, rebuilt
from kinetree.compiler.graph.passes.expand import expand, is_expandable
from kinetree.compiler.graph.passes.factor import factor
from kinetree.compiler.graph.passes.fuse import fuse
from kinetree.compiler.graph.passes.schedule import schedule
from kinetree.compiler.graph.passes.spec import check
from kinetree.compiler.graph.passes.split import Part, split
from kinetree.compiler.graph.trace import trace
from kinetree.compiler.runtime.code import SINGLE, Code, Kind, Layout, LoopCarry
from kinetree.compiler.runtime.jit import compile_object
from kinetree.compiler.runtime.target import Target
from kinetree.compiler.runtime.threads import get_num_threads

SECONDS_PER_OPERATION = 5e-5
"""The time that LLVM takes for one operation of straight-line code, about."""
SHORT = 4_500
"""Operations up to which scalar code for one state is as fast as vectors over bodies: it leaves zeros out, and the
instruction cache holds most of it."""
VERY_LONG = 20_000
"""The number of operations from which on one form of a graph is taken through all passes, not two."""


@dataclass(frozen=True)
class Program:
    """The operations of a function in order, cut into parts, with its inputs and outputs."""

    target: Target
    parts: tuple[Part, ...]
    outputs: tuple[Node, ...]
    values: int
    """Slots of the workspace for values that pass between parts."""
    input_shapes: tuple[tuple[int, ...], ...]
    output_shapes: tuple[tuple[int, ...], ...]
    counts: Counter[str]
    name: str = "a function"
    graph: Graph | None = None
    carry: LoopCarry | None = None
    """How one step feeds the next, for a program that runs in a step loop."""

    @property
    def layout(self) -> Layout:
        return Layout(tuple(map(prod, self.input_shapes)), tuple(map(prod, self.output_shapes)))

    @lazy
    def rows(self) -> RowPlaces:
        """The places of row programs in the workspace."""
        return RowPlaces.behind(self.values, self.parts, self.outputs, self.target.width.lanes)

    @property
    def slots(self) -> int:
        """All slots of the workspace."""
        return self.rows.end

    @property
    def space(self) -> BlockSpace:
        return BlockSpace(self.layout, tuple(self.outputs), self.rows, self.target.width)

    @lazy
    def digest(self) -> str:
        """A hash of all that the code depends on: equal programs have equal digests, in every process."""
        header = (self.target, self.input_shapes, self.output_shapes, len(self.parts), self.carry)
        state = hashlib.sha256(repr(header).encode())
        position: dict[Node, int] = {}
        for node in (*(node for part in self.parts for node in part.nodes), *self.outputs):
            for leaf in (*node.args, node):
                if leaf not in position:
                    position[leaf] = len(position)
                    value = repr(leaf.value) if leaf.op == "rows" else float(leaf.value).hex()
                    state.update(repr((leaf.op, [position[arg] for arg in leaf.args], value)).encode())
            state.update(b"%d;" % position[node])
        return state.hexdigest()

    @property
    def operations(self) -> int:
        return self.counts.total()

    def single_assembly(self) -> str:
        """The module for one state."""
        wide = self.target.width
        kernel = emit_single(SINGLE, self.parts, self.outputs, self.layout, wide, self.rows)
        return f"{elementary_functions(self.parts, (wide.one, wide))}\n\n{kernel}\n"

    @lazy
    def of_blocks(self) -> Program:
        """The same program for blocks of states, without column programs and products of pairs."""
        graph = self.graph
        if graph is None or not any(map(is_expandable, graph.nodes())):
            return self
        with new_table(), no_collection():
            graph = expand(graph, self.target.fuses)
            parts, slots = split(schedule(graph), outputs=graph.outputs)
        return replace(self, parts=tuple(parts), outputs=graph.outputs, values=slots, graph=graph)

    def batch_assembly(self) -> str:
        """The module for a batch."""
        program = self.of_blocks
        return program._blocks(emit_batch(program.space, len(program.parts)), prefetches=True)

    def loop_assembly(self) -> str:
        """The module for many steps of a batch."""
        assert self.carry is not None
        program = self.of_blocks
        loop = emit_step_loop(program.space, len(program.parts), self.carry)
        return program._blocks(loop, prefetches=False)

    def _blocks(self, loop: str, prefetches: bool) -> str:
        """The module of a loop over blocks of states."""
        kernel = emit_block(BLOCK, self.parts, self.space, prefetches)
        return f"{elementary_functions(self.parts, (self.target.width,))}\n\n{kernel}\n\n{loop}\n"

    def code(self, kind: Kind) -> Code:
        """Compile the module for one state, for a batch, or for many steps of a batch."""
        if kind == "single":
            text, workspace = self.single_assembly(), self.single_workspace()
        else:
            text = self.batch_assembly() if kind == "batch" else self.loop_assembly()
            workspace = self.batch_workspace()
        seconds = SECONDS_PER_OPERATION * sum(len(part.nodes) for part in self.parts)
        with announced(f"compiling {self.name}, {self.operations:,} operations", seconds):
            return Code(compile_object(text, self.target, get_num_threads()), self.operations, workspace)

    def single_workspace(self) -> int:
        """Bytes that kinetree_single needs."""
        return self.target.width.one.bytes * self.slots

    def batch_workspace(self) -> int:
        """Bytes that kinetree_batch and kinetree_loop need."""
        return self.of_blocks.space.size


def build(
    function: Callable[..., Any], shapes: Sequence[tuple[int, ...]], target: Target, name: str = "a function"
) -> Program:
    """The program of a function of arrays with these shapes: traced, simplified, scheduled and split."""
    with (
        new_table(),
        array_operations_if(True),
        no_collection(),
    ):  # a graph has no cycles; looking for them takes a third of the time
        graph, output_shapes = trace(function, shapes)
        graph = straightened(simplified(graph, target.fuses), target.fuses)
        parts, slots = split(schedule(graph), outputs=graph.outputs)
    shapes, counts = tuple(shapes), graph.counts()
    return Program(target, tuple(parts), graph.outputs, slots, shapes, tuple(output_shapes), counts, name, graph)


def simplified(graph: Graph, fuses: bool) -> Graph:
    """The cheaper of the graph and its factored form, with multiply-adds fused if the CPU has them; of very long graphs
    the one that is cheaper before that."""
    if any(isinstance(node.value, ColumnProgram) for node in graph.nodes()):
        graph = graph.mapped(lambda node, args: _simplified_columns(node, args, fuses))
    candidates = [graph]
    factored = factor(graph)
    if factored.operations() < graph.operations():
        candidates = [factored] if graph.operations() > VERY_LONG else [graph, factored]
    if fuses:
        candidates = [fuse(candidate) for candidate in candidates]
    return check(min(candidates, key=Graph.operations), fused=fuses)


def straightened(graph: Graph, fuses: bool) -> Graph:
    """The graph without column programs and products of pairs, if it is then short."""
    if graph.operations() > 2 * SHORT or not any(map(is_expandable, graph.nodes())):
        return graph
    with new_table():
        expanded = expand(graph, fuses)
    return expanded if expanded.operations() <= SHORT else graph


def _simplified_columns(node: Node, args: tuple[Node, ...], fuses: bool) -> Node:
    """A node on new operands; a column program in its simplest form."""
    if not isinstance(node.value, ColumnProgram):
        return rebuilt(node, args)
    return interned("rows", args, node.value.changed(lambda graph: simplified(graph, fuses), schedule))
