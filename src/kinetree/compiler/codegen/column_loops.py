"""Column programs as one function for some columns: for one state those of a vector, for a block of states one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.base.lazy import lazy
from kinetree.compiler.codegen.ir import Lines, Width
from kinetree.compiler.codegen.operations import operation
from kinetree.compiler.graph.column_program import ColumnProgram


@dataclass(frozen=True)
class ColumnRegion:
    """Offsets of the numbers of a column program in its part of the workspace: the operand rows and the results."""

    program: ColumnProgram
    lanes: int
    cleared = ones = ()
    """Nothing is set before operands are stored."""

    @property
    def pitch(self) -> int:
        """The numbers from row to row."""
        lanes = max(self.lanes, 8)
        return -(-self.program.columns // lanes) * lanes

    @lazy
    def _places(self) -> dict[int, int]:
        """The place of every row that is in memory."""
        rows = dict.fromkeys((*range(self.program.operands), *self.program.results))
        return {row: k for k, row in enumerate(rows)}

    def row(self, row: int) -> int:
        return self._places[row] * self.pitch

    def operands(self) -> list[int]:
        """The offsets of all operands."""
        return [self.row(row) + column for row, column in self.program.positions()]

    def entry(self, position: int) -> int:
        """The offset of an entry of the results."""
        result, column = divmod(position, self.program.columns)
        return self.row(self.program.results[result]) + column

    @property
    def size(self) -> int:
        return len(self._places) * self.pitch

    def starts(self, columns: int) -> Sequence[int]:
        """The first columns of tiles of so many, of which the last may overlap that before."""
        last = max(self.program.columns - columns, 0)
        return (*range(0, last, columns), last)


def column_calls(name: str, region: ColumnRegion, pointer: str, width: Width, wide: Width) -> list[str]:
    """The calls that compute all columns of the region at `pointer`."""
    columns = wide.lanes if width.lanes == 1 else 1
    return [f"call fastcc void @{name}(ptr {pointer}, i64 {column})" for column in region.starts(columns)]


def emit_columns(name: str, region: ColumnRegion, results: Sequence[int], width: Width, wide: Width) -> str:
    """void name(region, column), which makes the results of the columns from this one on, for numbers of a width;
    `wide` is that of columns if a number is a scalar."""
    program, vector = region.program, wide if width.lanes == 1 else width
    lines, names = Lines(vector), dict[int, str]()
    lines.add(f"%at = getelementptr {width.real}, ptr %region, i64 %column")
    lines.add(f"%known = getelementptr {width.element}, ptr @{name}.known, i64 %column")

    def value(row: int) -> str:
        if row not in names:
            names[row] = _loaded(lines, region, row, width)
        return names[row]

    stored = {row for row, mask in zip(program.results, results, strict=True) if mask}
    for row, (op, args, number) in program.needed(results):
        if op == "const":
            names[row] = vector.number(number)
        else:
            names[row] = operation(lines, op, [value(arg) for arg in args])
        if row in stored:
            lines.store(vector.real, names[row], lines.at("%at", region.row(row) * width.bytes), width.size)
    return f"{_known(name, region, width.one)}\n{lines.internal(name, 'ptr %region, i64 %column')}"


def _loaded(lines: Lines, region: ColumnRegion, row: int, width: Width) -> str:
    """A row of the operands or a known one; of a block of states, a known number is in every lane."""
    program, real = region.program, lines.width.real
    if row < program.operands:
        return lines.load(real, lines.at("%at", region.row(row) * width.bytes), width.size)
    there = lines.at("%known", (row - program.operands) * region.pitch, width.element)
    if width.lanes == 1:
        return lines.load(real, there, width.size)
    return lines.spread(lines.load(width.element, there, width.size))


def _known(name: str, region: ColumnRegion, one: Width) -> str:
    """The table of the rows that are known."""
    rows = [[*row, *[0.0] * (region.pitch - len(row))] for row in region.program.known]
    listed = ", ".join(f"{one.element} {one.number(value)}" for row in rows for value in row)
    count = region.pitch * len(rows)
    return (
        f"@{name}.known = internal constant [{count} x {one.element}] {f'[{listed}]' if count else 'zeroinitializer'}"
    )
