"""The loop over a batch: transpose rows of states to lanes, run the kernel, and transpose the results back.

A batch comes as rows of any stride. If the values of one coordinate are contiguous (F order), the kernel reads them
directly; otherwise W rows are transposed into the workspace, tile by tile: for every block, or once if all states have
the same row, as gains and parameters of a robot may. The last, incomplete block repeats its last
state in the unused lanes and drops their results. Long rows of a short kernel are not transposed beforehand:
see `inputs_by_rows`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial

from kinetree.compiler.codegen.ir import Lines
from kinetree.compiler.codegen.kernel import TABLE_ROW, BlockSpace, inputs_by_rows
from kinetree.compiler.codegen.prefetches import LINE
from kinetree.compiler.codegen.tiles import pack
from kinetree.compiler.codegen.write import STREAMED, count, emit_write, fields, streamed_size
from kinetree.compiler.runtime.code import BATCH

BLOCK = "kinetree_block"


def emit_batch(space: BlockSpace, parts: int) -> str:
    """void kinetree_batch(start, stop, descriptor, workspace), which computes the states start … stop.

    The descriptor holds, as i64: address, stride between states and stride between numbers of every input, then
    address and stride between states of every output; strides are in numbers.
    """
    b = Lines(space.width)
    size = b.i64("mul", b.i64("sub", "%stop", "%start"), streamed_size(space))
    streaming = b.i64("icmp sge", size, STREAMED)
    b.add("call fastcc void @kinetree.share(ptr %descriptor, ptr %work)")
    with blocks(b) as block:
        here = f"i64 {block}, i64 %stop, ptr %descriptor, ptr %work"
        by_rows = b.let(f"call fastcc i1 @kinetree.read({here})")
        if inputs_by_rows(space.layout, parts):
            rows = f"call fastcc void @{BLOCK}.by_rows(ptr %work)"
            b.choose(by_rows, partial(b.add, rows), partial(call_parts, b, parts))
        else:
            call_parts(b, parts)
        b.add(f"call fastcc void @kinetree.write({here}, i1 {streaming})")
    b.choose(streaming, lambda: b.add("fence seq_cst"))
    batch = b.function(BATCH, "i64 %start, i64 %stop, ptr %descriptor, ptr %work")
    texts = [batch, _share(space), _read(space, parts), emit_write(space)]
    return "\n\n".join([*texts, *(pack(size, space.width) for size in dict.fromkeys(space.layout.inputs))])


def call_parts(b: Lines, parts: int) -> None:
    """Call all parts of a kernel."""
    for k in range(parts):
        b.add(f"call fastcc void @{BLOCK}.part{k}(ptr %work)")


def blocks(b: Lines) -> AbstractContextManager[str]:
    """A loop over blocks, which gives the first state of each."""
    b.add(f"call fastcc void @{BLOCK}.constants(ptr %work)")
    return b.loop("%start", b.width.lanes, "%stop")


def _share(space: BlockSpace) -> str:
    """A function that transposes the inputs that are the same for all states: their rows have no distance."""
    b = Lines(space.width)
    for j, (start, row, column) in enumerate(fields(b, space)[0]):
        call = partial(pack_input, b, space, j, start, 0, column, space.width.lanes)
        b.choose(b.i64("icmp eq", row, 0), call)
    return b.internal("kinetree.share", "ptr %descriptor, ptr %work")


def set_input(b: Lines, j: int, *words: tuple[str, str]) -> None:
    """Set what the kernel reads of input j, with types: its address and stride, and the lines to prefetch."""
    for k, (kind, word) in enumerate(words):
        b.store(kind, word, b.at("%work", TABLE_ROW * j + 8 * k))


def pack_input(b: Lines, space: BlockSpace, j: int, rows: str, row: str | int, column: str, count: str | int) -> None:
    """Transpose `count` rows of input j, `row` numbers apart."""
    given = f"ptr {b.at('%work', space.packed(j))}, ptr {rows}, i64 {row}, i64 {column}, i64 {count}"
    b.add(f"call fastcc void @kinetree.pack.{space.layout.inputs[j]}({given})")


def _read(space: BlockSpace, parts: int) -> str:
    """A function that reads the inputs of the block at state i: in place if they are contiguous, else transposed,
    unless `kinetree.share` has done so. It also sets where the next block begins, and the distance of the lines to
    prefetch: one line of every column, or all lines of the rows; for shared rows, what is in the cache already.
    It returns whether the kernel transposes long rows itself, which are then contiguous and of one state each."""
    b, W, width, long = Lines(space.width), space.width.lanes, space.width, inputs_by_rows(space.layout, parts)
    (inputs, _), states = fields(b, space), count(b)
    whole = b.i64("icmp eq", states, W)
    by_rows = whole if long else "false"
    for _, row, column in (inputs[j] for j in sorted(long)):
        own = b.let(f"and i1 {b.i64('icmp ne', row, 0)}, {b.i64('icmp eq', column, 1)}")
        by_rows = b.let(f"and i1 {by_rows}, {own}")
    for j, (start, row, column) in enumerate(inputs):
        rows = b.at(start, b.i64("mul", "%i", row), width.element)
        direct = b.let(f"and i1 {b.i64('icmp eq', row, 1)}, {whole}")
        shared, packed = b.i64("icmp eq", row, 0), b.at("%work", space.packed(j))
        following = b.at(rows, b.i64("mul", row, W), width.element)
        stride = b.let(f"select i1 {direct}, i64 {column}, i64 {W}")
        in_place = direct
        if j in long:
            stride = b.let(f"select i1 {by_rows}, i64 {row}, i64 {stride}")
            in_place = b.let(f"or i1 {direct}, {by_rows}")
        set_input(
            b,
            j,
            ("ptr", b.let(f"select i1 {in_place}, ptr {rows}, ptr {packed}")),
            ("i64", stride),
            ("ptr", b.let(f"select i1 {shared}, ptr {packed}, ptr {following}")),
            ("i64", b.let(f"select i1 {direct}, i64 {b.i64('mul', column, width.size)}, i64 {LINE}")),
        )
        apart = b.let(f"xor i1 {b.let(f'or i1 {in_place}, {shared}')}, true")
        b.choose(apart, partial(pack_input, b, space, j, rows, row, column, states))
    return b.internal("kinetree.read", "i64 %i, i64 %stop, ptr %descriptor, ptr %work", f"i1 {by_rows}")
