"""The loop over a batch: transpose rows of states to lanes, run the kernel, and transpose the results back.

A batch comes as rows of any stride. If the values of one coordinate are contiguous (F order), the kernel reads them
directly; otherwise W rows are transposed into the workspace, tile by tile: for every block, or once if all states have
the same row, as gains and parameters of a robot may. The last, incomplete block repeats its last
state in the unused lanes and drops their results. Long rows of a short kernel are not transposed beforehand:
see `inputs_by_rows`.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.compiler.codegen.ir import Width
from kinetree.compiler.codegen.kernel import TABLE_ROW, BlockSpace, inputs_by_rows
from kinetree.compiler.codegen.prefetches import LINE
from kinetree.compiler.codegen.tiles import loop, pack
from kinetree.compiler.codegen.write import STREAMED, count, emit_write, fields, streamed_size
from kinetree.compiler.graph.expr import Node
from kinetree.compiler.runtime.code import BATCH

BLOCK = "kinetree_block"


def emit_batch(space: BlockSpace, parts: int, outputs: Sequence[Node]) -> str:
    """void kinetree_batch(start, stop, descriptor, workspace), which computes the states start … stop.

    The descriptor holds, as i64: address, stride between states and stride between numbers of every input, then
    address and stride between states of every output; strides are in numbers.
    """
    here = "i64 %block, i64 %stop, ptr %descriptor, ptr %work"
    block = [
        f"  %by_rows = call fastcc i1 @kinetree.read({here})",
        *_compute(space, parts),
        f"  call fastcc void @kinetree.write({here}, i1 %streaming)",
    ]
    lines = [
        f"define void @{BATCH}(i64 %start, i64 %stop, ptr %descriptor, ptr %work) nounwind {{",
        "  %states = sub i64 %stop, %start",
        f"  %bytes = mul i64 %states, {streamed_size(space)}",
        f"  %streaming = icmp sge i64 %bytes, {STREAMED}",
        "  call fastcc void @kinetree.share(ptr %descriptor, ptr %work)",
        *for_blocks(space, block, last="computed" if inputs_by_rows(space.layout, parts) else None),
        "  br i1 %streaming, label %settle, label %done",
        "settle:",
        "  fence seq_cst",
        "  br label %done",
        "done:",
        "  ret void",
        "}",
    ]
    texts = ["\n".join(lines), _share(space), _read(space, parts), emit_write(space, outputs)]
    texts += [pack(size, space.width) for size in dict.fromkeys(space.layout.inputs)]
    return "\n\n".join(texts)


def _compute(space: BlockSpace, parts: int) -> list[str]:
    """The call of the kernel that reads long rows, if %by_rows, else those of all parts of the other one."""
    if not inputs_by_rows(space.layout, parts):
        return part_calls(parts)
    return [
        "  br i1 %by_rows, label %rows, label %lanes",
        "rows:",
        f"  call fastcc void @{BLOCK}.by_rows(ptr %work)",
        "  br label %computed",
        "lanes:",
        *part_calls(parts),
        "  br label %computed",
        "computed:",
    ]


def part_calls(parts: int) -> list[str]:
    """The calls of all parts of a kernel."""
    return [f"  call fastcc void @{BLOCK}.part{k}(ptr %work)" for k in range(parts)]


def for_blocks(space: BlockSpace, body: list[str], last: str | None = None) -> list[str]:
    """A loop over blocks, of which %block is the first state; if the body has several basic blocks, `last` is its last.
    What follows is in the basic block `end`."""
    lines = [f"  call fastcc void @{BLOCK}.constants(ptr %work)", "  br label %block.enter", "block.enter:"]
    return [*lines, *loop("block", "%start", space.width.lanes, "%stop", body, "end", last), "end:"]


def _share(space: BlockSpace) -> str:
    """A function that transposes the inputs that are the same for all states: their rows have no distance."""
    lines = [
        "define internal fastcc void @kinetree.share(ptr %descriptor, ptr %work) nounwind noinline {",
        *fields(space),
        "  br label %begin0",
    ]
    for j, size in enumerate(space.layout.inputs):
        lines += [
            f"begin{j}:",
            f"  %shared{j} = icmp eq i64 %row{j}, 0",
            f"  br i1 %shared{j}, label %pack{j}, label %begin{j + 1}",
            f"pack{j}:",
            f"  %packed{j} = getelementptr i8, ptr %work, i64 {space.packed(j)}",
            pack_input(j, size, f"%in{j}", "0", str(space.width.lanes)),
            f"  br label %begin{j + 1}",
        ]
    return "\n".join([*lines, f"begin{len(space.layout.inputs)}:", "  ret void", "}"])


def set_input(j: int, place: str, stride: str) -> list[str]:
    """Instructions that set the address and the stride at which the kernel reads input j."""
    return [
        f"  %from{j}.at = getelementptr i8, ptr %work, i64 {TABLE_ROW * j}",
        f"  store ptr {place}, ptr %from{j}.at, align 8",
        f"  %stride{j}.at = getelementptr i8, ptr %work, i64 {TABLE_ROW * j + 8}",
        f"  store i64 {stride}, ptr %stride{j}.at, align 8",
    ]


def _set_ahead(j: int, width: Width) -> list[str]:
    """Instructions that set where the next block of input j begins, and the distance of the lines to prefetch: one line
    of every column, or all lines of the rows; for shared rows, what is in the cache already."""
    return [
        f"  %next{j}.offset = mul i64 %row{j}, {width.lanes}",
        f"  %next{j} = getelementptr {width.element}, ptr %rows{j}, i64 %next{j}.offset",
        f"  %ahead{j} = select i1 %shared{j}, ptr %packed{j}, ptr %next{j}",
        f"  %ahead{j}.at = getelementptr i8, ptr %work, i64 {TABLE_ROW * j + 16}",
        f"  store ptr %ahead{j}, ptr %ahead{j}.at, align 8",
        f"  %across{j} = mul i64 %column{j}, {width.size}",
        f"  %hop{j} = select i1 %direct{j}, i64 %across{j}, i64 {LINE}",
        f"  %hop{j}.at = getelementptr i8, ptr %work, i64 {TABLE_ROW * j + 24}",
        f"  store i64 %hop{j}, ptr %hop{j}.at, align 8",
    ]


def pack_input(j: int, size: int, rows: str, row: str, count: str) -> str:
    """The instruction that transposes `count` rows of input j, `row` numbers apart."""
    given = f"ptr %packed{j}, ptr {rows}, i64 {row}, i64 %column{j}, i64 {count}"
    return f"  call fastcc void @kinetree.pack.{size}({given})"


def _read(space: BlockSpace, parts: int) -> str:
    """A function that reads the inputs of the block at state i: in place if they are contiguous, else transposed,
    unless `kinetree.share` has done so. It returns whether the kernel transposes long rows itself, which are then
    contiguous and of one state each."""
    W, width, long = space.width.lanes, space.width, inputs_by_rows(space.layout, parts)
    lines = [
        "define internal fastcc i1 @kinetree.read(i64 %i, i64 %stop, ptr %descriptor, ptr %work) nounwind noinline {",
        *fields(space),
        *count(W),
        f"  %whole = icmp eq i64 %count, {W}",
    ]
    by_rows = "%whole" if long else "false"
    for j in sorted(long):
        lines += [
            f"  %apart{j} = icmp ne i64 %row{j}, 0",
            f"  %dense{j} = icmp eq i64 %column{j}, 1",
            f"  %own{j} = and i1 %apart{j}, %dense{j}",
            f"  %by_rows{j} = and i1 {by_rows}, %own{j}",
        ]
        by_rows = f"%by_rows{j}"
    lines.append("  br label %begin0")
    for j, size in enumerate(space.layout.inputs):
        lines += [
            f"begin{j}:",
            f"  %offset{j} = mul i64 %i, %row{j}",
            f"  %rows{j} = getelementptr {width.element}, ptr %in{j}, i64 %offset{j}",
            f"  %aside{j} = icmp eq i64 %row{j}, 1",
            f"  %direct{j} = and i1 %aside{j}, %whole",
            f"  %packed{j} = getelementptr i8, ptr %work, i64 {space.packed(j)}",
            f"  %here{j} = or i1 %direct{j}, {by_rows if j in long else 'false'}",
            f"  %from{j} = select i1 %here{j}, ptr %rows{j}, ptr %packed{j}",
            f"  %lanes{j} = select i1 %direct{j}, i64 %column{j}, i64 {W}",
            f"  %stride{j} = select i1 {by_rows if j in long else 'false'}, i64 %row{j}, i64 %lanes{j}",
            *set_input(j, f"%from{j}", f"%stride{j}"),
            f"  %shared{j} = icmp eq i64 %row{j}, 0",
            *_set_ahead(j, width),
            f"  %ready{j} = or i1 %here{j}, %shared{j}",
            f"  br i1 %ready{j}, label %begin{j + 1}, label %pack{j}",
            f"pack{j}:",
            pack_input(j, size, f"%rows{j}", f"%row{j}", "%count"),
            f"  br label %begin{j + 1}",
        ]
    lines += [f"begin{len(space.layout.inputs)}:", f"  ret i1 {by_rows}", "}"]
    return "\n".join(lines)
