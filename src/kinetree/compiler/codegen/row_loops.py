"""Row programs as loops over tables of addresses, or straight-line vector code where that is short.

Columns are independent, so a row program runs tile by tile: some columns through all steps, whose sums stay in
registers. For a block of states every number is a vector, with one state per lane; for one state a vector holds several
columns. Both add the same terms in the same order. A step is left out of a tile in which its row is zero by structure,
or not needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, zip_longest
from operator import attrgetter

from kinetree.base.lazy import lazy
from kinetree.compiler.codegen.ir import Lines, Width
from kinetree.compiler.graph.row_program import RowProgram

MIN_SUMS, MAX_SUMS = 4, 8
"""The number of vectors that a tile keeps in registers: enough to hide the latency of an addition."""

SHORT = 12_000
"""The maximum number of multiply-adds of vectors in straight-line code of a kernel: more than those of derivatives of a
humanoid for one state, or of its inverse mass matrix for many."""
STRAIGHT_SUMS = 2
"""The number of columns of many states whose straight-line code alternates, because each sum waits for itself."""


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

    @property
    def ones(self) -> tuple[int, ...]:
        """The offsets of numbers that are one."""
        return (self.one,)

    def coefficient(self, k: int | None) -> int:
        return self.one if k is None else self.one + 1 + k

    @lazy
    def _places(self) -> tuple[int, ...]:
        """The place of every row; a step takes that of its start row if nothing else uses that row later."""
        program = self.program
        last_use = {row: k for k, step in enumerate(program.steps) for _, row in step.terms}
        places, count = [], 0
        for mask in program.given:
            places.append(count if mask else -1)  # the row of zeros
            count += mask != 0
        for k, step in enumerate(program.steps):
            in_place = (
                step.start >= len(program.given)
                and step.start not in program.results
                and last_use.get(step.start, -1) < k
            )
            places.append(places[step.start] if in_place else count)
            count += not in_place
        return tuple(places)

    @property
    def _first(self) -> int:
        """The offset of the first row."""
        return -(-(self.coefficient(self.program.coefficients)) // 8) * 8

    def row(self, row: int) -> int:
        return self._first + self._places[row] * self.pitch if self._places[row] >= 0 else 0

    def operands(self) -> list[int]:
        """The offsets of all operands."""
        coefficients = [self.coefficient(k) for k in range(self.program.coefficients)]
        return coefficients + [self.row(row) + column for row, column in self.program.positions()]

    def zeros(self) -> dict[int, float]:
        """The offsets of given numbers that are zero by structure."""
        program = self.program
        return {
            self.row(row) + column: 0.0
            for row, mask in enumerate(program.given)
            for column in range(self.pitch if mask else 0)
            if not mask >> column & 1
        }

    def entry(self, position: int) -> int:
        """The offset of an entry of the results."""
        result, column = divmod(position, self.program.columns)
        return self.row(self.program.results[result]) + column

    @property
    def cleared(self) -> tuple[tuple[int, int], ...]:
        """The ranges of numbers that are set to zero before operands are stored."""
        full = (1 << self.program.columns) - 1
        ranges = [[0, self.pitch]]
        for row, mask in enumerate(self.program.given):
            if mask and mask != full:
                if sum(ranges[-1]) == self.row(row):
                    ranges[-1][1] += self.pitch
                else:
                    ranges.append([self.row(row), self.pitch])
        return tuple((start, size) for start, size in ranges)

    @property
    def size(self) -> int:
        return -(-(self._first + (max(self._places, default=0) + 1) * self.pitch) // 8) * 8


@dataclass(frozen=True)
class TileStep:
    """A step of some columns: the number of its row, offsets of its row, of its start and of the coefficient that
    scales that, and of the coefficients and rows of its terms."""

    index: int
    target: int
    start: int
    scale: int
    terms: list[tuple[int, int]]
    is_result: bool


def emit_rows(
    name: str, region: Region, constants: Mapping[int, float], results: Sequence[int], width: Width, wide: Width,
    straight: bool,
) -> str:  # fmt: skip
    """void name(region), which makes these entries of the results, for numbers of a width; `wide` is that of columns if
    a number is a scalar. `constants` are the values of operands that are known, by their offsets."""
    if not straight:
        return _loops(name, region, results, width, wide)
    tiles = row_tiles(region, results, wide.lanes if width.lanes == 1 else 1)
    whole, texts = Lines(width), []
    together = 1 if width.lanes == 1 else STRAIGHT_SUMS
    for k in range(0, len(tiles), together):
        steps = sorted(chain.from_iterable(tiles[k : k + together]), key=attrgetter("index"))
        texts.append(
            _StraightTile(region, constants, width, wide).body(steps).internal(f"{name}.tile{k}", "ptr %region")
        )
        whole.add(f"call fastcc void @{name}.tile{k}(ptr %region)")
    return "\n".join([*texts, whole.internal(name, "ptr %region")])


def length(region: Region, results: Sequence[int], columns: int) -> int:
    """The number of multiply-adds of vectors of so many columns."""
    return sum(len(step.terms) for tile in row_tiles(region, results, columns) for step in tile)


def row_tiles(region: Region, results: Sequence[int], columns: int) -> list[list[TileStep]]:
    """The steps of every tile of so many columns, without those that it does not need."""
    program = region.program
    needed, first = program.needed(results), len(program.given)
    tiles = []
    for column in range(0, program.columns, columns):
        here, steps = ((1 << columns) - 1) << column, []
        for k, step in enumerate(program.steps, first):
            wanted = needed[k] & here
            if not wanted:
                continue
            start = 0
            if program.nonzero[step.start] & wanted:
                start = region.row(step.start) + column
            terms = [
                (region.coefficient(coefficient), region.row(row) + column)
                for coefficient, row in step.terms
                if program.nonzero[row] & wanted
            ]
            target, scale = region.row(k) + column, region.coefficient(step.scale)
            steps.append(TileStep(k, target, start, scale, terms, k in program.results))
        tiles.append(steps)
    return tiles


# -- straight-line code ------------------------------------------------------------------------------------------------


class _StraightTile:
    """The code of tiles of one vector each: some columns of one state, or one column of many. Its rows are values, and
    only results are stored."""

    def __init__(self, region: Region, constants: Mapping[int, float], width: Width, wide: Width) -> None:
        self.region, self.constants = region, constants
        self.width, self.vector = width, wide if width.lanes == 1 else width
        self.lines, self.rows = Lines(self.vector), {0: "zeroinitializer"}

    def body(self, steps: Sequence[TileStep]) -> Lines:
        for _, same in groupby(steps, key=attrgetter("index")):
            self._rows(list(same))
        return self.lines

    def _rows(self, steps: Sequence[TileStep]) -> None:
        """The same step of several tiles."""
        lines, factors = self.lines, dict[int, str]()
        totals = [self.row(step.start) for step in steps]
        if steps[0].scale != self.region.one:
            scale = self.number(steps[0].scale)
            totals = [lines.real("fmul", total, scale) for total in totals]
        for terms in zip_longest(*(step.terms for step in steps)):
            for k, (coefficient, row) in ((k, term) for k, term in enumerate(terms) if term):
                if coefficient not in factors:
                    by = self.number(coefficient)
                    factors[coefficient] = lines.real("fneg", by) if self.region.program.subtracts else by
                totals[k] = lines.multiply_add(factors[coefficient], self.row(row), totals[k])
        for step, total in zip(steps, totals, strict=True):
            self.rows[step.target] = total
            if step.is_result:
                lines.store(self.vector.real, total, self.pointer(step.target), self.width.size)

    def pointer(self, offset: int) -> str:
        return self.lines.at("%region", offset * self.width.bytes)

    def number(self, offset: int) -> str:
        """The number at an offset, in every lane if it is a scalar."""
        value = self.lines.load(self.width.real, self.pointer(offset), self.width.size)
        return value if self.width.lanes > 1 else self.lines.spread(value)

    def row(self, offset: int) -> str:
        """A row that a step has made, a known one, or a given one."""
        if offset not in self.rows:
            lanes = self.vector.lanes if self.width.lanes == 1 else 1
            known = [self.constants[offset + k] for k in range(lanes) if offset + k in self.constants]
            if len(known) < lanes:
                self.rows[offset] = self.lines.load(self.vector.real, self.pointer(offset), self.width.size)
            else:
                self.rows[offset] = self.vector.number(known[0]) if lanes == 1 else self.vector.numbers(known)
        return self.rows[offset]


# -- loops -------------------------------------------------------------------------------------------------------------


def _loops(name: str, region: Region, results: Sequence[int], width: Width, wide: Width) -> str:
    """A loop over the steps of all tiles, whose addresses are in a table, and in it a loop over the terms."""
    vector = wide if width.lanes == 1 else width
    columns = wide.lanes if width.lanes == 1 else 1  # columns in a vector
    sums = _tile(region.program.columns, columns)
    tiles: list[list[int]] = []
    terms: list[list[int]] = []
    for step in (step for tile in row_tiles(region, results, sums * columns) for step in tile):
        begin = len(terms)
        terms += [[width.bytes * offset for offset in term] for term in step.terms]
        tiles.append([width.bytes * offset for offset in (step.target, step.start, step.scale)] + [begin, len(terms)])
    b, real = Lines(vector), vector.real

    def fields(table: str, index: str, count: int) -> list[str]:
        """The numbers of a row of a table."""
        here = b.at(f"@{name}.{table}", index, f"[{count} x i32]")
        return [b.let(f"sext i32 {b.load('i32', b.at(here, k, 'i32'), 4)} to i64") for k in range(count)]

    def number(offset: str) -> str:
        """The number at an offset in the region, in every lane."""
        value = b.load(width.real, b.at("%region", offset), width.size)
        return value if width.lanes > 1 else b.spread(value)

    def row(offset: str) -> list[str]:
        """The addresses of the vectors of a row."""
        start = b.at("%region", offset)
        return [b.at(start, k * vector.bytes) for k in range(sums)]

    def joined(added: Sequence[str], names: Sequence[str]) -> list[str]:
        """The sums before a term, or after the last one."""
        triples = zip(names, scaled, added, strict=True)
        return [f"  {each} = phi {real} [{start}, %tile], [{end}, %term]" for each, start, end in triples]

    b.add("br label %tile")
    b.label("tile")
    b.add("%t = phi i64 [0, %entry], [%t.next, %done]")
    to, start, by, first, last = fields("tiles", "%t", 5)
    scale = number(by)
    scaled = [b.real("fmul", b.load(real, at, width.size), scale) for at in row(start)]
    b.add(f"br i1 {b.i64('icmp slt', first, last)}, label %term, label %done")
    b.label("term")
    b.add(f"%m = phi i64 [{first}, %tile], [%m.next, %term]")
    place, before = len(b.text), [b.name() for _ in scaled]
    by, other = fields("terms", "%m", 2)
    factor = number(by)
    if region.program.subtracts:
        factor = b.real("fneg", factor)
    pairs = zip(row(other), before, strict=True)
    added = [b.multiply_add(factor, b.load(real, at, width.size), total) for at, total in pairs]
    b.text[place:place] = joined(added, before)
    b.add("%m.next = add i64 %m, 1")
    b.add(f"br i1 {b.i64('icmp slt', '%m.next', last)}, label %term, label %done")
    b.label("done")
    totals = [b.name() for _ in scaled]
    b.text += joined(added, totals)
    for at, total in zip(row(to), totals, strict=True):
        b.store(real, total, at, width.size)
    b.add("%t.next = add i64 %t, 1")
    b.add(f"br i1 {b.i64('icmp slt', '%t.next', len(tiles))}, label %tile, label %end")
    b.label("end")
    tables = [_table(f"{name}.tiles", tiles), _table(f"{name}.terms", terms)]
    return "\n".join([*tables, b.internal(name, "ptr %region")])


def _tile(columns: int, in_vector: int) -> int:
    """The number of vectors of a tile: with the fewest columns in all tiles together, then the widest."""
    vectors = -(-columns // in_vector)
    return min(range(min(MIN_SUMS, vectors), MAX_SUMS + 1), key=lambda n: (-(-vectors // n) * n, -n))


def _table(name: str, rows: Sequence[Sequence[int]]) -> str:
    numbers = ", ".join(f"i32 {number}" for row in rows for number in row)
    count = sum(map(len, rows))
    listed = f"[{numbers}]" if count else "zeroinitializer"
    return f"@{name} = internal constant [{count} x i32] {listed}"
