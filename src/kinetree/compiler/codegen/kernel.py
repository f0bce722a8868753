"""A graph as LLVM functions: for one state, or for a block of states with one state per lane.

Both come from the same rules and differ only in the width of their types and in their addresses. One state: input k of
array j is at ``in_j[k]``, output k at ``out_j[k]``. A block: the lanes of input k are at ``in_j + k * stride_j``, those
of a result at its place in the block's workspace, which also holds the addresses of inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Self

from kinetree.base.lazy import lazy
from kinetree.compiler.codegen.column_loops import ColumnRegion, column_calls, emit_columns
from kinetree.compiler.codegen.elementary import atan2, by_library, function_name, library, sincos
from kinetree.compiler.codegen.ir import Lines, Width
from kinetree.compiler.codegen.operations import operation
from kinetree.compiler.codegen.prefetches import LINE, Prefetches
from kinetree.compiler.codegen.row_loops import SHORT, Region, emit_rows, length
from kinetree.compiler.codegen.tiles import piece_columns, read_columns
from kinetree.compiler.graph.column_program import ColumnProgram
from kinetree.compiler.graph.expr import BOOLEAN, SIGNATURES, Node
from kinetree.compiler.graph.passes.schedule import ANGULAR
from kinetree.compiler.graph.passes.split import Part
from kinetree.compiler.graph.row_program import needed_results
from kinetree.compiler.runtime.code import Layout

TABLE_ROW = 32
"""The size of a row of the table of inputs in bytes: four words."""
LONG_ROW = 50
"""The numbers of an input from which on a kernel of one part transposes it near its use, see `inputs_by_rows`: those of
five bodies, and more than positions of most robots."""


@dataclass(frozen=True)
class BlockSpace:
    """Byte offsets in the workspace of one block: a table of input addresses, slots of the kernel, packed inputs,
    results."""

    layout: Layout
    outputs: tuple[Node, ...]
    places: RowPlaces
    width: Width

    @property
    def slot(self) -> int:
        """The offset of the first slot, behind the table of inputs: address, stride, and of the lines that the next
        block reads the first and their distance."""
        return _aligned(TABLE_ROW * len(self.layout.inputs))

    def packed(self, j: int) -> int:
        """The offset of input j after transposition."""
        return self.slot + self.width.bytes * (self.places.end + sum(self.layout.inputs[:j]))

    @lazy
    def results(self) -> list[Node]:
        """The results with a place of their own: not entries of row programs, which stay in their region, and each
        only once, as zeros and both halves of a symmetric matrix."""
        return list(dict.fromkeys(node for node in self.outputs if node.op != "entry"))

    @property
    def result(self) -> int:
        """The offset of the first result with a place of its own."""
        return self.packed(len(self.layout.inputs))

    @lazy
    def result_offsets(self) -> list[list[int]]:
        """The offsets of the numbers of every output."""
        own = {node: self.result + self.width.bytes * k for k, node in enumerate(self.results)}
        numbers = iter(
            own[node] if node in own else self.slot + self.width.bytes * self.places.entry(node)
            for node in self.outputs
        )
        return [list(islice(numbers, n)) for n in self.layout.outputs]

    @property
    def size(self) -> int:
        return _aligned(self.result + self.width.bytes * len(self.results))


def _aligned(offset: int) -> int:
    return -(-offset // LINE) * LINE


def emit_single(
    name: str, parts: Sequence[Part], outputs: Sequence[Node], layout: Layout, wide: Width, places: RowPlaces
) -> str:
    """void name(inputs, outputs, workspace) for one state, where inputs and outputs are tables of addresses; sines,
    cosines and row programs are computed in vectors of width `wide`."""
    named = {f"%out{j}": size for j, size in enumerate(layout.outputs)}
    positions = output_positions(named, outputs, places, "%slots")
    emitter, b = _Emitter(layout, wide.one, wide, positions, places), Lines(wide)
    parameters = [f"%in{j}" for j in range(len(layout.inputs))] + [f"%out{j}" for j in range(len(layout.outputs))]
    given = [b.word("%inputs", j, "ptr") for j in range(len(layout.inputs))]
    given += [b.word("%outputs", j, "ptr") for j in range(len(layout.outputs))]
    texts = []
    for k, part in enumerate(parts):
        body = emitter.part(part, inputs=k == 0, constants=k == 0)
        texts.append(body.internal(f"{name}.part{k}", _pointers([*parameters, "%slots"])))
        b.add(f"call fastcc void @{name}.part{k}({_pointers([*given, '%slots'])})")
    entry = b.function(name, "ptr %inputs, ptr %outputs, ptr %slots")
    return "\n\n".join([*emitter.row_functions(), *texts, entry])


def _pointers(names: Sequence[str]) -> str:
    return ", ".join(f"ptr {name}" for name in names)


def inputs_by_rows(layout: Layout, parts: int) -> frozenset[int]:
    """Inputs that a second kernel reads by rows, as parameters of each state: vectors of lanes are made of them where
    they are used. Stores of transposed inputs, one in two cycles, would take a quarter of the time of a short kernel;
    a long one is not compiled twice."""
    return frozenset(j for j, size in enumerate(layout.inputs) if parts == 1 and size >= LONG_ROW)


def emit_block(name: str, parts: Sequence[Part], space: BlockSpace, prefetches: bool) -> str:
    """void name.partK(workspace) for every part, to be called in order for a block of states, and name.constants, to
    be called once before them. With `prefetches`, the parts prefetch the inputs of the next block, and name.by_rows
    reads the `inputs_by_rows`: the lanes of input k are at ``in_j + k + lane * stride_j``."""
    positions = output_positions({"%results": len(space.results)}, space.results, space.places, "%slots")
    emitter = _Emitter(space.layout, space.width, space.width, positions, space.places)
    operations = sum(len(part.nodes) for part in parts)
    if prefetches:
        emitter.prefetches = Prefetches(space.layout.inputs, space.width, operations)
    prologue = [f"  %slots = getelementptr i8, ptr %work, i64 {space.slot}"]
    for j in range(len(space.layout.inputs)):
        words = (("in", "ptr"), ("stride", "i64"), ("ahead", "ptr"), ("hop", "i64"))
        for k, (word, kind) in enumerate(words):  # LLVM removes unused ones
            prologue.append(f"  %{word}{j}.at = getelementptr i8, ptr %work, i64 {TABLE_ROW * j + 8 * k}")
            prologue.append(f"  %{word}{j} = load {kind}, ptr %{word}{j}.at, align 8")
    prologue.append(f"  %results = getelementptr i8, ptr %work, i64 {space.result}")
    bodies = {f"part{k}": emitter.part(part, inputs=k == 0) for k, part in enumerate(parts)}
    bodies["constants"] = emitter.part(Part([]), constants=True)
    if prefetches and (by_rows := inputs_by_rows(space.layout, len(parts))):
        emitter.prefetches, emitter.by_rows = Prefetches(space.layout.inputs, space.width, operations), by_rows
        bodies["by_rows"] = emitter.part(parts[0], inputs=True)
    texts = []
    for title, body in bodies.items():
        body.text[:0] = prologue
        texts.append(body.internal(f"{name}.{title}", "ptr %work"))
    return "\n\n".join([*emitter.row_functions(), *texts])


def _zero(width: Width) -> str:
    """A function that writes zeros. It replaces memset, so that the code has no external symbols."""
    b = Lines(width)
    _for_numbers(b, lambda real, k: b.store(real, "zeroinitializer", b.at("%to", k, width.element), width.size))
    return b.internal("kinetree.zero", "ptr %to, i64 %count")


def _copy(width: Width) -> str:
    """A function that copies numbers; it replaces memcpy."""
    b = Lines(width)

    def write(real: str, k: str) -> None:
        value = b.load(real, b.at("%from", k, width.element), width.size)
        b.store(real, value, b.at("%to", k, width.element), width.size)

    _for_numbers(b, write)
    return b.internal("kinetree.copy", "ptr %to, ptr %from, i64 %count")


def _for_numbers(b: Lines, write: Callable[[str, str], None]) -> None:
    """Write `count` numbers, eight at a time and then one at a time, by write(type, index)."""
    whole = b.i64("sub", "%count", b.i64("and", "%count", 7))
    with b.loop(0, 8, whole) as k:
        write(f"<8 x {b.width.element}>", k)
    with b.loop(whole, 1, "%count") as k:
        write(b.width.element, k)


@dataclass(frozen=True)
class RowPlaces:
    """The regions of the row programs of a kernel in its workspace, and the entries of their results that it uses."""

    first: dict[Node, int]
    """The first slot of each region."""
    regions: dict[Node, Region | ColumnRegion]
    results: dict[Node, list[int]]
    end: int
    """The number of all slots."""

    @classmethod
    def behind(cls, slots: int, parts: Sequence[Part], outputs: Sequence[Node], lanes: int) -> Self:
        """The places behind the slots of other values."""
        nodes = [node for part in parts for node in part.nodes]
        entries = {arg for node in nodes for arg in node.args if arg.op == "entry"}
        entries.update(node for node in outputs if node.op == "entry")
        results = needed_results([*nodes, *entries])
        first = {}
        regions = {
            node: (ColumnRegion if isinstance(node.value, ColumnProgram) else Region)(node.value, lanes)
            for node in results
        }
        for node, region in regions.items():
            first[node] = slots = -(-slots // 8) * 8
            slots += region.size
        return cls(first, regions, results, slots)

    def entry(self, node: Node) -> int:
        """The slot of an entry of a row program."""
        (rows,) = node.args
        return self.first[rows] + self.regions[rows].entry(node.value)


def elementary_functions(parts: Sequence[Part], widths: Sequence[Width]) -> str:
    """Definitions of the elementary functions that the parts call, in these widths."""
    used = {node.op for part in parts for node in part.nodes}
    texts = []
    for width in dict.fromkeys(widths):
        if used & {"sin", "cos"}:
            texts.append(sincos(width))
        if "atan2" in used:
            texts.append(atan2(width))
        texts += [by_library(name, width) for name in ("exp", "log", "tanh") if name in used]
    texts += [library(), _zero(widths[0]), *([_copy(widths[0])] if "rows" in used else [])]
    return "\n\n".join(texts)


def is_zero(node: Node) -> bool:
    """Whether this is the constant 0."""
    return node.op == "const" and node.value == 0.0


def output_positions(
    sizes: Mapping[str, int], outputs: Sequence[Node], places: RowPlaces, slots: str
) -> dict[Node, list[tuple[str, int]]]:
    """Where a node is stored besides its slot: in outputs, arrays of these names and sizes, and in regions of row
    programs that it is an operand of, in the array `slots`."""
    found: dict[Node, list[tuple[str, int]]] = {}
    numbers = iter(outputs)
    for base, size in sizes.items():
        for k in range(size):
            found.setdefault(next(numbers), []).append((base, k))
    for rows, region in places.regions.items():
        for arg, offset in zip(rows.args, region.operands(), strict=True):
            found.setdefault(arg, []).append((slots, places.first[rows] + offset))
    return found


def entry_runs(
    rows: Node, positions: Mapping[Node, list[tuple[str, int]]], places: RowPlaces
) -> dict[tuple[str, int], tuple[int, int]]:
    """Entries of a row program that are stored elsewhere, as runs: (array, first position) to (slot, count)."""
    copies = sorted(
        (base, k, places.entry(entry))
        for entry, found in positions.items()
        if entry.op == "entry" and entry.args[0] is rows
        for base, k in found
    )
    runs: dict[tuple[str, int], tuple[int, int]] = {}
    last: tuple[str, int] | None = None
    for base, to, source in copies:
        if last is not None and last[0] == base:
            start, count = runs[last]
            if (to, source) == (last[1] + count, start + count):
                runs[last] = start, count + 1
                continue
        last = base, to
        runs[last] = source, 1
    return runs


class _Emitter:
    """Writes the parts of a kernel, given the positions of its outputs."""

    def __init__(
        self, layout: Layout, width: Width, wide: Width, positions: dict[Node, list[tuple[str, int]]], places: RowPlaces
    ) -> None:
        self.layout = layout
        self.width = width
        self.wide = wide
        self.rows = places
        self.row_function: dict[tuple[Region | ColumnRegion, tuple[int, ...], tuple[tuple[int, float], ...]], str] = {}
        self.output_positions = positions
        self.starts = [sum(layout.inputs[:j]) for j in range(len(layout.inputs) + 1)]
        self.prefetches: Prefetches | None = None
        self.by_rows: frozenset[int] = frozenset()

    def part(self, part: Part, inputs: bool = False, constants: bool = False) -> Lines:
        """The body of one part, which also writes outputs that are `inputs` or `constants`."""
        self.lines = Lines(self.width)
        self.names: dict[Node, str] = {}
        self.pairs: dict[Node, tuple[str, str]] = {}
        self.addresses: dict[int, list[str]] = {}
        self.columns: dict[tuple[int, int], str] = {}
        self.loads = part.loads
        if constants:
            self._constant_outputs()
        if inputs:
            self._plain_outputs("input")
        for k, node in enumerate(part.nodes):
            if node.op == "rows":
                self._rows(node)
                continue
            if node.op in ANGULAR and node.args[0] not in self.pairs:
                self._angles(part.nodes[k:])
            self.names[node] = self._operation(node)
            if node in part.stores:
                self._store_slot(node, part.stores[node] * self.width.bytes)
            self._output(node)
            if self.prefetches is not None:
                self.prefetches.after_operation(self.lines)
        return self.lines

    def _constant_outputs(self) -> None:
        """Write zeros in one call, because a matrix may have thousands, and other constants one by one."""
        zeros = {base for node, positions in self.output_positions.items() if is_zero(node) for base, _ in positions}
        for j, size in enumerate(self.layout.outputs):
            if f"%out{j}" in zeros:
                self.lines.add(f"call fastcc void @kinetree.zero(ptr %out{j}, i64 {size * self.width.lanes})")
        for node, positions in self.output_positions.items():
            for base, k in positions if is_zero(node) else ():
                if base == "%results":
                    self._store(self.width.number(0.0), base, k * self.width.bytes)
        for rows, region in self.rows.regions.items():
            first = self.rows.first[rows]
            for start, size in region.cleared:
                pointer = self.lines.at("%slots", (first + start) * self.width.bytes)
                self.lines.add(f"call fastcc void @kinetree.zero(ptr {pointer}, i64 {size * self.width.lanes})")
            for one in region.ones:
                self._store(self.width.number(1.0), "%slots", (first + one) * self.width.bytes)
            if isinstance(region, ColumnRegion):
                for arg, offset in zip(rows.args, region.operands(), strict=True):
                    if is_zero(arg):
                        self._store(self.width.number(0.0), "%slots", (first + offset) * self.width.bytes)
        self._plain_outputs("const")

    def _plain_outputs(self, op: str) -> None:
        for node in self.output_positions:
            if node.op == op and not is_zero(node):
                self._output(node)

    def _output(self, node: Node) -> None:
        for base, k in self.output_positions.get(node, ()):
            self._store(self._value(node), base, k * self.width.bytes)

    # -- row programs ------------------------------------------------------------------------------------------

    def _rows(self, node: Node) -> None:
        """Run a row program on its region, and copy the entries of its results that are outputs."""
        region, first = self.rows.regions[node], self.rows.first[node]
        results = tuple(self.rows.results[node])
        known = tuple(
            (offset, float(arg.value))
            for arg, offset in zip(node.args, region.operands(), strict=True)
            if arg.op == "const"
        )
        name = self.row_function.setdefault((region, results, known), f"kinetree.rows{len(self.row_function)}")
        pointer = self.lines.at("%slots", first * self.width.bytes)
        if isinstance(region, ColumnRegion):
            for call in column_calls(name, region, pointer, self.width, self.wide):
                self.lines.add(call)
        else:
            self.lines.add(f"call fastcc void @{name}(ptr {pointer})")
        for (base, to), (start, count) in entry_runs(node, self.output_positions, places=self.rows).items():
            self._copy(base, to, start, count)

    def _copy(self, base: str, to: int, start: int, count: int) -> None:
        """Copy numbers from slots to an array: one state in vectors, of which the last may overlap that before."""
        size, lanes = self.width.bytes, self.wide.lanes
        if self.width.lanes > 1 and count > 1:
            target, source = self.lines.at(base, to * size), self.lines.at("%slots", start * size)
            self.lines.add(f"call fastcc void @kinetree.copy(ptr {target}, ptr {source}, i64 {count * lanes})")
        elif count == 1:
            self._store(self._load("%slots", start * size), base, to * size)
        else:
            piece = replace(self.wide, lanes=min(lanes, 1 << count.bit_length() - 1))
            for k in (*range(0, count - piece.lanes, piece.lanes), count - piece.lanes):
                there, here = self.lines.at("%slots", (start + k) * size), self.lines.at(base, (to + k) * size)
                self.lines.store(piece.real, self.lines.load(piece.real, there, piece.size), here, piece.size)

    def row_functions(self) -> list[str]:
        """The functions of all row programs that were emitted."""
        columns = self.wide.lanes if self.width.lanes == 1 else 1
        lengths = [
            length(region, results, columns) for region, results, _ in self.row_function if isinstance(region, Region)
        ]
        straight = sum(lengths) <= SHORT
        return [
            emit_columns(name, region, results, self.width, self.wide)
            if isinstance(region, ColumnRegion)
            else emit_rows(name, region, {**region.zeros(), **dict(known)}, results, self.width, self.wide, straight)
            for (region, results, known), name in self.row_function.items()
        ]

    # -- operands ----------------------------------------------------------------------------------------------

    def _value(self, node: Node) -> str:
        name = self.names.get(node)
        if name is None:
            name = self.names[node] = self._load_slot(node) if node in self.loads else self._leaf(node)
        return name

    def _store_slot(self, node: Node, offset: int) -> None:
        """Store a value in the workspace; a boolean as 1 or 0."""
        value = self.names[node]
        if SIGNATURES[node.op][1] == BOOLEAN:
            value = self.lines.select(value, self.width.number(1.0), self.width.number(0.0))
        self._store(value, "%slots", offset)

    def _load_slot(self, node: Node) -> str:
        value = self._load("%slots", self.loads[node] * self.width.bytes)
        if SIGNATURES[node.op][1] == BOOLEAN:
            value = self.lines.compare("one", value, self.width.number(0.0))
        return value

    def _leaf(self, node: Node) -> str:
        if node.op == "const":
            return self.width.number(float(node.value))
        if node.op == "entry":
            return self._load("%slots", self.rows.entry(node) * self.width.bytes)
        if node.op in ("true", "false"):
            return node.op if self.width.lanes == 1 else f"splat (i1 {node.op})"
        assert node.op == "input", f"{node.op} is used before it is computed"
        position = int(node.value)
        j = next(j for j, start in enumerate(self.starts[1:]) if position < start)
        k = position - self.starts[j]
        if self.width.lanes == 1:
            return self._load(f"%in{j}", self.width.size * k)
        if j in self.by_rows:
            return self._column(j, k)
        return self.lines.load(self.width.real, self._strided(j, k), self.width.size)

    def _strided(self, j: int, k: int) -> str:
        """The address of column k of input j, or of row k if it is read by rows."""
        return self.lines.at(f"%in{j}", self.lines.i64("mul", f"%stride{j}", k), self.width.element)

    def _column(self, j: int, k: int) -> str:
        """The lanes of column k of input j, read by rows together with the columns beside it."""
        if (j, k) not in self.columns:
            first = k - k % piece_columns(self.width)
            if j not in self.addresses:
                self.addresses[j] = [self._strided(j, lane) for lane in range(self.width.lanes)]
            columns = read_columns(self.lines, self.addresses[j], first, self.layout.inputs[j])
            self.columns.update({(j, first + i): column for i, column in enumerate(columns)})
        return self.columns[j, k]

    def _load(self, base: str, offset: int) -> str:
        return self.lines.load(self.width.real, self.lines.at(base, offset), self.width.size)

    def _store(self, value: str, base: str, offset: int) -> None:
        self.lines.store(self.width.real, value, self.lines.at(base, offset), self.width.size)

    # -- operations --------------------------------------------------------------------------------------------

    def _operation(self, node: Node) -> str:
        if node.op in ANGULAR:
            return self.pairs[node.args[0]][node.op == "cos"]
        return operation(self.lines, node.op, [self._value(arg) for arg in node.args])

    # -- sines and cosines -------------------------------------------------------------------------------------

    def _angles(self, nodes: Sequence[Node]) -> None:
        """Compute sine and cosine of all angles in the run of sines and cosines that `nodes` begins with.

        A vector kernel computes them one by one, because every value is already a vector; a kernel for one state
        computes as many at a time as the CPU has lanes.
        """
        run: dict[Node, None] = {}
        for node in nodes:
            if node.op not in ANGULAR or node.args[0] in run:
                break
            run[node] = None
        angles = list(dict.fromkeys(node.args[0] for node in run))
        if self.width.lanes > 1 or len(angles) == 1:
            for angle in angles:
                self.pairs[angle] = self._sincos(self.width, self._value(angle))
            return
        wide = self.wide
        for start in range(0, len(angles), wide.lanes):
            group = angles[start : start + wide.lanes]
            vector = "zeroinitializer"
            for lane, angle in enumerate(group):
                value = f"{wide.element} {self._value(angle)}"
                vector = self.lines.let(f"insertelement {wide.real} {vector}, {value}, i64 {lane}")
            results = self._sincos(wide, vector)
            pointers = [self.lines.let(f"alloca {wide.real}, align {wide.bytes}") for _ in results]
            for result, pointer in zip(results, pointers, strict=True):
                self.lines.store(wide.real, result, pointer, wide.bytes)
            for lane, angle in enumerate(group):
                sine, cosine = (self._load(pointer, wide.size * lane) for pointer in pointers)
                self.pairs[angle] = (sine, cosine)

    def _sincos(self, width: Width, value: str) -> tuple[str, str]:
        pair = f"{{{width.real}, {width.real}}}"
        both = self.lines.let(f"call fastcc {pair} {function_name('sincos', width)}({width.real} {value})")
        sine, cosine = (self.lines.let(f"extractvalue {pair} {both}, {k}") for k in (0, 1))
        return sine, cosine
