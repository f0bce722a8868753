"""Transposition of W rows of n numbers to lanes and back, tile by tile."""

from __future__ import annotations

from dataclasses import replace

from kinetree.compiler.codegen.ir import Width

PIECE = 16
"""The size, in bytes, of what is loaded of a row at a time: pieces of several rows become one vector by instructions
that read memory, and shuffles, which are slower, are left for numbers within a piece."""


def loop(
    name: str, start: str, step: int, limit: str, body: list[str], after: str, last: str | None = None
) -> list[str]:
    """The loop for (k = start; k < limit; k += step) body, which then jumps to the label `after`.

    The body uses %{name} for k; if it has several basic blocks, `last` is its last one. The block before the loop is
    {name}.enter.
    """
    return [
        f"  br label %{name}.head",
        f"{name}.head:",
        f"  %{name} = phi i64 [{start}, %{name}.enter], [%{name}.next, %{last or f'{name}.body'}]",
        f"  %{name}.more = icmp slt i64 %{name}, {limit}",
        f"  br i1 %{name}.more, label %{name}.body, label %{after}",
        f"{name}.body:",
        *body,
        f"  %{name}.next = add i64 %{name}, {step}",
        f"  br label %{name}.head",
    ]


def pack(n: int, width: Width) -> str:
    """A function that transposes up to W rows of n columns, so that the W values of a column are contiguous."""
    W = width.lanes
    whole = n - n % W
    lines = [
        f"define internal fastcc void @kinetree.pack.{n}(ptr %dst, ptr %src, i64 %row, i64 %column, i64 %count) "
        "nounwind noinline {",
        "  %contiguous = icmp eq i64 %column, 1",
        f"  %full = icmp eq i64 %count, {W}",
        "  %tiled = and i1 %contiguous, %full",
        "  br i1 %tiled, label %tile.enter, label %one.enter",
        "tile.enter:",
    ]
    lines += loop("tile", "0", W, str(whole), _pack_tile("a", "%tile", W, W, width), "rest")
    lines.append("rest:")
    if n % W:
        lines += _pack_tile("b", str(whole), W, n % W, width)
    lines += ["  ret void", "one.enter:"]
    body = ["  %one.column = mul i64 %one, %column", f"  %one.to = mul i64 %one, {W}"]
    for lane in range(W):
        body += [
            f"  %c{lane} = icmp sgt i64 %count, {lane}",
            f"  %last{lane} = sub i64 %count, 1",
            f"  %r{lane} = select i1 %c{lane}, i64 {lane}, i64 %last{lane}",
            f"  %ro{lane} = mul i64 %r{lane}, %row",
            f"  %so{lane} = add i64 %ro{lane}, %one.column",
            f"  %sp{lane} = getelementptr {width.element}, ptr %src, i64 %so{lane}",
            f"  %v{lane} = load {width.element}, ptr %sp{lane}, align {width.size}",
            f"  %do{lane} = add i64 %one.to, {lane}",
            f"  %dp{lane} = getelementptr {width.element}, ptr %dst, i64 %do{lane}",
            f"  store {width.element} %v{lane}, ptr %dp{lane}, align {width.size}",
        ]
    lines += loop("one", "0", 1, str(n), body, "end")
    lines += ["end:", "  ret void", "}"]
    return "\n".join(lines)


def mask(columns: int, W: int) -> str:
    """The mask of the first `columns` lanes."""
    return f"<{W} x i1> <{', '.join(f'i1 {int(k < columns)}' for k in range(W))}>"


def aligned(pointer: str, width: Width) -> str:
    """The address argument of a masked load or store."""
    return f"ptr {pointer}, i32 {width.size}" if width.older else f"ptr align {width.size} {pointer}"


def _pack_tile(p: str, start: str, W: int, columns: int, width: Width) -> list[str]:
    """Instructions that transpose W rows of `columns` columns, beginning with column `start`."""
    lines: list[str] = []
    for row in range(W):
        lines += [
            f"  %{p}r{row} = mul i64 %row, {row}",
            f"  %{p}o{row} = add i64 %{p}r{row}, {start}",
            f"  %{p}s{row} = getelementptr {width.element}, ptr %src, i64 %{p}o{row}",
        ]
    rows = [f"%{p}s{row}" for row in range(W)]
    names: list[str] = []
    while len(names) < columns:
        names += read_columns(f"{p}{len(names)}.", rows, len(names), columns, width, lines)
    for column in range(columns):
        lines += [
            f"  %{p}k{column} = add i64 {start}, {column}",
            f"  %{p}w{column} = mul i64 %{p}k{column}, {W}",
            f"  %{p}d{column} = getelementptr {width.element}, ptr %dst, i64 %{p}w{column}",
            f"  store {width.real} {names[column]}, ptr %{p}d{column}, align {width.size}",
        ]
    return lines


def piece_columns(width: Width) -> int:
    """The number of columns that `read_columns` transposes."""
    return min(width.lanes, PIECE // width.size)


def read_columns(p: str, rows: list[str], first: int, columns: int, width: Width, lines: list[str]) -> list[str]:
    """The names of the vectors of columns `first`, …, as many as a piece has, of rows at these addresses with so many
    columns."""
    n = piece_columns(width)
    pieces = [_piece(f"{p}{k}", row, first, min(columns - first, n), n, width, lines) for k, row in enumerate(rows)]
    return transposed(p, [_joined(f"{p}j{k}", pieces[k::n], n, width, lines) for k in range(n)], width, lines)


def _piece(p: str, row: str, first: int, count: int, n: int, width: Width, lines: list[str]) -> str:
    """The name of a vector of n numbers of a row, of which `count` exist, from column `first` on."""
    part = replace(width, lanes=n)
    at, name = f"%{p}a", f"%{p}v"
    lines.append(f"  {at} = getelementptr {width.element}, ptr {row}, i64 {first}")
    if count == n:
        lines.append(f"  {name} = load {part.real}, ptr {at}, align {width.size}")
    else:
        lines.append(
            f"  {name} = call {part.real} @llvm.masked.load.{part.suffix}.p0({aligned(at, part)}, {mask(count, n)}, "
            f"{part.real} zeroinitializer)"
        )
    return name


def _joined(p: str, names: list[str], n: int, width: Width, lines: list[str]) -> str:
    """The name of the vector of all pieces of n numbers, one behind the other."""
    while len(names) > 1:
        real, listed = f"<{n} x {width.element}>", ", ".join(f"i32 {k}" for k in range(2 * n))
        pairs = list(zip(names[::2], names[1::2], strict=True))
        names = [f"%{p}.{n}.{k}" for k in range(len(pairs))]
        for name, (a, b) in zip(names, pairs, strict=True):
            lines.append(f"  {name} = shufflevector {real} {a}, {real} {b}, <{2 * n} x i32> <{listed}>")
        n *= 2
    return names[0]


def transposed(p: str, rows: list[str], width: Width, lines: list[str]) -> list[str]:
    """The names of n vectors of W lanes after transposition of every n lanes, by swaps of blocks of growing size."""
    W, real = width.lanes, width.real
    distance = 1
    while distance < len(rows):
        new = list(rows)
        for i in range(len(rows)):
            if i & distance:
                continue
            a, b = rows[i], rows[i + distance]
            low = [j if not j & distance else W + j - distance for j in range(W)]
            high = [j + distance if not j & distance else W + j for j in range(W)]
            for k, mask in ((i, low), (i + distance, high)):
                name = f"%{p}x{distance}.{k}"
                listed = ", ".join(f"i32 {m}" for m in mask)
                lines.append(f"  {name} = shufflevector {real} {a}, {real} {b}, <{W} x i32> <{listed}>")
                new[k] = name
        rows = new
        distance *= 2
    return rows
