"""Results of a block: lanes are transposed to the rows of the output arrays.

Tiles of zeros only are written without reading the lanes. Rows begin anywhere in a cache line, and writing many of them
in turn, each across lines, is slow. So some columns of long rows are collected in a small write buffer, each row with
the alignment that it has in memory, and written in whole lines; a remainder waits for the next columns. The lines of a
large batch bypass the cache (nontemporal stores): otherwise each line is read before it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import islice

from kinetree.compiler.codegen.ir import Lines, Width
from kinetree.compiler.codegen.kernel import COLUMNS, BlockSpace, buffer_row_size, is_zero
from kinetree.compiler.codegen.prefetches import LINE
from kinetree.compiler.codegen.tiles import aligned, mask, transposed
from kinetree.compiler.graph.expr import Node

STREAMED = 2**20
"""The size of results, in bytes, from which on they bypass the cache: about the size of an L2 cache."""


def streamed_size(space: BlockSpace) -> int:
    """The size, in bytes, of the results of one state that may bypass the cache."""
    return space.width.size * sum(n for n in space.layout.outputs if n >= COLUMNS)


def fields(b: Lines, space: BlockSpace) -> tuple[list[tuple[str, str, str]], list[tuple[str, str]]]:
    """The words of the whole descriptor; LLVM removes unused ones: for every input its address and the strides between
    states and numbers, for every output its address and the stride between states."""
    inputs, outputs = len(space.layout.inputs), len(space.layout.outputs)
    of_inputs = [
        (b.word("%descriptor", 3 * j, "ptr"), b.word("%descriptor", 3 * j + 1), b.word("%descriptor", 3 * j + 2))
        for j in range(inputs)
    ]
    of_outputs = [
        (b.word("%descriptor", k, "ptr"), b.word("%descriptor", k + 1))
        for k in range(3 * inputs, 3 * inputs + 2 * outputs, 2)
    ]
    return of_inputs, of_outputs


def count(b: Lines) -> str:
    """The number of states of the block at state i."""
    left = b.i64("sub", "%stop", "%i")
    return b.let(f"select i1 {b.i64('icmp slt', left, b.width.lanes)}, i64 {left}, i64 {b.width.lanes}")


def emit_write(space: BlockSpace, outputs: Sequence[Node]) -> str:
    """A function that writes the outputs of the block at state i as rows."""
    b, width, zeros = Lines(space.width), space.width, zero_tiles(space, outputs)
    (_, places), states = fields(b, space), count(b)
    whole, buffer = b.i64("icmp eq", states, width.lanes), b.at("%work", space.write_buffer)

    def write(j: int, n: int, out: str, back: str) -> None:
        to = b.at(out, b.i64("mul", "%i", back), width.element)
        given = f"{j}(ptr {to}, ptr {b.at('%work', space.result(j))}"

        def write_rows() -> None:
            _prefetch(b, to, back, n)
            b.add(f"call fastcc void @kinetree.unpack.{given}, i64 {back}, i64 {states})")

        if n < COLUMNS:
            return write_rows()
        aligned = b.let(f"and i1 {whole}, {b.i64('icmp eq', back, n)}")
        buffered = f"call fastcc void @kinetree.buffered.{given}, ptr {buffer}, i1 %streaming)"
        return b.choose(aligned, lambda: b.add(buffered), write_rows)

    for j, (n, place) in enumerate(zip(space.layout.outputs, places, strict=True)):
        write(j, n, *place)
    written = b.internal("kinetree.write", "i64 %i, i64 %stop, ptr %descriptor, ptr %work, i1 %streaming")
    long = [_buffered(j, n, width, zeros[j]) for j, n in enumerate(space.layout.outputs) if n >= COLUMNS]
    return "\n\n".join([written, *long, *unpacks(space, zeros), _flush_whole(width), _flush(width), "!0 = !{i32 1}"])


MAX_LINES = 64
"""The maximum number of cache lines of one array to prefetch; the CPU prefetches the rest of longer rows."""


def _prefetch(b: Lines, start: str, row: str, n: int) -> None:
    """Prefetch, to write, the cache lines of the next block, whose rows follow those at `start`."""
    following = b.at(start, b.i64("mul", row, b.width.lanes), b.width.element)
    for line in range(min(-(-n * b.width.bytes // LINE), MAX_LINES)):
        b.add(f"call void @llvm.prefetch.p0(ptr {b.at(following, line * LINE)}, i32 1, i32 3, i32 1)")


def zero_tiles(space: BlockSpace, outputs: Sequence[Node]) -> list[list[bool]]:
    """For each output, and each of its whole tiles, whether it holds zeros only."""
    numbers, W = iter(outputs), space.width.lanes
    rows = [list(map(is_zero, islice(numbers, n))) for n in space.layout.outputs]
    return [[all(row[k : k + W]) for k in range(0, len(row) - W + 1, W)] for row in rows]


def unpacks(space: BlockSpace, zeros: Sequence[Sequence[bool]]) -> list[str]:
    """Functions that write the outputs, with tables of their tiles that are zeros."""
    texts = []
    for j, (n, flags) in enumerate(zip(space.layout.outputs, zeros, strict=True)):
        listed = ", ".join(f"i8 {int(zero)}" for zero in flags)
        table = f"@kinetree.zeros.{j} = internal constant [{len(flags)} x i8] [{listed}]"
        texts += [_unpack(j, n, space.width, flags), table]
    return texts


def _unpack(j: int, n: int, width: Width, zeros: Sequence[bool]) -> str:
    """A function that writes n values of each of the first `count` lanes as rows of any stride."""
    W, real, b = width.lanes, width.element, Lines(width)
    full = b.i64("icmp eq", "%count", W)
    rows = [b.at("%dst", b.i64("mul", "%row", lane), real) for lane in range(W)]

    def tiles() -> None:
        _tiles(b, j, 0, n - n % W, rows, zeros)
        if n % W:
            _tile(b, n - n % W, n - n % W, rows, n % W)

    def one_by_one() -> None:
        with b.loop(0, 1, b.i64("mul", "%count", n)) as number:
            lane, k = b.i64("udiv", number, max(n, 1)), b.i64("urem", number, max(n, 1))
            value = b.load(real, b.at("%src", b.i64("add", b.i64("mul", k, W), lane), real), width.size)
            to = b.at("%dst", b.i64("add", b.i64("mul", lane, "%row"), k), real)
            b.store(real, value, to, width.size)

    b.choose(full, tiles, one_by_one)
    return b.internal(f"kinetree.unpack.{j}", "ptr %dst, ptr %src, i64 %row, i64 %count")


def _buffered(j: int, n: int, width: Width, zeros: Sequence[bool]) -> str:
    """A function that writes n values of every lane as consecutive rows, in whole lines; with `past`, they bypass the
    cache."""
    W, b, places, rows = width.lanes, Lines(width), [], []
    whole, rest = n - n % COLUMNS, n % COLUMNS
    for lane in range(W):
        to = b.at("%dst", lane * n, width.element)
        shift = b.i64("and", b.let(f"ptrtoint ptr {to} to i64"), LINE - 1)
        places.append((to, b.at("%buffer", lane * buffer_row_size(width))))
        rows.append(b.at(places[-1][1], shift))

    def flush(column: str | int, first: str, numbers: int, last: str) -> None:
        for to, source in places:
            b.add(
                f"call fastcc void @kinetree.flush{'.whole' * (numbers == COLUMNS)}"
                f"(ptr {b.at(to, column, width.element)}, ptr {source}, "
                f"i1 {first}, i64 {width.size * numbers}, i1 {last}, i1 %past)"
            )

    with b.loop(0, COLUMNS, whole) as chunk:
        end = b.i64("add", chunk, COLUMNS)
        first, last = b.i64("icmp eq", chunk, 0), b.i64("icmp eq", end, n)
        _tiles(b, j, chunk, end, rows, zeros, origin=chunk)
        flush(chunk, first, COLUMNS, last)
    if rest:
        odd = n - n % W
        _tiles(b, j, whole, odd, rows, zeros, origin=whole)
        if n % W:
            _tile(b, odd, odd - whole, rows, n % W)
        flush(whole, "false", rest, "true")
    return b.internal(f"kinetree.buffered.{j}", "ptr %dst, ptr %src, ptr %buffer, i1 %past")


def _tiles(
    b: Lines, j: int, start: str | int, stop: str | int, rows: Sequence[str], zeros: Sequence[bool],
    origin: str | int | None = None,
) -> None:  # fmt: skip
    """A loop over the tiles from number `start` to `stop`; the rows begin with number `origin`, or 0."""
    W = b.width.lanes
    with b.loop(start, W, stop) as k:
        offset = k if origin is None else b.i64("sub", k, origin)
        if any(zeros):
            index = b.i64("lshr", k, W.bit_length() - 1)
            flag = b.load("i8", b.at(f"@kinetree.zeros.{j}", index), 1)
            b.choose(
                b.let(f"icmp ne i8 {flag}, 0"),
                lambda: _store_rows(b, offset, rows, ["zeroinitializer"] * W, W),
                lambda: _tile(b, k, offset, rows, W),
            )
        else:
            _tile(b, k, offset, rows, W)


def _tile(b: Lines, start: str | int, offset: str | int, rows: Sequence[str], columns: int) -> None:
    """Transpose and store `columns` numbers of all lanes, beginning with number `start`."""
    width, W, vectors = b.width, b.width.lanes, []
    for column in range(columns):
        source = b.at("%src", b.i64("mul", b.i64("add", start, column), W), width.element)
        vectors.append(b.load(width.real, source, width.size))
    _store_rows(b, offset, rows, transposed(b, [*vectors, *["zeroinitializer"] * (W - columns)]), columns)


def _store_rows(b: Lines, offset: str | int, rows: Sequence[str], vectors: Sequence[str], columns: int) -> None:
    width = b.width
    for row, vector in zip(rows, vectors, strict=True):
        to = b.at(row, offset, width.element)
        if columns == width.lanes:
            b.store(width.real, vector, to, width.size)
        else:
            b.add(
                f"call void @llvm.masked.store.{width.suffix}.p0({width.real} {vector}, "
                f"{aligned(to, width)}, {mask(columns, width.lanes)})"
            )


FLUSH = "ptr %to, ptr %from, i1 %first, i64 %length, i1 %last, i1 %past"
EIGHT = "<8 x double>"
"""A line of the cache."""


def _shift(b: Lines) -> tuple[str, str]:
    """How far the row is behind the beginning of a line of the cache, and the address of that line."""
    shift = b.i64("and", b.let("ptrtoint ptr %to to i64"), LINE - 1)
    return shift, b.at("%to", b.i64("sub", 0, shift))


def _store_lines(b: Lines, lines: Sequence[tuple[str, str]]) -> None:
    """Store values of whole lines at these addresses; with `past`, they bypass the cache."""

    def store(mark: str) -> None:
        for value, to in lines:
            b.add(f"store {EIGHT} {value}, ptr {to}, align {LINE}{mark}")

    b.choose("%past", partial(store, ", !nontemporal !0"), partial(store, ""))


def _flush_whole(width: Width) -> str:
    """A faster flush of a full buffer row: a fixed number of whole lines, and a remainder for the next."""
    b, count = Lines(width), width.size * COLUMNS // LINE
    shift, start = _shift(b)

    def write_lines() -> None:
        values = [b.load(EIGHT, b.at("%from", k * LINE), LINE) for k in range(count + 1)]
        b.store(EIGHT, values[count], "%from", LINE)
        _store_lines(b, [(value, b.at(start, k * LINE)) for k, value in enumerate(values[:count])])

    general = f"call fastcc void @kinetree.flush({FLUSH})"
    ends = b.let("or i1 %first, %last")
    b.choose(b.let(f"and i1 {ends}, {b.i64('icmp ne', shift, 0)}"), partial(b.add, general), write_lines)
    return b.internal("kinetree.flush.whole", FLUSH)


def _flush(width: Width) -> str:
    """A function that moves `length` bytes of one row from the buffer to `to`. The first and the last line of the whole
    row are shared with neighbouring rows and written number by number; otherwise a remainder waits at the start of the
    buffer."""
    b = Lines(width)
    shift, start = _shift(b)
    end = b.i64("add", shift, "%length")
    ragged = b.let(f"and i1 %first, {b.i64('icmp ne', shift, 0)}")

    def move_numbers(first: str, last: str | int) -> None:
        with b.loop(first, width.size, last) as k:
            b.store(width.element, b.load(width.element, b.at("%from", k), width.size), b.at(start, k), width.size)

    b.choose(ragged, lambda: move_numbers(shift, LINE))
    begun = b.let(f"select i1 {ragged}, i64 {LINE}, i64 0")
    lines = b.i64("and", b.i64("sub", end, begun), -LINE)
    whole = b.i64("add", begun, lines)
    with b.loop(begun, LINE, whole) as k:
        _store_lines(b, [(b.load(EIGHT, b.at("%from", k)), b.at(start, k))])
    b.choose(
        "%last", lambda: move_numbers(whole, end), lambda: b.store(EIGHT, b.load(EIGHT, b.at("%from", whole)), "%from")
    )
    return b.internal("kinetree.flush", FLUSH)
