"""Transposition of W rows of n numbers to lanes and back, tile by tile."""

from __future__ import annotations

from dataclasses import replace

from kinetree.compiler.codegen.ir import Lines, Width

PIECE = 16
"""The size, in bytes, of what is loaded of a row at a time: pieces of several rows become one vector by instructions
that read memory, and shuffles, which are slower, are left for numbers within a piece."""


def pack(n: int, width: Width) -> str:
    """A function that transposes up to W rows of n columns, so that the W values of a column are contiguous."""
    W, b = width.lanes, Lines(width)
    contiguous, full = b.i64("icmp eq", "%column", 1), b.i64("icmp eq", "%count", W)

    def tiles() -> None:
        with b.loop(0, W, n - n % W) as start:
            _pack_tile(b, start, W)
        if n % W:
            _pack_tile(b, n - n % W, n % W)

    def one_by_one() -> None:
        with b.loop(0, 1, n) as k:
            column, to = b.i64("mul", k, "%column"), b.i64("mul", k, W)
            for lane in range(W):
                inside, last = b.i64("icmp sgt", "%count", lane), b.i64("sub", "%count", 1)
                row = b.let(f"select i1 {inside}, i64 {lane}, i64 {last}")
                source = b.at("%src", b.i64("add", b.i64("mul", row, "%row"), column), width.element)
                value = b.load(width.element, source, width.size)
                b.store(width.element, value, b.at("%dst", b.i64("add", to, lane), width.element), width.size)

    b.choose(b.let(f"and i1 {contiguous}, {full}"), tiles, one_by_one)
    return b.internal(f"kinetree.pack.{n}", "ptr %dst, ptr %src, i64 %row, i64 %column, i64 %count")


def mask(lanes: range, W: int) -> str:
    """The mask of some of W lanes."""
    return f"<{W} x i1> <{', '.join(f'i1 {int(k in lanes)}' for k in range(W))}>"


def aligned(pointer: str, width: Width) -> str:
    """The address argument of a masked load or store."""
    return f"ptr {pointer}, i32 {width.size}" if width.older else f"ptr align {width.size} {pointer}"


def _pack_tile(b: Lines, start: str | int, columns: int) -> None:
    """Transpose W rows of `columns` columns, beginning with column `start`."""
    width, W = b.width, b.width.lanes
    rows = [b.at("%src", b.i64("add", b.i64("mul", "%row", row), start), width.element) for row in range(W)]
    vectors: list[str] = []
    while len(vectors) < columns:
        vectors += read_columns(b, rows, len(vectors), columns)
    for column, vector in enumerate(vectors[:columns]):
        to = b.at("%dst", b.i64("mul", b.i64("add", start, column), W), width.element)
        b.store(width.real, vector, to, width.size)


def piece_columns(width: Width) -> int:
    """The number of columns that `read_columns` transposes."""
    return min(width.lanes, PIECE // width.size)


def read_columns(b: Lines, rows: list[str], first: int, columns: int) -> list[str]:
    """The vectors of columns `first`, …, as many as a piece has, of rows at these addresses with so many columns."""
    n = piece_columns(b.width)
    pieces = [_piece(b, row, first, min(columns - first, n), n) for row in rows]
    return transposed(b, [_joined(b, pieces[k::n], n) for k in range(n)])


def _piece(b: Lines, row: str, first: int, count: int, n: int) -> str:
    """A vector of n numbers of a row, of which `count` exist, from column `first` on."""
    part = replace(b.width, lanes=n)
    at = b.at(row, first, part.element)
    if count == n:
        return b.load(part.real, at, part.size)
    return b.let(
        f"call {part.real} @llvm.masked.load.{part.suffix}.p0({aligned(at, part)}, {mask(range(count), n)}, "
        f"{part.real} zeroinitializer)"
    )


def _joined(b: Lines, names: list[str], n: int) -> str:
    """The vector of all pieces of n numbers, one behind the other."""
    while len(names) > 1:
        pairs = zip(names[::2], names[1::2], strict=True)
        names = [b.shuffle(one, other, range(2 * n), n) for one, other in pairs]
        n *= 2
    return names[0]


def transposed(b: Lines, rows: list[str]) -> list[str]:
    """The n vectors of W lanes after transposition of every n lanes, by swaps of blocks of growing size."""
    W = b.width.lanes
    distance = 1
    while distance < len(rows):
        new = list(rows)
        for i in range(len(rows)):
            if not i & distance:
                pair = rows[i], rows[i + distance]
                new[i] = b.shuffle(*pair, [j if not j & distance else W + j - distance for j in range(W)], W)
                new[i + distance] = b.shuffle(*pair, [j + distance if not j & distance else W + j for j in range(W)], W)
        rows = new
        distance *= 2
    return rows
