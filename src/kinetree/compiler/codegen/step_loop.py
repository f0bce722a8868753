"""The step loop of a batch: a kernel advances blocks of states, and its results are the states of the next step.

The states of a block form a tile, (numbers, lanes), which the kernel reads directly. Its results are copied into the
tile after every step: only recorded outputs are transposed to rows. All steps of a block run before the next block, so
that its data stays in the L1 cache.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.compiler.codegen.batch import for_blocks, pack_input, part_calls, set_input
from kinetree.compiler.codegen.kernel import BlockSpace
from kinetree.compiler.codegen.tiles import loop, pack
from kinetree.compiler.codegen.write import count, unpack, zero_table, zero_tiles
from kinetree.compiler.graph.expr import Node
from kinetree.compiler.runtime.code import LOOP, LoopCarry

PER_INPUT, PER_OUTPUT = 4, 3
"""Words per input that is not part of the state (address, strides between states, numbers and steps) and per output
(address or 0, strides between states and records); strides are in numbers."""


def emit_step_loop(space: BlockSpace, parts: int, outputs: Sequence[Node], carry: LoopCarry) -> str:
    """void kinetree_loop(start, stop, steps, until, every, words, states, workspace).

    Advances the states start … stop, whose tiles are consecutive at `states`. Outputs with an address are recorded
    after `until` steps and then after every `every` steps.
    """
    W = space.width.lanes
    tile = W * sum(space.layout.inputs[: carry.states])
    here = "i64 %block, i64 %stop, ptr %words"
    read = [f"  call fastcc void @kinetree.read({here}, i64 %step, ptr %work)"] if any(carry.moving) else []
    step = [
        *read,
        *part_calls(parts),
        "  call fastcc void @kinetree.carry(ptr %tile, ptr %work)",
        "  %waited = load i64, ptr %waiting, align 8",
        "  %left = sub i64 %waited, 1",
        "  store i64 %left, ptr %waiting, align 8",
        "  %due = icmp eq i64 %left, 0",
        "  br i1 %due, label %recording, label %step.done",
        "recording:",
        "  %record = load i64, ptr %recorded, align 8",
        "  %record.next = add i64 %record, 1",
        "  store i64 %record.next, ptr %recorded, align 8",
        "  store i64 %every, ptr %waiting, align 8",
        f"  call fastcc void @kinetree.write({here}, i64 %record, ptr %work)",
        "  br label %step.done",
        "step.done:",
    ]
    block = [
        "  store i64 %until, ptr %waiting, align 8",
        "  store i64 0, ptr %recorded, align 8",
        f"  %first = mul i64 %block, {tile // W}",
        "  %tile = getelementptr double, ptr %states, i64 %first",
        f"  call fastcc void @kinetree.begin({here}, ptr %tile, ptr %work)",
        "  br label %step.enter",
        "step.enter:",
        *loop("step", "0", 1, "%steps", step, "block.done", last="step.done"),
        "block.done:",
    ]
    lines = [
        f"define void @{LOOP}(i64 %start, i64 %stop, i64 %steps, i64 %until, i64 %every, ptr %words, ptr %states, "
        "ptr %work) nounwind {",
        "  %waiting = alloca i64, align 8",
        "  %recorded = alloca i64, align 8",
        *for_blocks(space, block, last="block.done"),
        "  ret void",
        "}",
    ]
    texts = ["\n".join(lines), _begin(space, carry), _carry(space, carry), _write(space, carry)]
    if any(carry.moving):
        texts.append(_read(space, carry))
    texts += [pack(size, space.width) for size in dict.fromkeys(space.layout.inputs[carry.states :])]
    position = 0
    for j, n in enumerate(space.layout.outputs):
        zeros = zero_tiles(outputs[position : position + n], W)
        position += n
        texts += [unpack(j, n, space.width, zeros), zero_table(j, zeros)]
    return "\n\n".join(texts)


def _words(start: int, names: Sequence[str]) -> list[str]:
    """Instructions that load words, beginning with word `start`."""
    lines = []
    for k, name in enumerate(names):
        kind = "ptr" if k == 0 else "i64"
        lines.append(f"  %{name}.at = getelementptr i64, ptr %words, i64 {start + k}")
        lines.append(f"  %{name} = load {kind}, ptr %{name}.at, align 8")
    return lines


def _input_words(j: int, carry: LoopCarry) -> list[str]:
    return _words(PER_INPUT * (j - carry.states), [f"in{j}", f"row{j}", f"column{j}", f"step{j}"])


def _begin(space: BlockSpace, carry: LoopCarry) -> str:
    """A function that prepares the block at state i: its states are read from the tile, constant inputs are transposed
    once."""
    W, inputs = space.width.lanes, space.layout.inputs
    lines = [
        "define internal fastcc void @kinetree.begin(i64 %i, i64 %stop, ptr %words, ptr %tile, ptr %work) "
        "nounwind noinline {",
        *count(W),
    ]
    for j in range(carry.states):
        lines.append(f"  %state{j} = getelementptr double, ptr %tile, i64 {W * sum(inputs[:j])}")
        lines += set_input(j, f"%state{j}", str(W))
    for j in range(carry.states, len(inputs)):
        lines.append(f"  %packed{j} = getelementptr i8, ptr %work, i64 {space.packed(j)}")
        lines += set_input(j, f"%packed{j}", str(W))
        if not carry.moving[j - carry.states]:
            lines += [*_input_words(j, carry), *_packed(j, inputs[j], f"%in{j}")]
    return "\n".join([*lines, "  ret void", "}"])


def _packed(j: int, size: int, start: str) -> list[str]:
    return [
        f"  %offset{j} = mul i64 %i, %row{j}",
        f"  %rows{j} = getelementptr double, ptr {start}, i64 %offset{j}",
        pack_input(j, size, f"%rows{j}", f"%row{j}", "%count"),
    ]


def _read(space: BlockSpace, carry: LoopCarry) -> str:
    """A function that transposes the inputs of this step that are moving."""
    lines = [
        "define internal fastcc void @kinetree.read(i64 %i, i64 %stop, ptr %words, i64 %step, ptr %work) "
        "nounwind noinline {",
        *count(space.width.lanes),
    ]
    for j in range(carry.states, len(space.layout.inputs)):
        if carry.moving[j - carry.states]:
            lines += [
                *_input_words(j, carry),
                f"  %packed{j} = getelementptr i8, ptr %work, i64 {space.packed(j)}",
                f"  %along{j} = mul i64 %step, %step{j}",
                f"  %now{j} = getelementptr double, ptr %in{j}, i64 %along{j}",
                *_packed(j, space.layout.inputs[j], f"%now{j}"),
            ]
    return "\n".join([*lines, "  ret void", "}"])


def _carry(space: BlockSpace, carry: LoopCarry) -> str:
    """A function that copies results to states, which have the same order."""
    real, size = space.width.real, space.width.bytes
    lines = [
        "define internal fastcc void @kinetree.carry(ptr %tile, ptr %work) nounwind noinline {",
        f"  %results = getelementptr i8, ptr %work, i64 {space.result(0)}",
        "  br label %k.enter",
        "k.enter:",
    ]
    body = [
        f"  %offset = mul i64 %k, {size}",
        "  %from = getelementptr i8, ptr %results, i64 %offset",
        "  %to = getelementptr i8, ptr %tile, i64 %offset",
        f"  %value = load {real}, ptr %from, align 8",
        f"  store {real} %value, ptr %to, align 8",
    ]
    lines += loop("k", "0", 1, str(sum(space.layout.outputs[: carry.states])), body, "end")
    return "\n".join([*lines, "end:", "  ret void", "}"])


def _write(space: BlockSpace, carry: LoopCarry) -> str:
    """A function that writes the outputs of this record that have an address, as rows."""
    behind = PER_INPUT * len(carry.moving)
    lines = [
        "define internal fastcc void @kinetree.write(i64 %i, i64 %stop, ptr %words, i64 %record, ptr %work) "
        "nounwind noinline {",
        *count(space.width.lanes),
        "  br label %begin0",
    ]
    for j in range(len(space.layout.outputs)):
        lines += [
            f"begin{j}:",
            *_words(behind + PER_OUTPUT * j, [f"out{j}", f"back{j}", f"ahead{j}"]),
            f"  %none{j} = icmp eq ptr %out{j}, null",
            f"  br i1 %none{j}, label %begin{j + 1}, label %unpack{j}",
            f"unpack{j}:",
            f"  %across{j} = mul i64 %i, %back{j}",
            f"  %along{j} = mul i64 %record, %ahead{j}",
            f"  %both{j} = add i64 %across{j}, %along{j}",
            f"  %to{j} = getelementptr double, ptr %out{j}, i64 %both{j}",
            f"  %result{j} = getelementptr i8, ptr %work, i64 {space.result(j)}",
            f"  call fastcc void @kinetree.unpack.{j}(ptr %to{j}, ptr %result{j}, i64 %back{j}, i64 %count)",
            f"  br label %begin{j + 1}",
        ]
    return "\n".join([*lines, f"begin{len(space.layout.outputs)}:", "  ret void", "}"])
