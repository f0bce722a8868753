"""A program as C99: a static function for every part, and one that calls them in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from kinetree.compiler.codegen.c.elementary import Real
from kinetree.compiler.codegen.column_loops import ColumnRegion
from kinetree.compiler.codegen.kernel import RowPlaces, entry_runs, is_zero, output_positions
from kinetree.compiler.codegen.operations import FUSED
from kinetree.compiler.codegen.row_loops import SHORT, Region, TileStep, row_tiles
from kinetree.compiler.graph.expr import BOOLEAN, SIGNATURES, Node
from kinetree.compiler.graph.passes.schedule import ANGULAR
from kinetree.compiler.graph.passes.split import Part

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "less": "<", "less_equal": "<=", "equal": "=="}
INFIX |= {"logical_and": "&&", "logical_or": "||"}
COLUMNS = 8
"""Columns of row programs that are computed at a time: compilers make vectors of such loops."""
WORKSPACE = "w"


@dataclass
class Kernel:
    """The text of a function `name` of these arguments, which writes these results; all are arrays of numbers."""

    prefix: str
    name: str
    program: Any
    arguments: Sequence[str]
    results: Sequence[str]
    real: Real
    used: set[str] = field(default_factory=set)
    """Operations that need a definition: those of `elementary`, "zero" and "copy"."""

    def __post_init__(self) -> None:
        layout = self.program.layout
        self.places: RowPlaces = self.program.rows
        self.starts = [sum(layout.inputs[:j]) for j in range(len(layout.inputs) + 1)]
        self.sizes = dict(zip(self.results, layout.outputs, strict=True))
        self.output_positions = output_positions(self.sizes, self.program.outputs, self.places, WORKSPACE)

    @property
    def slots(self) -> int:
        """Numbers of the workspace."""
        return self.program.slots

    def text(self) -> str:
        """Static functions: one for each part, and `static void name(arguments, results[, w])`, which calls them."""
        texts, calls = [], []
        pieces = [piece for k, part in enumerate(self.program.parts) for piece in self._part(part, first=k == 0)]
        straight = "STRAIGHT " if len(pieces) > 1 and not any("int k;" in body for body, _ in pieces) else ""
        for k, (body, bases) in enumerate(pieces):
            listed = ", ".join(self._parameter(base) for base in bases)
            attribute = "VECTORIZE " if "int k;" in body else straight
            texts.append(f"{attribute}static void {self.name}_{k}({listed or 'void'})\n{{\n{body}\n}}")
            calls.append(f"    {self.name}_{k}({', '.join(bases)});")
        return "\n\n".join([*texts, f"{self.head}\n{{\n" + "\n".join([*self._unused(calls), *calls]) + "\n}"])

    @property
    def head(self) -> str:
        """The declaration of the function."""
        names = [*self.arguments, *self.results, *[WORKSPACE] * bool(self.slots)]
        return f"static void {self.name}({', '.join(map(self._parameter, names)) or 'void'})"

    def _unused(self, calls: Sequence[str]) -> list[str]:
        """Statements for parameters that no part takes."""
        given = {base.strip() for call in calls for base in call.partition("(")[2].rstrip(");").split(",")}
        return [f"    (void){name};" for name in (*self.arguments, *self.results) if name not in given]

    def _parameter(self, base: str) -> str:
        return f"{'const ' * (base in self.arguments)}{self.real.name} *restrict {base}"

    # -- one part ----------------------------------------------------------------------------------------------

    def _part(self, part: Part, first: bool) -> list[tuple[str, list[str]]]:
        """The bodies of the functions of a part, and the arrays that each takes."""
        self.lines: list[str] = []
        self.bases: set[str] = set()
        self.pieces: list[tuple[str, list[str]]] = []
        self.names: dict[Node, str] = {}
        self.pairs: dict[Node, tuple[str, str]] = {}
        self.loads, self.count, self.tables = part.loads, 0, 0
        if first:
            self._plain_outputs()
        for k, node in enumerate(part.nodes):
            if node.op == "rows":
                self._rows(node)
                continue
            if node.op in ANGULAR and node.args[0] not in self.pairs:
                self._angles(part.nodes[k:])
            if node.op in ANGULAR:
                self.names[node] = self.pairs[node.args[0]][node.op == "cos"]
            else:
                self.names[node] = self._let(self._operation(node), node)
            if node in part.stores:
                self._store(WORKSPACE, part.stores[node], self.names[node])
            self._output(node)
        self._cut()
        return self.pieces

    def _cut(self) -> None:
        """End a function; what follows is another one."""
        order = [*self.arguments, *self.results, WORKSPACE]
        if self.lines:
            body = "\n".join(f"    {line}" for line in self.lines)
            self.pieces.append((body, [base for base in order if base in self.bases]))
        self.lines, self.bases = [], set()

    def _plain_outputs(self) -> None:
        """Outputs that are constants or arguments, and what row programs find in the workspace."""
        zeros = [place for node, places in self.output_positions.items() if is_zero(node) for place in places]
        for base, group in groupby(sorted(zeros), key=lambda place: place[0]):
            places = [k for _, k in group]
            if base == WORKSPACE:
                continue  # cleared below
            if len(places) < 8:  # more are cleared by a loop
                for k in places:
                    self._store(base, k, self.real.literal(0.0))
            else:
                self._zero(base, 0, self.sizes[base])
        for rows, region in self.places.regions.items():
            for start, size in region.cleared:
                self._zero(WORKSPACE, self.places.first[rows] + start, size)
            for arg, offset in zip(rows.args, region.operands(), strict=True):
                if isinstance(region, ColumnRegion) and is_zero(arg):
                    self._store(WORKSPACE, self.places.first[rows] + offset, self.real.literal(0.0))
        for node in self.output_positions:
            if node.op in ("input", "const") and not is_zero(node):
                self._output(node)

    def _zero(self, base: str, start: int, size: int) -> None:
        self.used.add("zero")
        self.bases.add(base)
        self.lines.append(f"{self.prefix}_zero({base}{f' + {start}' if start else ''}, {size});")

    def _let(self, expression: str, node: Node) -> str:
        """A constant with this value."""
        self.count += 1
        kind = "int" if SIGNATURES[node.op][1] == BOOLEAN else self.real.name
        name = f"{'b' if kind == 'int' else 't'}{self.count}"
        self.lines.append(f"const {kind} {name} = {expression};")
        return name

    def _store(self, base: str, place: int, value: str) -> None:
        self.bases.add(base)
        self.lines.append(f"{base}[{place}] = {value};")

    def _output(self, node: Node) -> None:
        for base, place in self.output_positions.get(node, ()):
            self._store(base, place, self._value(node))

    def _value(self, node: Node) -> str:
        name = self.names.get(node)
        if name is None:
            name = self.names[node] = self._leaf(node)
        return name

    def _leaf(self, node: Node) -> str:
        if node in self.loads:
            self.bases.add(WORKSPACE)
            loaded = f"{WORKSPACE}[{self.loads[node]}]"
            return self._let(f"{loaded} != 0" if SIGNATURES[node.op][1] == BOOLEAN else loaded, node)
        if node.op == "const":
            text = self.real.literal(float(node.value))
            return f"({text})" if text.startswith("-") else text
        if node.op in ("true", "false"):
            return str(int(node.op == "true"))
        if node.op == "entry":
            self.bases.add(WORKSPACE)
            (rows,) = node.args
            return f"{WORKSPACE}[{self.places.first[rows] + self.places.regions[rows].entry(node.value)}]"
        assert node.op == "input", f"{node.op} is used before it is computed"
        position = int(node.value)
        j = next(j for j, start in enumerate(self.starts[1:]) if position < start)
        self.bases.add(self.arguments[j])
        return f"{self.arguments[j]}[{position - self.starts[j]}]"

    def _operation(self, node: Node) -> str:
        return self._expression(node.op, [self._value(arg) for arg in node.args])

    def _expression(self, op: str, args: Sequence[str]) -> str:
        if op in INFIX:
            return f"{args[0]} {INFIX[op]} {args[1]}"
        if op in FUSED:
            minus_product, minus_sum = FUSED[op]
            return f"FMA({'-' * minus_product}{args[0]}, {args[1]}, {'-' * minus_sum}{args[2]})"
        if op == "neg":
            return f"-{args[0]}"
        if op == "logical_not":
            return f"!{args[0]}"
        if op == "where":
            return f"{args[0]} ? {args[1]} : {args[2]}"
        if op in ("sqrt", "absolute"):
            return f"{self.real.call({'absolute': 'fabs'}.get(op, op))}({args[0]})"
        if op in ("atan2", "minimum", "maximum"):
            self.used.add(op)
            return f"{self.prefix}_{op}({', '.join(args)})"
        if op not in ("exp", "log", "tanh"):
            raise TypeError(f"{self.name} has the operation {op!r}, which has no C")
        return f"{op}({args[0]})" if self.real.name == "double" else f"(float){op}((double){args[0]})"

    def _angles(self, nodes: Sequence[Node]) -> None:
        """Sine and cosine of all angles in the run of sines and cosines that `nodes` begins with."""
        angles: dict[Node, None] = {}
        for node in nodes:
            if node.op not in ANGULAR:
                break
            if node.args[0] not in self.pairs:
                angles[node.args[0]] = None
        self.used.add("sin")
        values = ", ".join(self._value(angle) for angle in angles)
        n, (x, s, c) = len(angles), (f"{letter}{self.tables}" for letter in ("angles", "sines", "cosines"))
        self.tables += 1
        self.lines.append(f"const {self.real.name} {x}[{n}] = {{{values}}};")
        self.lines += [f"{self.real.name} {s}[{n}], {c}[{n}];", f"{self.prefix}_sincos({n}, {x}, {s}, {c});"]
        for k, angle in enumerate(angles):
            self.pairs[angle] = f"{s}[{k}]", f"{c}[{k}]"

    def _rows(self, node: Node) -> None:
        """The steps of a row program in loops over some columns at a time, then the entries that are outputs."""
        program, region, first = node.value, self.places.regions[node], self.places.first[node]
        results, columns = self.places.results[node], COLUMNS
        if isinstance(region, ColumnRegion):
            self._columns(region, results, first)
            self._copies(node)
            return
        tiles = row_tiles(region, results, columns)
        if sum(len(step.terms) for tile in tiles for step in tile) > SHORT:
            columns = region.pitch
            tiles = row_tiles(region, results, columns)
        for tile in tiles:  # a function of its own for each: compilers keep its rows in registers
            self._cut()
            loops = [line for step in tile for line in self._row_step(step, program.subtracts, region, first, columns)]
            if loops:
                self.bases.add(WORKSPACE)
                self.lines += ["int k;", *loops]
        self._copies(node)

    def _copies(self, node: Node) -> None:
        """Copy the entries of a row program that are outputs."""
        self._cut()
        self.bases.add(WORKSPACE)
        for (base, to), (source, count) in entry_runs(node, self.output_positions, self.places).items():
            self.bases.add(base)
            if count >= COLUMNS:
                self.used.add("copy")
                self.lines.append(f"{self.prefix}_copy({base} + {to}, {WORKSPACE} + {source}, {count});")
            else:
                self.lines += [f"{base}[{to + k}] = {WORKSPACE}[{source + k}];" for k in range(count)]

    def _columns(self, region: ColumnRegion, results: Sequence[int], first: int) -> None:
        """The steps of a column program in a loop over its columns."""
        self._cut()
        program, real = region.program, self.real
        names, lines = dict[int, str](), list[str]()
        for row in range(program.operands):
            names[row] = f"{WORKSPACE}[{first + region.row(row)} + k]"
        for row, values in enumerate(program.known, program.operands):
            names[row] = f"known{row}[k]"
            self.lines.append(
                f"static const {real.name} known{row}[{program.columns}] = {{{', '.join(map(real.literal, values))}}};"
            )
        for row, (op, args, number) in program.needed(results):
            if op == "const":
                text = real.literal(number)
                names[row] = f"({text})" if text.startswith("-") else text
                continue
            names[row] = f"t{row}"
            lines.append(f"    const {real.name} t{row} = {self._expression(op, [names[arg] for arg in args])};")
            if any(mask and row == result for result, mask in zip(program.results, results, strict=True)):
                lines.append(f"    {WORKSPACE}[{first + region.row(row)} + k] = t{row};")
        self.bases.add(WORKSPACE)
        self.lines += ["int k;", f"for (k = 0; k < {program.columns}; k++) {{", *lines, "}"]

    def _row_step(self, step: TileStep, subtracts: bool, region: Region, first: int, columns: int) -> list[str]:
        """A loop over the columns of a tile: target = scale start ± Σ coefficient row."""

        def at(offset: int, column: str = "") -> str:
            return f"{WORKSPACE}[{first + offset}{column}]"

        target, value = at(step.target, " + k"), self.real.literal(0.0)
        if step.start:  # else it is a row of zeros
            value = at(step.start, " + k") + (f" * {at(step.scale)}" if step.scale != region.one else "")
        if value == target and not step.terms:
            return []
        sign = "-" * subtracts
        return [
            f"for (k = 0; k < {columns}; k++) {{",
            f"    {self.real.name} sum = {value};",
            *(f"    sum = FMA({sign}{at(by)}, {at(row, ' + k')}, sum);" for by, row in step.terms),
            f"    {target} = sum;",
            "}",
        ]
