"""The loop over a batch: rows of many states to lanes side by side, the kernel, and back.

A batch arrives as rows of any stride. Where the states of one coordinate lie side by side in memory (F order), the
kernel reads them as they are; otherwise W rows are transposed into the workspace, tile by tile. The last, incomplete
block repeats its last state in the lanes that are left over and drops their results.

Very long kernels do not fit the instruction cache, so that every block fetches them anew. There two blocks go through
each part together while its instructions are at hand; more would need too much memory at a time.
"""

from __future__ import annotations

from kinetree.compiler.code import BATCH
from kinetree.compiler.emit.ir import Width
from kinetree.compiler.emit.kernel import BlockSpace

BLOCK = "kinetree_block"
LONG = 4
"""Parts above which a kernel is a long one: by measurement, with parts of a thousand operations."""
CACHE_LINE = 64
MOST_LINES = 64
"""Lines of one array to ask for ahead; the CPU follows longer rows by itself."""


def group_size(parts: int) -> int:
    """How many blocks, each with a workspace of its own, are under way at a time."""
    return 2 if parts > LONG else 1


def emit_batch(space: BlockSpace, parts: int) -> str:
    """void kinetree_batch(start, stop, descriptor, workspace): the states from start to stop.

    The descriptor holds, as i64: address, stride from state to state and stride from number to number of every input,
    then address and stride from state to state of every output, all strides in numbers.
    """
    W, group = space.width.lanes, group_size(parts)
    lines = [
        f"define void @{BATCH}(i64 %start, i64 %stop, ptr %descriptor, ptr %work) nounwind {{",
        "group.enter:",
        *_loop("group", "%start", W * group, "%stop", _group(space, parts), "end", last="group.done"),
        "end:",
        "  ret void",
        "}",
    ]
    texts = ["\n".join(lines), _read(space), _write(space)]
    texts += [_pack(size, space.width) for size in dict.fromkeys(space.layout.inputs)]
    texts += [_unpack(size, space.width) for size in dict.fromkeys(space.layout.outputs)]
    return "\n\n".join(texts)


def _group(space: BlockSpace, parts: int) -> list[str]:
    """Read a group of blocks, run every part on all of them, write them."""
    W, group = space.width.lanes, group_size(parts)
    arguments = "i64 %{0}, i64 %stop, ptr %descriptor, ptr %{0}.work"
    lines = [
        f"  %past = add i64 %group, {W * group}",
        "  %over = icmp sgt i64 %past, %stop",
        "  %limit = select i1 %over, i64 %stop, i64 %past",
    ]
    steps = [("reading", f"  call fastcc void @kinetree.read({arguments.format('reading')})")]
    steps += [(f"part{k}", f"  call fastcc void @{BLOCK}.part{k}(ptr %part{k}.work)") for k in range(parts)]
    steps += [("writing", f"  call fastcc void @kinetree.write({arguments.format('writing')})")]
    for (name, call), (after, _) in zip(steps, [*steps[1:], ("group.done", "")], strict=True):
        body = [
            f"  %{name}.behind = sub i64 %{name}, %group",
            f"  %{name}.offset = mul i64 %{name}.behind, {space.size // W}",
            f"  %{name}.work = getelementptr i8, ptr %work, i64 %{name}.offset",
            call,
        ]
        following = after if after == "group.done" else f"{after}.enter"
        lines += [f"  br label %{name}.enter", f"{name}.enter:"] if name == "reading" else [f"{name}.enter:"]
        lines += _loop(name, "%group", W, "%limit", body, following)
    return [*lines, "group.done:"]


def _fields(space: BlockSpace) -> list[str]:
    """Load all of the descriptor; what is not used costs nothing."""
    names = [name for j in range(len(space.layout.inputs)) for name in (f"in{j}", f"row{j}", f"column{j}")]
    names += [name for j in range(len(space.layout.outputs)) for name in (f"out{j}", f"back{j}")]
    lines = []
    for k, name in enumerate(names):
        kind = "ptr" if name.startswith(("in", "out")) else "i64"
        lines.append(f"  %{name}.at = getelementptr i64, ptr %descriptor, i64 {k}")
        lines.append(f"  %{name} = load {kind}, ptr %{name}.at, align 8")
    return lines


def _count(W: int) -> list[str]:
    """How many states this block really has."""
    return [
        "  %left = sub i64 %stop, %i",
        f"  %short = icmp slt i64 %left, {W}",
        f"  %count = select i1 %short, i64 %left, i64 {W}",
    ]


def _read(space: BlockSpace) -> str:
    """Inputs of the block at state i: where they lie side by side as they are, otherwise transposed."""
    W, width = space.width.lanes, space.width
    lines = [
        "define internal fastcc void @kinetree.read(i64 %i, i64 %stop, ptr %descriptor, ptr %work) nounwind noinline {",
        *_fields(space),
        *_count(W),
        f"  %whole = icmp eq i64 %count, {W}",
        "  br label %begin0",
    ]
    for j, size in enumerate(space.layout.inputs):
        lines += [
            f"begin{j}:",
            f"  %offset{j} = mul i64 %i, %row{j}",
            f"  %rows{j} = getelementptr double, ptr %in{j}, i64 %offset{j}",
            *_prefetch(f"in{j}", f"%rows{j}", f"%row{j}", size, width, write=False),
            f"  %aside{j} = icmp eq i64 %row{j}, 1",
            f"  %direct{j} = and i1 %aside{j}, %whole",
            f"  %packed{j} = getelementptr i8, ptr %work, i64 {space.packed(j)}",
            f"  %from{j} = select i1 %direct{j}, ptr %rows{j}, ptr %packed{j}",
            f"  %stride{j} = select i1 %direct{j}, i64 %column{j}, i64 {W}",
            f"  %from{j}.at = getelementptr i8, ptr %work, i64 {16 * j}",
            f"  store ptr %from{j}, ptr %from{j}.at, align 8",
            f"  %stride{j}.at = getelementptr i8, ptr %work, i64 {16 * j + 8}",
            f"  store i64 %stride{j}, ptr %stride{j}.at, align 8",
            f"  br i1 %direct{j}, label %begin{j + 1}, label %pack{j}",
            f"pack{j}:",
            f"  call fastcc void @kinetree.pack.{size}(ptr %packed{j}, ptr %rows{j}, i64 %row{j}, i64 %column{j}, "
            "i64 %count)",
            f"  br label %begin{j + 1}",
        ]
    lines += [f"begin{len(space.layout.inputs)}:", "  ret void", "}"]
    return "\n".join(lines)


def _write(space: BlockSpace) -> str:
    """Outputs of the block at state i, as rows."""
    lines = [
        "define internal fastcc void @kinetree.write(i64 %i, i64 %stop, ptr %descriptor, ptr %work) "
        "nounwind noinline {",
        *_fields(space),
        *_count(space.width.lanes),
    ]
    for j, size in enumerate(space.layout.outputs):
        lines += [
            f"  %to{j}.offset = mul i64 %i, %back{j}",
            f"  %to{j} = getelementptr double, ptr %out{j}, i64 %to{j}.offset",
            f"  %result{j} = getelementptr i8, ptr %work, i64 {space.result(j)}",
            *_prefetch(f"out{j}", f"%to{j}", f"%back{j}", size, space.width, write=True),
            f"  call fastcc void @kinetree.unpack.{size}(ptr %to{j}, ptr %result{j}, i64 %back{j}, i64 %count)",
        ]
    return "\n".join([*lines, "  ret void", "}"])


def _prefetch(p: str, start: str, row: str, n: int, width: Width, write: bool) -> list[str]:
    """Ask for the cache lines of the next block while this one is computed: its rows lie behind those at `start`."""
    lines = [
        f"  %{p}.ahead = mul i64 {row}, {width.lanes}",
        f"  %{p}.next = getelementptr double, ptr {start}, i64 %{p}.ahead",
    ]
    for line in range(min(-(-n * width.bytes // CACHE_LINE), MOST_LINES)):
        lines += [
            f"  %{p}.line{line} = getelementptr i8, ptr %{p}.next, i64 {line * CACHE_LINE}",
            f"  call void @llvm.prefetch.p0(ptr %{p}.line{line}, i32 {int(write)}, i32 3, i32 1)",
        ]
    return lines


def _loop(
    name: str, start: str, step: int, limit: str, body: list[str], after: str, last: str | None = None
) -> list[str]:
    """for (k = start; k < limit; k += step) body; then go to `after`.

    The body uses %{name}; where it has blocks of its own, `last` is the one it ends with. Entered from {name}.enter.
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


def _pack(n: int, width: Width) -> str:
    """n columns of up to W rows, transposed so that the W values of a column lie side by side."""
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
    lines += _loop("tile", "0", W, str(whole), _pack_tile("a", "%tile", W, W, width), "rest")
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
            f"  %sp{lane} = getelementptr double, ptr %src, i64 %so{lane}",
            f"  %v{lane} = load double, ptr %sp{lane}, align 8",
            f"  %do{lane} = add i64 %one.to, {lane}",
            f"  %dp{lane} = getelementptr double, ptr %dst, i64 %do{lane}",
            f"  store double %v{lane}, ptr %dp{lane}, align 8",
        ]
    lines += _loop("one", "0", 1, str(n), body, "end")
    lines += ["end:", "  ret void", "}"]
    return "\n".join(lines)


def _unpack(n: int, width: Width) -> str:
    """The reverse: n values of each of the first `count` lanes as rows."""
    W = width.lanes
    whole = n - n % W
    lines = [
        f"define internal fastcc void @kinetree.unpack.{n}(ptr %dst, ptr %src, i64 %row, i64 %count) "
        "nounwind noinline {",
        f"  %full = icmp eq i64 %count, {W}",
        "  br i1 %full, label %tile.enter, label %lane.enter",
        "tile.enter:",
    ]
    lines += _loop("tile", "0", W, str(whole), _unpack_tile("a", "%tile", W, width), "rest")
    lines.append("rest:")
    if n % W:
        lines += _unpack_tile("b", str(whole), n % W, width)
    lines += ["  ret void", "lane.enter:", "  %total = mul i64 %count, " + str(n)]
    body = [
        f"  %l = udiv i64 %lane, {max(n, 1)}",
        f"  %k = urem i64 %lane, {max(n, 1)}",
        f"  %kw = mul i64 %k, {W}",
        "  %so = add i64 %kw, %l",
        "  %sp = getelementptr double, ptr %src, i64 %so",
        "  %v = load double, ptr %sp, align 8",
        "  %lr = mul i64 %l, %row",
        "  %do = add i64 %lr, %k",
        "  %dp = getelementptr double, ptr %dst, i64 %do",
        "  store double %v, ptr %dp, align 8",
    ]
    lines += _loop("lane", "0", 1, "%total", body, "end")
    lines += ["end:", "  ret void", "}"]
    return "\n".join(lines)


def _mask(columns: int, W: int) -> str:
    return f"<{W} x i1> <{', '.join(f'i1 {int(k < columns)}' for k in range(W))}>"


def _aligned(place: str, width: Width) -> str:
    return f"ptr {place}, i32 8" if width.older else f"ptr align 8 {place}"


def _pack_tile(p: str, start: str, W: int, columns: int, width: Width) -> list[str]:
    """W rows by `columns` columns from column `start` on."""
    real, lines = width.real, []
    for row in range(W):
        lines += [
            f"  %{p}r{row} = mul i64 %row, {row}",
            f"  %{p}o{row} = add i64 %{p}r{row}, {start}",
            f"  %{p}s{row} = getelementptr double, ptr %src, i64 %{p}o{row}",
        ]
        if columns == W:
            lines.append(f"  %{p}v{row} = load {real}, ptr %{p}s{row}, align 8")
        else:
            lines.append(
                f"  %{p}v{row} = call {real} @llvm.masked.load.{width.suffix}.p0({_aligned(f'%{p}s{row}', width)}, "
                f"{_mask(columns, W)}, {real} zeroinitializer)"
            )
    names = _transpose(p, [f"%{p}v{row}" for row in range(W)], width, lines)
    for column in range(columns):
        lines += [
            f"  %{p}k{column} = add i64 {start}, {column}",
            f"  %{p}w{column} = mul i64 %{p}k{column}, {W}",
            f"  %{p}d{column} = getelementptr double, ptr %dst, i64 %{p}w{column}",
            f"  store {real} {names[column]}, ptr %{p}d{column}, align 8",
        ]
    return lines


def _unpack_tile(p: str, start: str, columns: int, width: Width) -> list[str]:
    W, real, lines = width.lanes, width.real, []
    names = []
    for column in range(W):
        if column >= columns:
            names.append("zeroinitializer")
            continue
        lines += [
            f"  %{p}k{column} = add i64 {start}, {column}",
            f"  %{p}w{column} = mul i64 %{p}k{column}, {W}",
            f"  %{p}s{column} = getelementptr double, ptr %src, i64 %{p}w{column}",
            f"  %{p}v{column} = load {real}, ptr %{p}s{column}, align 8",
        ]
        names.append(f"%{p}v{column}")
    names = _transpose(p, names, width, lines)
    for row in range(W):
        lines += [
            f"  %{p}r{row} = mul i64 %row, {row}",
            f"  %{p}o{row} = add i64 %{p}r{row}, {start}",
            f"  %{p}d{row} = getelementptr double, ptr %dst, i64 %{p}o{row}",
        ]
        if columns == W:
            lines.append(f"  store {real} {names[row]}, ptr %{p}d{row}, align 8")
        else:
            lines.append(
                f"  call void @llvm.masked.store.{width.suffix}.p0({real} {names[row]}, "
                f"{_aligned(f'%{p}d{row}', width)}, {_mask(columns, W)})"
            )
    return lines


def _transpose(p: str, rows: list[str], width: Width, lines: list[str]) -> list[str]:
    """W vectors of W lanes, transposed by swapping ever larger blocks."""
    W, real = width.lanes, width.real
    distance = 1
    while distance < W:
        new = list(rows)
        for i in range(W):
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
