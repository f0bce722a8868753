"""Row programs as loops over tables of addresses, or straight-line vector code where that is short.

Columns are independent, so a row program runs tile by tile: some columns through all steps, whose sums stay in
registers. For a block of states every number is a vector, with one state per lane; for one state a vector holds several
columns. Both add the same terms in the same order. A step is left out of a tile in which its row is zero by structure,
or not needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.compiler.codegen.ir import Lines, Width
from kinetree.compiler.graph.row_program import RowProgram

MIN_SUMS, MAX_SUMS = 4, 8
"""The number of vectors that a tile keeps in registers: enough to hide the latency of an addition."""

SHORT = 4000
"""The maximum number of multiply-adds of vectors in straight-line code."""


@dataclass(frozen=True)
class Region:
    """Offsets of the numbers of a row program in its part of the workspace: a row of zeros, the number one, the
    coefficients, and the rows, padded to whole tiles."""

    program: RowProgram
    lanes: int

    @lazy
    def pitch(self) -> int:
        """The columns of all tiles, of one state or of many, whichever are more."""
        tiles = [columns * _tile(self.program.columns, columns) for columns in (1, self.lanes)]
        return max(-(-self.program.columns // tile) * tile for tile in tiles)

    @property
    def one(self) -> int:
        return self.pitch

    def coefficient(self, k: int | None) -> int:
        return self.one if k is None else self.one + 1 + k

    @lazy
    def _places(self) -> tuple[int, ...]:
        """The place of every row; a step takes that of its start row if nothing else uses that row later."""
        program = self.program
        last_use = {row: k for k, step in enumerate(program.steps) for _, row in step.terms}
        places = list(range(len(program.given)))
        for k, step in enumerate(program.steps):
            in_place = (
                step.start is not None
                and step.start >= len(program.given)
                and step.start not in program.results
                and last_use.get(step.start, -1) < k
            )
            places.append(places[step.start] if in_place and step.start is not None else max(places) + 1)
        return tuple(places)

    def row(self, row: int) -> int:
        first = -(-(self.coefficient(self.program.coefficients)) // 8) * 8
        return first + self._places[row] * self.pitch

    def operands(self) -> list[int]:
        """The offsets of all operands."""
        coefficients = [self.coefficient(k) for k in range(self.program.coefficients)]
        return coefficients + [self.row(row) + column for row, column in self.program.positions()]

    def zeros(self) -> dict[int, float]:
        """The offsets of given numbers that are zero by structure."""
        places = np.ndindex(len(self.program.given), self.pitch)
        return {self.row(r) + c: 0.0 for r, c in places if not self.program.given[r] >> c & 1}

    def entry(self, position: int) -> int:
        """The offset of an entry of the results."""
        result, column = divmod(position, self.program.columns)
        return self.row(self.program.results[result]) + column

    @property
    def cleared(self) -> tuple[tuple[int, int], ...]:
        """The ranges of numbers that are set to zero before operands are stored."""
        return (0, self.pitch), (self.row(0), len(self.program.given) * self.pitch)

    @property
    def size(self) -> int:
        return -(-(max(map(self.row, range(len(self._places)))) + self.pitch) // 8) * 8


def emit_rows(
    name: str,
    region: Region,
    constants: Mapping[int, float],
    results: Sequence[int],
    width: Width,
    wide: Width,
    fuses: bool,
) -> str:
    """void name(region), which makes these entries of the results, for numbers of a width; `wide` is that of columns if
    a number is a scalar. `constants` are the values of operands that are known, by their offsets."""
    if width.lanes == 1:
        tiles, terms = _tables(region, results, wide.lanes)
        if len(terms) <= SHORT:
            return _unrolled(name, region, constants, tiles, terms, wide, fuses)
    return _loops(name, region, results, width, wide, fuses)


def _unrolled(
    name: str,
    region: Region,
    constants: Mapping[int, float],
    tiles: Sequence[Sequence[int]],
    terms: Sequence[Sequence[int]],
    wide: Width,
    fuses: bool,
) -> str:
    """One function for every tile of as many columns as a vector has lanes; all rows of a tile are values."""
    functions: dict[int, list[Sequence[int]]] = {}
    for tile in tiles:
        functions.setdefault(tile[0] % region.pitch, []).append(tile)
    first, last = region.row(0), region.row(len(region.program.given))
    result_rows = {region.row(row) for row in region.program.results}
    texts, calls = [], []
    for k, steps in enumerate(functions.values()):
        lines, rows = Lines(wide), {}

        def number(offset: int, lines: Lines = lines) -> str:
            """The number at an offset, in every lane."""
            pointer = lines.let(f"getelementptr double, ptr %region, i64 {offset}")
            inside = lines.let(
                f"insertelement {wide.real} poison, double {lines.let(f'load double, ptr {pointer}, align 8')}, i64 0"
            )
            return lines.let(
                f"shufflevector {wide.real} {inside}, {wide.real} poison, <{wide.lanes} x i32> zeroinitializer"
            )

        def row(offset: int, lines: Lines = lines, rows: dict[int, str] = rows) -> str:
            """Some columns of a row: made by a step, known, or given."""
            if offset not in rows:
                known = [0.0 if offset == 0 else constants.get(offset + lane) for lane in range(wide.lanes)]
                if None not in known and (offset == 0 or first <= offset < last):
                    rows[offset] = wide.numbers(known)
                else:
                    pointer = lines.let(f"getelementptr double, ptr %region, i64 {offset}")
                    rows[offset] = lines.let(f"load {wide.real}, ptr {pointer}, align 8")
            return rows[offset]

        for target, start, scale, begin, end in steps:
            total = row(start)
            if scale != region.one:
                total = lines.real("fmul", total, number(scale))
            for coefficient, other in terms[begin:end]:
                by = number(coefficient)
                if region.program.subtracts:
                    by = lines.real("fneg", by)
                if fuses:
                    total = lines.intrinsic("fma", by, row(other), total)
                else:
                    total = lines.real("fadd", total, lines.real("fmul", by, row(other)))
            rows[target] = total
            if target - (target - region.row(0)) % region.pitch in result_rows:
                pointer = lines.let(f"getelementptr double, ptr %region, i64 {target}")
                lines.add(f"store {wide.real} {total}, ptr {pointer}, align 8")
        lines.add("ret void")
        body = "\n".join(lines.text)
        texts.append(f"define internal fastcc void @{name}.tile{k}(ptr %region) nounwind noinline {{\n{body}\n}}")
        calls.append(f"  call fastcc void @{name}.tile{k}(ptr %region)")
    body = "\n".join([*calls, "  ret void"])
    return "\n".join([*texts, f"define internal fastcc void @{name}(ptr %region) nounwind noinline {{\n{body}\n}}"])


def _loops(name: str, region: Region, results: Sequence[int], width: Width, wide: Width, fuses: bool) -> str:
    vector = wide if width.lanes == 1 else width
    columns = wide.lanes if width.lanes == 1 else 1  # columns in a vector
    sums = _tile(region.program.columns, columns)
    tiles, terms = _tables(region, results, sums * columns)
    tiles = [[width.bytes * offset for offset in tile[:3]] + tile[3:] for tile in tiles]
    terms = [[width.bytes * offset for offset in term] for term in terms]
    real, each = vector.real, range(sums)
    suffix = vector.suffix

    def field(table: str, k: int, as_name: str, index: str, count: int) -> list[str]:
        return [
            f"  %{as_name}.at = getelementptr [{count} x i32], ptr @{name}.{table}, i64 0, i64 {k}",
            f"  %{as_name}.here = getelementptr [{count} x i32], ptr %{as_name}.at, i64 {index}",
            f"  %{as_name}.i32 = load i32, ptr %{as_name}.here, align 4",
            f"  %{as_name} = sext i32 %{as_name}.i32 to i64",
        ]

    def number(as_name: str) -> list[str]:
        """The number at an offset in the region, in every lane."""
        lines = [f"  %{as_name}.of = getelementptr i8, ptr %region, i64 %{as_name}.offset"]
        if width.lanes > 1:
            return [*lines, f"  %{as_name} = load {real}, ptr %{as_name}.of, align 8"]
        return [
            *lines,
            f"  %{as_name}.one = load double, ptr %{as_name}.of, align 8",
            f"  %{as_name}.in = insertelement {real} poison, double %{as_name}.one, i64 0",
            f"  %{as_name} = shufflevector {real} %{as_name}.in, {real} poison, <{vector.lanes} x i32> zeroinitializer",
        ]

    def row(as_name: str) -> list[str]:
        lines = [f"  %{as_name}.of = getelementptr i8, ptr %region, i64 %{as_name}.offset"]
        for k in each:
            lines.append(f"  %{as_name}.of{k} = getelementptr i8, ptr %{as_name}.of, i64 {k * vector.bytes}")
        return lines

    lines = [
        f"define internal fastcc void @{name}(ptr %region) nounwind noinline {{",
        "entry:",
        "  br label %tile",
        "tile:",
        "  %t = phi i64 [0, %entry], [%t.next, %done]",
        *field("tiles", 0, "to.offset", "%t", 5),
        *field("tiles", 1, "start.offset", "%t", 5),
        *field("tiles", 2, "scale.offset", "%t", 5),
        *field("tiles", 3, "first", "%t", 5),
        *field("tiles", 4, "last", "%t", 5),
        *number("scale"),
        *row("start"),
    ]
    for k in each:
        lines.append(f"  %start{k} = load {real}, ptr %start.of{k}, align 8")
        lines.append(f"  %scaled{k} = fmul {real} %start{k}, %scale")
    lines += [
        "  %any = icmp slt i64 %first, %last",
        "  br i1 %any, label %term, label %done",
        "term:",
        "  %m = phi i64 [%first, %tile], [%m.next, %term]",
        *(f"  %sum{k} = phi {real} [%scaled{k}, %tile], [%added{k}, %term]" for k in each),
        *field("terms", 0, "by.offset", "%m", 2),
        *field("terms", 1, "other.offset", "%m", 2),
        *number("by"),
        *([f"  %minus = fneg {real} %by"] if region.program.subtracts else []),
        *row("other"),
    ]
    by = "%minus" if region.program.subtracts else "%by"
    for k in each:
        lines.append(f"  %other{k} = load {real}, ptr %other.of{k}, align 8")
        if fuses:
            arguments = f"{real} {by}, {real} %other{k}, {real} %sum{k}"
            lines.append(f"  %added{k} = call {real} @llvm.fma.{suffix}({arguments})")
        else:
            lines.append(f"  %product{k} = fmul {real} {by}, %other{k}")
            lines.append(f"  %added{k} = fadd {real} %sum{k}, %product{k}")
    lines += [
        "  %m.next = add i64 %m, 1",
        "  %more = icmp slt i64 %m.next, %last",
        "  br i1 %more, label %term, label %done",
        "done:",
        *(f"  %total{k} = phi {real} [%scaled{k}, %tile], [%added{k}, %term]" for k in each),
        *row("to"),
        *(f"  store {real} %total{k}, ptr %to.of{k}, align 8" for k in each),
        "  %t.next = add i64 %t, 1",
        f"  %left = icmp slt i64 %t.next, {len(tiles)}",
        "  br i1 %left, label %tile, label %end",
        "end:",
        "  ret void",
        "}",
    ]
    return "\n".join([_table(f"{name}.tiles", tiles), _table(f"{name}.terms", terms), *lines])


def _tile(columns: int, in_vector: int) -> int:
    """The number of vectors of a tile: with the fewest columns in all tiles together, then the widest."""
    vectors = -(-columns // in_vector)
    return min(range(min(MIN_SUMS, vectors), MAX_SUMS + 1), key=lambda n: (-(-vectors // n) * n, -n))


def _tables(region: Region, results: Sequence[int], columns: int) -> tuple[list[list[int]], list[list[int]]]:
    """The steps of all tiles as (row, start, scale, first term, last term), and the terms as (coefficient, row)."""
    program = region.program
    needed, first = program.needed(results), len(program.given)
    tiles: list[list[int]] = []
    terms: list[list[int]] = []
    for column in range(0, program.columns, columns):
        here = ((1 << columns) - 1) << column
        for k, step in enumerate(program.steps):
            wanted = needed[first + k] & here
            if not wanted:
                continue
            start = 0
            if step.start is not None and program.nonzero[step.start] & wanted:
                start = region.row(step.start) + column
            begin = len(terms)
            for coefficient, row in step.terms:
                if program.nonzero[row] & wanted:
                    terms.append([region.coefficient(coefficient), region.row(row) + column])
            target = region.row(first + k) + column
            tiles.append([target, start, region.coefficient(step.scale), begin, len(terms)])
    return tiles, terms


def _table(name: str, rows: Sequence[Sequence[int]]) -> str:
    numbers = ", ".join(f"i32 {number}" for row in rows for number in row)
    count = sum(map(len, rows))
    listed = f"[{numbers}]" if count else "zeroinitializer"
    return f"@{name} = internal constant [{count} x i32] {listed}"
