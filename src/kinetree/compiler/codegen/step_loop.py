"""The step loop of a batch: a kernel advances blocks of states, and its results are the states of the next step.

The states of a block form a tile, (numbers, lanes), which the kernel reads directly. Its results are copied into the
tile after every step: only recorded outputs are transposed to rows. All steps of a block run before the next block, so
that its data stays in the L1 cache.
"""

from __future__ import annotations

from functools import partial

from kinetree.compiler.codegen.batch import blocks, call_parts, pack_input, set_input
from kinetree.compiler.codegen.ir import Lines
from kinetree.compiler.codegen.kernel import BlockSpace
from kinetree.compiler.codegen.tiles import pack
from kinetree.compiler.codegen.write import count, place, unpacks
from kinetree.compiler.runtime.code import LOOP, LoopCarry

PER_INPUT, PER_OUTPUT = 4, 3
"""Words per input that is not part of the state (address, strides between states, numbers and steps) and per output
(address or 0, strides between states and records); strides are in numbers."""


def emit_step_loop(space: BlockSpace, parts: int, carry: LoopCarry) -> str:
    """void kinetree_loop(start, stop, steps, until, every, words, states, workspace).

    Advances the states start … stop, whose tiles are consecutive at `states`. Outputs with an address are recorded
    after `until` steps and then after every `every` steps.
    """
    b, inputs = Lines(space.width), space.layout.inputs
    waiting, recorded = b.let("alloca i64, align 8"), b.let("alloca i64, align 8")
    with blocks(b) as block:
        here = f"i64 {block}, i64 %stop, ptr %words"
        b.store("i64", "%until", waiting)
        b.store("i64", "0", recorded)
        tile = b.at("%states", b.i64("mul", block, sum(inputs[: carry.states])), "double")
        b.add(f"call fastcc void @kinetree.begin({here}, ptr {tile}, ptr %work)")

        def write() -> None:
            record = b.load("i64", recorded)
            b.store("i64", b.i64("add", record, 1), recorded)
            b.store("i64", "%every", waiting)
            b.add(f"call fastcc void @kinetree.write({here}, i64 {record}, ptr %work)")

        with b.loop(0, 1, "%steps") as step:
            if any(carry.moving):
                b.add(f"call fastcc void @kinetree.read({here}, i64 {step}, ptr %work)")
            call_parts(b, parts)
            b.add(f"call fastcc void @kinetree.carry(ptr {tile}, ptr %work)")
            left = b.i64("sub", b.load("i64", waiting), 1)
            b.store("i64", left, waiting)
            b.choose(b.i64("icmp eq", left, 0), write)
    parameters = "i64 %start, i64 %stop, i64 %steps, i64 %until, i64 %every, ptr %words, ptr %states, ptr %work"
    texts = [b.function(LOOP, parameters), _begin(space, carry), _carry(space, carry), _write(space, carry)]
    if any(carry.moving):
        texts.append(_read(space, carry))
    texts += [pack(size, space.width) for size in dict.fromkeys(inputs[carry.states :])]
    return "\n\n".join([*texts, *unpacks(space)])


def _words(b: Lines, start: int, count: int) -> list[str]:
    """An address and further words, beginning with word `start`."""
    return [b.word("%words", start, "ptr"), *(b.word("%words", start + k) for k in range(1, count))]


def _begin(space: BlockSpace, carry: LoopCarry) -> str:
    """A function that prepares the block at state i: its states are read from the tile, constant inputs are transposed
    once."""
    b, W, inputs = Lines(space.width), space.width.lanes, space.layout.inputs
    states = count(b)
    for j in range(len(inputs)):
        base, offset = ("%tile", 8 * W * sum(inputs[:j])) if j < carry.states else ("%work", space.packed(j))
        set_input(b, j, ("ptr", b.at(base, offset)), ("i64", str(W)))
        if j >= carry.states and not carry.moving[j - carry.states]:
            _pack(b, space, carry, j, states)
    return b.internal("kinetree.begin", "i64 %i, i64 %stop, ptr %words, ptr %tile, ptr %work")


def _pack(b: Lines, space: BlockSpace, carry: LoopCarry, j: int, states: str, step: str = "") -> None:
    """Transpose input j, of this step if it is moving."""
    start, row, column, along = _words(b, PER_INPUT * (j - carry.states), PER_INPUT)
    if step:
        start = b.at(start, b.i64("mul", step, along), "double")
    pack_input(b, space, j, b.at(start, b.i64("mul", "%i", row), "double"), row, column, states)


def _read(space: BlockSpace, carry: LoopCarry) -> str:
    """A function that transposes the inputs of this step that are moving."""
    b = Lines(space.width)
    states = count(b)
    for k, moving in enumerate(carry.moving):
        if moving:
            _pack(b, space, carry, carry.states + k, states, "%step")
    return b.internal("kinetree.read", "i64 %i, i64 %stop, ptr %words, i64 %step, ptr %work")


def _carry(space: BlockSpace, carry: LoopCarry) -> str:
    """A function that copies results to states, which have the same order."""
    b, real = Lines(space.width), space.width.real
    sizes = space.layout.outputs[: carry.states]
    for j, size in enumerate(sizes):
        tile = b.at("%tile", sum(sizes[:j]), real)
        with b.loop(0, 1, size) as k:
            b.store(real, b.load(real, place(b, j, k)), b.at(tile, k, real))
    return b.internal("kinetree.carry", "ptr %tile, ptr %work")


def _write(space: BlockSpace, carry: LoopCarry) -> str:
    """A function that writes the outputs of this record that have an address, as rows."""
    b, behind = Lines(space.width), PER_INPUT * len(carry.moving)
    states = count(b)

    def write(j: int, out: str, back: str, ahead: str) -> None:
        far = b.i64("add", b.i64("mul", "%i", back), b.i64("mul", "%record", ahead))
        to = b.at(out, far, "double")
        b.add(f"call fastcc void @kinetree.unpack.{j}(ptr {to}, ptr %work, i64 {back}, i64 {states})")

    for j in range(len(space.layout.outputs)):
        words = _words(b, behind + PER_OUTPUT * j, PER_OUTPUT)
        b.choose(b.let(f"icmp ne ptr {words[0]}, null"), partial(write, j, *words))
    return b.internal("kinetree.write", "i64 %i, i64 %stop, ptr %words, i64 %record, ptr %work")
