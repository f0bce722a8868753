"""Results of a block: lanes are transposed to the rows of the output arrays.

Tiles of zeros only are written without reading the lanes. Rows begin anywhere in a cache line, and writing many of them
in turn, each across lines, is slow. So some columns of long rows are collected in a small write buffer, each row with
the alignment that it has in memory, and written in whole lines; a remainder waits for the next columns. The lines of a
large batch bypass the cache (nontemporal stores): otherwise each line is read before it is written.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.compiler.codegen.ir import Width
from kinetree.compiler.codegen.kernel import COLUMNS, BlockSpace, buffer_row_size, is_zero
from kinetree.compiler.codegen.prefetches import LINE
from kinetree.compiler.codegen.tiles import aligned, loop, mask, transposed
from kinetree.compiler.graph.expr import Node

STREAMED = 2**20
"""The size of results, in bytes, from which on they bypass the cache: about the size of an L2 cache."""


def streamed_size(space: BlockSpace) -> int:
    """The size, in bytes, of the results of one state that may bypass the cache."""
    return space.width.size * sum(n for n in space.layout.outputs if n >= COLUMNS)


def fields(space: BlockSpace) -> list[str]:
    """Instructions that load the whole descriptor; LLVM removes unused ones."""
    names = [name for j in range(len(space.layout.inputs)) for name in (f"in{j}", f"row{j}", f"column{j}")]
    names += [name for j in range(len(space.layout.outputs)) for name in (f"out{j}", f"back{j}")]
    lines = []
    for k, name in enumerate(names):
        kind = "ptr" if name.startswith(("in", "out")) else "i64"
        lines.append(f"  %{name}.at = getelementptr i64, ptr %descriptor, i64 {k}")
        lines.append(f"  %{name} = load {kind}, ptr %{name}.at, align 8")
    return lines


def count(W: int) -> list[str]:
    """Instructions that compute %count, the number of states of this block."""
    return [
        "  %left = sub i64 %stop, %i",
        f"  %short = icmp slt i64 %left, {W}",
        f"  %count = select i1 %short, i64 %left, i64 {W}",
    ]


def emit_write(space: BlockSpace, outputs: Sequence[Node]) -> str:
    """A function that writes the outputs of the block at state i as rows."""
    W = space.width.lanes
    lines = [
        "define internal fastcc void @kinetree.write(i64 %i, i64 %stop, ptr %descriptor, ptr %work, i1 %streaming) "
        "nounwind noinline {",
        *fields(space),
        *count(W),
        f"  %whole = icmp eq i64 %count, {W}",
        f"  %buffer = getelementptr i8, ptr %work, i64 {space.write_buffer}",
        "  br label %begin0",
    ]
    texts, position = [], 0
    for j, n in enumerate(space.layout.outputs):
        zeros = zero_tiles(outputs[position : position + n], W)
        position += n
        lines += [
            f"begin{j}:",
            f"  %to{j}.offset = mul i64 %i, %back{j}",
            f"  %to{j} = getelementptr {space.width.element}, ptr %out{j}, i64 %to{j}.offset",
            f"  %result{j} = getelementptr i8, ptr %work, i64 {space.result(j)}",
            f"  %dense{j} = icmp eq i64 %back{j}, {n}",
            f"  %aligned{j} = and i1 %whole, %dense{j}",
            f"  br i1 {f'%aligned{j}' if n >= COLUMNS else 'false'}, label %buffered{j}, label %plain{j}",
            f"buffered{j}:",
        ]
        if n >= COLUMNS:
            lines.append(
                f"  call fastcc void @kinetree.buffered.{j}(ptr %to{j}, ptr %result{j}, ptr %buffer, i1 %streaming)"
            )
            texts.append(_buffered(j, n, space.width, zeros))
        lines += [
            f"  br label %begin{j + 1}",
            f"plain{j}:",
            *_prefetch(f"out{j}", f"%to{j}", f"%back{j}", n, space.width),
            f"  call fastcc void @kinetree.unpack.{j}(ptr %to{j}, ptr %result{j}, i64 %back{j}, i64 %count)",
            f"  br label %begin{j + 1}",
        ]
        texts.append(unpack(j, n, space.width, zeros))
        texts.append(zero_table(j, zeros))
    lines += [f"begin{len(space.layout.outputs)}:", "  ret void", "}"]
    return "\n\n".join(["\n".join(lines), *texts, _flush_whole(space.width), _flush(space.width), "!0 = !{i32 1}"])


MAX_LINES = 64
"""The maximum number of cache lines of one array to prefetch; the CPU prefetches the rest of longer rows."""


def _prefetch(p: str, start: str, row: str, n: int, width: Width) -> list[str]:
    """Instructions that prefetch, to write, the cache lines of the next block, whose rows follow those at `start`."""
    lines = [
        f"  %{p}.ahead = mul i64 {row}, {width.lanes}",
        f"  %{p}.next = getelementptr {width.element}, ptr {start}, i64 %{p}.ahead",
    ]
    for line in range(min(-(-n * width.bytes // LINE), MAX_LINES)):
        lines += [
            f"  %{p}.line{line} = getelementptr i8, ptr %{p}.next, i64 {line * LINE}",
            f"  call void @llvm.prefetch.p0(ptr %{p}.line{line}, i32 1, i32 3, i32 1)",
        ]
    return lines


def zero_tiles(nodes: Sequence[Node], W: int) -> list[bool]:
    """For each whole tile, whether it holds zeros only."""
    return [all(map(is_zero, nodes[k : k + W])) for k in range(0, len(nodes) - W + 1, W)]


def zero_table(j: int, zeros: Sequence[bool]) -> str:
    """The table of tiles of output j that are zeros, which the code of `unpack` reads."""
    listed = ", ".join(f"i8 {int(zero)}" for zero in zeros)
    return f"@kinetree.zeros.{j} = internal constant [{len(zeros)} x i8] [{listed}]"


def unpack(j: int, n: int, width: Width, zeros: Sequence[bool]) -> str:
    """A function that writes n values of each of the first `count` lanes as rows of any stride."""
    W = width.lanes
    whole = n - n % W
    lines = [
        f"define internal fastcc void @kinetree.unpack.{j}(ptr %dst, ptr %src, i64 %row, i64 %count) "
        "nounwind noinline {",
        f"  %full = icmp eq i64 %count, {W}",
    ]
    for lane in range(W):
        lines += [
            f"  %away{lane} = mul i64 %row, {lane}",
            f"  %row{lane} = getelementptr {width.element}, ptr %dst, i64 %away{lane}",
        ]
    lines += ["  br i1 %full, label %tile.enter, label %lane.enter", "tile.enter:"]
    lines += _tiles(j, "tile", "0", str(whole), "%tile", width, zeros, "rest")
    lines.append("rest:")
    if n % W:
        lines += _tile("b", str(whole), str(whole), n % W, width)
    lines += ["  ret void", "lane.enter:", "  %total = mul i64 %count, " + str(n)]
    body = [
        f"  %l = udiv i64 %lane, {max(n, 1)}",
        f"  %k = urem i64 %lane, {max(n, 1)}",
        f"  %kw = mul i64 %k, {W}",
        "  %so = add i64 %kw, %l",
        f"  %sp = getelementptr {width.element}, ptr %src, i64 %so",
        f"  %v = load {width.element}, ptr %sp, align {width.size}",
        "  %lr = mul i64 %l, %row",
        "  %do = add i64 %lr, %k",
        f"  %dp = getelementptr {width.element}, ptr %dst, i64 %do",
        f"  store {width.element} %v, ptr %dp, align {width.size}",
    ]
    lines += loop("lane", "0", 1, "%total", body, "end")
    return "\n".join([*lines, "end:", "  ret void", "}"])


def _buffered(j: int, n: int, width: Width, zeros: Sequence[bool]) -> str:
    """A function that writes n values of every lane as consecutive rows, in whole lines; with `past`, they bypass the
    cache."""
    W = width.lanes
    whole, rest = n - n % COLUMNS, n % COLUMNS
    lines = [
        f"define internal fastcc void @kinetree.buffered.{j}(ptr %dst, ptr %src, ptr %buffer, i1 %past) "
        "nounwind noinline {"
    ]
    for lane in range(W):
        lines += [
            f"  %to{lane} = getelementptr {width.element}, ptr %dst, i64 {lane * n}",
            f"  %address{lane} = ptrtoint ptr %to{lane} to i64",
            f"  %shift{lane} = and i64 %address{lane}, {LINE - 1}",
            f"  %from{lane} = getelementptr i8, ptr %buffer, i64 {lane * buffer_row_size(width)}",
            f"  %row{lane} = getelementptr i8, ptr %from{lane}, i64 %shift{lane}",
        ]
    lines += ["  br label %chunk.enter", "chunk.enter:"]
    body = [
        f"  %chunk.end = add i64 %chunk, {COLUMNS}",
        "  %first = icmp eq i64 %chunk, 0",
        f"  %last = icmp eq i64 %chunk.end, {n}",
        "  br label %tile.enter",
        "tile.enter:",
        *_tiles(j, "tile", "%chunk", "%chunk.end", "%tile.here", width, zeros, "flush"),
        "flush:",
        *_flushes("c", width, "%chunk", "%first", COLUMNS, "%last"),
    ]
    lines += loop("chunk", "0", COLUMNS, str(whole), body, "rest", last="flush")
    lines.append("rest:")
    if rest:
        lines += ["  br label %late.enter", "late.enter:"]
        lines += _tiles(j, "late", str(whole), str(n - n % W), "%late.here", width, zeros, "odd", origin=str(whole))
        lines.append("odd:")
        if n % W:
            lines += _tile("b", str(n - n % W), str(n - n % W - whole), n % W, width)
        lines += _flushes("r", width, str(whole), "false", rest, "true")
    return "\n".join([*lines, "  ret void", "}"])


def _tiles(
    j: int, name: str, start: str, stop: str, offset: str, width: Width, zeros: Sequence[bool], after: str,
    origin: str = "%chunk",
) -> list[str]:  # fmt: skip
    """A loop over the tiles from number `start` to `stop`, each stored `offset` numbers behind the row starts."""
    W = width.lanes
    body = [f"  {offset} = sub i64 %{name}, {origin}"] if offset != f"%{name}" else []
    if any(zeros):
        body += [
            f"  %{name}.index = lshr i64 %{name}, {W.bit_length() - 1}",
            f"  %{name}.flag.at = getelementptr i8, ptr @kinetree.zeros.{j}, i64 %{name}.index",
            f"  %{name}.flag = load i8, ptr %{name}.flag.at, align 1",
            f"  %{name}.empty = icmp ne i8 %{name}.flag, 0",
            f"  br i1 %{name}.empty, label %{name}.zeros, label %{name}.values",
            f"{name}.zeros:",
            *_store_rows(f"{name}z", offset, ["zeroinitializer"] * W, W, width),
            f"  br label %{name}.done",
            f"{name}.values:",
            *_tile(f"{name}v", f"%{name}", offset, W, width),
            f"  br label %{name}.done",
            f"{name}.done:",
        ]
        return loop(name, start, W, stop, body, after, last=f"{name}.done")
    return loop(name, start, W, stop, [*body, *_tile(f"{name}v", f"%{name}", offset, W, width)], after)


def _tile(p: str, start: str, offset: str, columns: int, width: Width) -> list[str]:
    """Instructions that transpose and store `columns` numbers of all lanes, beginning with number `start`."""
    W, real, lines, names = width.lanes, width.real, [], []
    for column in range(columns):
        lines += [
            f"  %{p}k{column} = add i64 {start}, {column}",
            f"  %{p}w{column} = mul i64 %{p}k{column}, {W}",
            f"  %{p}s{column} = getelementptr {width.element}, ptr %src, i64 %{p}w{column}",
            f"  %{p}v{column} = load {real}, ptr %{p}s{column}, align {width.size}",
        ]
        names.append(f"%{p}v{column}")
    names = transposed(p, [*names, *["zeroinitializer"] * (W - columns)], width, lines)
    return [*lines, *_store_rows(p, offset, names, columns, width)]


def _store_rows(p: str, offset: str, names: Sequence[str], columns: int, width: Width) -> list[str]:
    lines = []
    for lane, name in enumerate(names):
        lines.append(f"  %{p}d{lane} = getelementptr {width.element}, ptr %row{lane}, i64 {offset}")
        if columns == width.lanes:
            lines.append(f"  store {width.real} {name}, ptr %{p}d{lane}, align {width.size}")
        else:
            lines.append(
                f"  call void @llvm.masked.store.{width.suffix}.p0({width.real} {name}, "
                f"{aligned(f'%{p}d{lane}', width)}, {mask(columns, width.lanes)})"
            )
    return lines


def _flushes(p: str, width: Width, column: str, first: str, numbers: int, last: str) -> list[str]:
    lines = []
    for lane in range(width.lanes):
        lines += [
            f"  %{p}t{lane} = getelementptr {width.element}, ptr %to{lane}, i64 {column}",
            f"  call fastcc void @kinetree.flush{'.whole' * (numbers == COLUMNS)}(ptr %{p}t{lane}, ptr %from{lane}, "
            f"i1 {first}, i64 {width.size * numbers}, i1 {last}, i1 %past)",
        ]
    return lines


def _flush_whole(width: Width) -> str:
    """A faster flush of a full buffer row: a fixed number of whole lines, and a remainder for the next."""
    name, count = "@kinetree.flush.whole", width.size * COLUMNS // LINE
    lines = [
        f"define internal fastcc void {name}(ptr %to, ptr %from, i1 %first, i64 %length, i1 %last, i1 %past) "
        "nounwind noinline {",
        "  %address = ptrtoint ptr %to to i64",
        f"  %shift = and i64 %address, {LINE - 1}",
        "  %inside = icmp ne i64 %shift, 0",
        "  %either = or i1 %first, %last",
        "  %ragged = and i1 %either, %inside",
        "  br i1 %ragged, label %general, label %usual",
        "general:",
        "  call fastcc void @kinetree.flush(ptr %to, ptr %from, i1 %first, i64 %length, i1 %last, i1 %past)",
        "  ret void",
        "usual:",
        "  %back = sub i64 0, %shift",
        "  %lines = getelementptr i8, ptr %to, i64 %back",
    ]
    for k in range(count + 1):
        lines += [
            f"  %from{k} = getelementptr i8, ptr %from, i64 {k * LINE}",
            f"  %value{k} = load <8 x double>, ptr %from{k}, align {LINE}",
            f"  %to{k} = getelementptr i8, ptr %lines, i64 {k * LINE}",
        ]
    lines += [
        f"  store <8 x double> %value{count}, ptr %from, align {LINE}",
        "  br i1 %past, label %stream, label %plain",
    ]
    for label, mark in (("stream", ", !nontemporal !0"), ("plain", "")):
        lines.append(f"{label}:")
        lines += [f"  store <8 x double> %value{k}, ptr %to{k}, align {LINE}{mark}" for k in range(count)]
        lines.append("  ret void")
    return "\n".join([*lines, "}"])


def _flush(width: Width) -> str:
    """A function that moves `length` bytes of one row from the buffer to `to`. The first and the last line of the whole
    row are shared with neighbouring rows and written number by number; otherwise a remainder waits at the start of the
    buffer."""
    real, size = width.element, width.size
    return f"""
define internal fastcc void @kinetree.flush(ptr %to, ptr %from, i1 %first, i64 %length, i1 %last, i1 %past)
    nounwind noinline {{
entry:
  %address = ptrtoint ptr %to to i64
  %shift = and i64 %address, {LINE - 1}
  %back = sub i64 0, %shift
  %lines = getelementptr i8, ptr %to, i64 %back
  %end = add i64 %shift, %length
  %inside = icmp ne i64 %shift, 0
  %ragged = and i1 %first, %inside
  br i1 %ragged, label %head, label %line
head:
  %h = phi i64 [%shift, %entry], [%h.next, %head]
  %h.from = getelementptr i8, ptr %from, i64 %h
  %h.to = getelementptr i8, ptr %lines, i64 %h
  %h.value = load {real}, ptr %h.from, align {size}
  store {real} %h.value, ptr %h.to, align {size}
  %h.next = add i64 %h, {size}
  %h.more = icmp slt i64 %h.next, {LINE}
  br i1 %h.more, label %head, label %line
line:
  %k = phi i64 [0, %entry], [{LINE}, %head], [%k.next, %stream], [%k.next, %plain]
  %k.next = add i64 %k, {LINE}
  %fits = icmp sle i64 %k.next, %end
  br i1 %fits, label %whole, label %over
whole:
  %k.from = getelementptr i8, ptr %from, i64 %k
  %k.to = getelementptr i8, ptr %lines, i64 %k
  %k.value = load <8 x double>, ptr %k.from, align 8
  br i1 %past, label %stream, label %plain
stream:
  store <8 x double> %k.value, ptr %k.to, align {LINE}, !nontemporal !0
  br label %line
plain:
  store <8 x double> %k.value, ptr %k.to, align {LINE}
  br label %line
over:
  br i1 %last, label %tail, label %carry
carry:
  %c.from = getelementptr i8, ptr %from, i64 %k
  %c.value = load <8 x double>, ptr %c.from, align 8
  store <8 x double> %c.value, ptr %from, align 8
  ret void
tail:
  %t = phi i64 [%k, %over], [%t.next, %number]
  %t.more = icmp slt i64 %t, %end
  br i1 %t.more, label %number, label %done
number:
  %t.from = getelementptr i8, ptr %from, i64 %t
  %t.to = getelementptr i8, ptr %lines, i64 %t
  %t.value = load {real}, ptr %t.from, align {size}
  store {real} %t.value, ptr %t.to, align {size}
  %t.next = add i64 %t, {size}
  br label %tail
done:
  ret void
}}"""
