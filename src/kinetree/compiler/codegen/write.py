"""Results of a block: lanes are transposed to the rows of the output arrays.

A table says where in the workspace the lanes of each number are. Tiles of zeros only are written without reading them.
Rows begin anywhere in a cache line, and stores across lines are slow. So long rows are written in whole aligned
vectors: the W rows of a block together begin and end at an aligned address, and where one row ends within a vector, the
next one begins. Those of a large batch bypass the cache (nontemporal stores): otherwise each line is read before it is
written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice

from kinetree.compiler.codegen.ir import Lines, Width
from kinetree.compiler.codegen.kernel import BlockSpace, is_zero
from kinetree.compiler.codegen.prefetches import LINE
from kinetree.compiler.codegen.tiles import aligned, mask, piece_columns, read_columns

STREAMED = 2**20
"""The size of results, in bytes, from which on they bypass the cache: about the size of an L2 cache."""
LONG = 64
"""The numbers of a row from which on it is written in whole vectors."""


def streamed_size(space: BlockSpace) -> int:
    """The size, in bytes, of the results of one state that may bypass the cache."""
    return space.width.size * sum(n for n in space.layout.outputs if n >= LONG)


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


def emit_write(space: BlockSpace) -> str:
    """A function that writes the outputs of the block at state i as rows."""
    b, width = Lines(space.width), space.width
    (_, places), states = fields(b, space), count(b)
    whole = b.i64("icmp eq", states, width.lanes)

    def write(j: int, n: int, out: str, back: str) -> None:
        to = b.at(out, b.i64("mul", "%i", back), width.element)

        def write_rows() -> None:
            _prefetch(b, to, back, n)
            b.add(f"call fastcc void @kinetree.unpack.{j}(ptr {to}, ptr %work, i64 {back}, i64 {states})")

        if n < LONG:
            return write_rows()
        offset = b.i64("and", b.let(f"ptrtoint ptr {to} to i64"), width.bytes - 1)
        together = b.let(f"and i1 {b.i64('icmp eq', back, n)}, {whole}")
        write_any: Callable[[], None] = write_rows
        for known in offsets(width):
            here = b.let(f"and i1 {together}, {b.i64('icmp eq', offset, known)}")
            vectors = f"call fastcc void @kinetree.vectors.{j}.{known}(ptr {to}, ptr %work, i1 %streaming)"
            write_any = partial(b.choose, here, partial(b.add, vectors), write_any)
        return write_any()

    for j, (n, place) in enumerate(zip(space.layout.outputs, places, strict=True)):
        write(j, n, *place)
    written = b.internal("kinetree.write", "i64 %i, i64 %stop, ptr %descriptor, ptr %work, i1 %streaming")
    zeros = zero_tiles(space)
    long = [
        _vectors(j, n, width, zeros[j], offset)
        for j, n in enumerate(space.layout.outputs)
        if n >= LONG
        for offset in offsets(width)
    ]
    return "\n\n".join([written, *long, *unpacks(space), "!0 = !{i32 1}"])


MAX_LINES = 64
"""The maximum number of cache lines of one array to prefetch; the CPU prefetches the rest of longer rows."""


def _prefetch(b: Lines, start: str, row: str, n: int) -> None:
    """Prefetch, to write, the cache lines of the next block, whose rows follow those at `start`."""
    following = b.at(start, b.i64("mul", row, b.width.lanes), b.width.element)
    for line in range(min(-(-n * b.width.bytes // LINE), MAX_LINES)):
        b.add(f"call void @llvm.prefetch.p0(ptr {b.at(following, line * LINE)}, i32 1, i32 3, i32 1)")


def zero_tiles(space: BlockSpace) -> list[list[bool]]:
    """For each output, and each of its whole tiles, whether it holds zeros only."""
    numbers, W = iter(space.outputs), space.width.lanes
    rows = [list(map(is_zero, islice(numbers, n))) for n in space.layout.outputs]
    return [[all(row[k : k + W]) for k in range(0, len(row) - W + 1, W)] for row in rows]


def unpacks(space: BlockSpace) -> list[str]:
    """Functions that write the outputs, with tables of the offsets of their numbers and of their tiles of zeros."""
    texts = []
    outputs = zip(space.layout.outputs, space.result_offsets, zero_tiles(space), strict=True)
    for j, (n, offsets, zeros) in enumerate(outputs):
        texts.append(_unpack(j, n, space.width, zeros))
        texts.append(_table(f"kinetree.places.{j}", "i32", offsets))
        texts.append(_table(f"kinetree.zeros.{j}", "i8", map(int, zeros)))
    return texts


def _table(name: str, kind: str, numbers: Iterable[int]) -> str:
    listed = [f"{kind} {number}" for number in numbers]
    return f"@{name} = internal constant [{len(listed)} x {kind}] [{', '.join(listed)}]"


def place(b: Lines, j: int, k: str | int) -> str:
    """The address of the lanes of number k of output j."""
    offset = b.load("i32", b.at(f"@kinetree.places.{j}", k, "i32"), 4)
    return b.at("%work", b.let(f"zext i32 {offset} to i64"))


def _unpack(j: int, n: int, width: Width, zeros: Sequence[bool]) -> str:
    """A function that writes n values of each of the first `count` lanes as rows of any stride."""
    W, real, b = width.lanes, width.element, Lines(width)
    full = b.i64("icmp eq", "%count", W)
    rows = [b.at("%dst", b.i64("mul", "%row", lane), real) for lane in range(W)]

    def store(start: str | int, columns: int) -> None:
        values = _tile(b, j, start, zeros) if columns == W else _read_tile(b, j, start, columns)
        for row, value in zip(rows, values, strict=True):
            to = b.at(row, start, real)
            if columns == W:
                b.store(width.real, value, to, width.size)
            else:
                _masked_store(b, value, to, range(columns))

    def tiles() -> None:
        with b.loop(0, W, n - n % W) as k:
            store(k, W)
        if n % W:
            store(n - n % W, n % W)

    def one_by_one() -> None:
        with b.loop(0, 1, b.i64("mul", "%count", n)) as number:
            lane, k = b.i64("udiv", number, max(n, 1)), b.i64("urem", number, max(n, 1))
            value = b.load(real, b.at(place(b, j, k), lane, real), width.size)
            b.store(real, value, b.at("%dst", b.i64("add", b.i64("mul", lane, "%row"), k), real), width.size)

    b.choose(full, tiles, one_by_one)
    return b.internal(f"kinetree.unpack.{j}", "ptr %dst, ptr %work, i64 %row, i64 %count")


def offsets(width: Width) -> list[int]:
    """How many bytes behind an aligned address results may begin to be written in whole vectors: 0, or what the C
    library places before large arrays."""
    return [0, 16] if width.bytes > 16 else [0]


def _vectors(j: int, n: int, width: Width, zeros: Sequence[bool], offset: int) -> str:
    """A function that writes n values of every lane as consecutive rows, `offset` bytes behind an aligned address, in
    whole vectors but for the first and the last one; with `past`, they bypass the cache."""
    W, b, rest = width.lanes, Lines(width), n % width.lanes
    shifts = [(offset // width.size + lane * n) % W for lane in range(W)]
    """The numbers from an aligned address to the beginning of each row."""
    starts = [b.at("%dst", lane * n - shift, width.element) for lane, shift in enumerate(shifts)]

    def moved(before: str, here: str, shift: int) -> str:
        """The last `shift` numbers of the tile before, and the first of this one."""
        return b.shuffle(before, here, range(W - shift, 2 * W - shift), W) if shift else here

    def store(vectors: Sequence[tuple[int, str | int, str]]) -> None:
        """Store vectors, each so many numbers behind the start of its row."""
        targets = [(b.at(starts[lane], k, width.element), vector) for lane, k, vector in vectors]

        def write(mark: str) -> None:
            for to, vector in targets:
                b.add(f"store {width.real} {vector}, ptr {to}, align {width.bytes}{mark}")

        b.choose("%past", partial(write, ", !nontemporal !0"), partial(write, ""))

    def next_tile(k: str, before: Sequence[str]) -> Sequence[str]:
        tile = _tile(b, j, k, zeros)
        store([(lane, k, moved(before[lane], tile[lane], shift)) for lane, shift in enumerate(shifts)])
        return tile

    def store_some(lane: int, k: int, vector: str, lanes: range) -> None:
        _masked_store(b, vector, b.at(starts[lane], k, width.element), lanes)

    first = _tile(b, j, 0, zeros)
    if shifts[0]:
        store_some(0, 0, moved(first[0], first[0], shifts[0]), range(shifts[0], W))
    store([(lane, 0, first[lane]) for lane, shift in enumerate(shifts) if not shift])
    last = b.fold(W, W, n - rest, first, next_tile)
    remainder = _read_tile(b, j, n - rest, rest) if rest else last
    ends: list[tuple[int, str | int, str]] = []
    for lane, (shift, left) in enumerate(zip(shifts, [*shifts[1:], shifts[0]], strict=True)):
        before, k = last[lane], n - rest
        if rest and shift + rest >= W:
            ends.append((lane, k, moved(before, remainder[lane], shift)))
            before, k = remainder[lane], k + W
        tail = moved(before, remainder[lane], shift)
        if left and lane == W - 1:
            store_some(lane, k, tail, range(left))
        elif left:  # of this row, and the beginning of the next one
            ends.append((lane, k, b.shuffle(tail, first[lane + 1], [*range(left), *range(W, 2 * W - left)], W)))
    store(ends)
    return b.internal(f"kinetree.vectors.{j}.{offset}", "ptr %dst, ptr %work, i1 %past")


def _masked_store(b: Lines, vector: str, to: str, lanes: range) -> None:
    width = b.width
    where = f"{aligned(to, width)}, {mask(lanes, width.lanes)}"
    b.add(f"call void @llvm.masked.store.{width.suffix}.p0({width.real} {vector}, {where})")


def _tile(b: Lines, j: int, start: str | int, zeros: Sequence[bool]) -> list[str]:
    """The rows of a whole tile of output j that begins with number `start`."""
    W = b.width.lanes
    if not any(zeros):
        return _read_tile(b, j, start, W)
    flag = b.load("i8", b.at(f"@kinetree.zeros.{j}", b.i64("lshr", start, W.bit_length() - 1)), 1)
    nothing = ["zeroinitializer"] * W
    return b.either(b.let(f"icmp ne i8 {flag}, 0"), lambda: nothing, lambda: _read_tile(b, j, start, W))


def _read_tile(b: Lines, j: int, start: str | int, columns: int) -> list[str]:
    """The rows of `columns` numbers of all lanes of output j, beginning with number `start`."""
    W = b.width.lanes
    places = [place(b, j, b.i64("add", start, column)) for column in range(columns)]
    places += places[-1:] * (W - columns)
    return [row for lane in range(0, W, piece_columns(b.width)) for row in read_columns(b, places, lane, W)]
