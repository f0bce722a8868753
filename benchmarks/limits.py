"""How near batches come to what the machine can do: the share of its multiply-adds, and of its memory.

Both limits are measured in the same run, in turn with the batches, so that a busy minute counts for all. Operations are
those of the graph, a multiply-add counts two, and those of sines and cosines are counted as they are emitted. What a
part of the work takes is the time that is saved when it is left out: transposition from rows to lanes and back with all
reading and writing, sines and cosines.
"""

from __future__ import annotations

import ctypes
import re
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
from measure import save
from peaks import Peak, copy_loop, fma_peak
from robots import find
from table import show

import kinetree as kt
from kinetree.cli.measure import Effort, best_loops
from kinetree.compiler.codegen import batch as batches
from kinetree.compiler.codegen import kernel as kernels
from kinetree.compiler.codegen.elementary import sincos, sincos_name
from kinetree.compiler.codegen.ir import Width
from kinetree.compiler.codegen.kernel import BlockSpace
from kinetree.compiler.graph.expr import Node
from kinetree.compiler.program import Program
from kinetree.compiler.runtime.call import Kernel
from kinetree.compiler.runtime.jit import assembly_of
from kinetree.robot.quantity import prepared

STATES = 1024
AIM = 0.5
EFFORT = Effort(repeats=400, seconds=0.0005)
"""Short runs, many of them: of a busy machine some have a core to themselves."""
ROBOTS = {
    "UR5": ("ur5_robot.urdf", "fixed"),
    "Panda": ("panda_description/urdf/panda.urdf", "fixed"),
    "ANYmal": ("anymal_b_simple_description/robots/anymal.urdf", "floating"),
    "G1": ("g1_29dof_rev_1_0.urdf", "floating"),
}
QUANTITIES = {
    "RNEA": "inverse_dynamics",
    "ABA": "forward_dynamics",
    "CRBA": "mass_matrix",
    "Coriolis": "coriolis_matrix",
    "∂ID": "inverse_dynamics_derivatives",
}
JUDGED = ("RNEA", "ABA")
NOT_JUDGED = "G1"
FUSED = ("fma", "fms", "fnma", "fnms")
PLAIN = ("add", "sub", "mul", "div", "sqrt")


@dataclass(frozen=True)
class Work:
    """Arithmetic of one state."""

    flops: int
    instructions: int
    """Those that take a place in the pipes for multiply-adds, one for a whole vector of states."""


def work_of(program: Program) -> Work:
    """What the program computes for one state."""
    counts = program.counts
    angles = len({node.args[0] for part in program.parts for node in part.nodes if node.op in ("sin", "cos")})
    text = sincos(program.target.width)
    fused = len(re.findall(r"@llvm\.fma", text))
    plain = len(re.findall(r"= (?:fadd|fsub|fmul) ", text))
    own_fused, own_plain = (sum(counts[op] for op in group) for group in (FUSED, PLAIN))
    return Work(
        2 * (own_fused + angles * fused) + own_plain + angles * plain, own_fused + own_plain + angles * (fused + plain)
    )


def instructions_of(program: Program) -> dict[str, int]:
    """Vector instructions of the kernel of one block, by what they do; transposition is not among them."""
    text = assembly_of(program.batch_assembly(), program.target)
    found = {"arithmetic": 0, "spills": 0, "other loads and stores": 0}
    for name, body in re.findall(r"^(kinetree_block\.part\d+):(.*?)^\s*\.size", text, re.M | re.S):
        assert name
        for line in body.splitlines():
            words = line.split("\t")
            if len(words) < 3 or not words[1].startswith("v"):
                continue
            if re.match(r"v(fn?m(add|sub)|add|sub|mul|div|sqrt)", words[1]):
                found["arithmetic"] += 1
            elif "(%rsp)" in words[2] or "(%rbp)" in words[2]:
                found["spills"] += 1
            elif re.match(r"vmov", words[1]) and "(" in words[2]:
                found["other loads and stores"] += 1
    return found


def free_sincos(width: Width) -> str:
    """In place of `sincos`: a function that returns its argument."""
    real = width.real
    pair = f"{{{real}, {real}}}"
    return (
        f"define internal fastcc {pair} {sincos_name(width)}({real} %x) noinline nounwind {{\n"
        f"  %a = insertvalue {pair} poison, {real} %x, 0\n  %b = insertvalue {pair} %a, {real} %x, 1\n"
        f"  ret {pair} %b\n}}"
    )


def free_pack(size: int, width: Width) -> str:
    """In place of `pack`: a function that leaves the lanes as they are."""
    return (
        f"define internal fastcc void @kinetree.pack.{size}(ptr %dst, ptr %src, i64 %row, i64 %column, i64 %count) "
        "nounwind noinline {\n  ret void\n}"
    )


def free_write(space: BlockSpace, outputs: Sequence[Node]) -> str:
    """In place of `emit_write`: a function that writes nothing."""
    return (
        "define internal fastcc void @kinetree.write(i64 %i, i64 %stop, ptr %descriptor, ptr %work, i1 %streaming) "
        "nounwind noinline {\n  ret void\n}"
    )


_TRANSPOSITION = ((batches, "pack", free_pack), (batches, "emit_write", free_write))
WITHOUT = {"transposition": _TRANSPOSITION, "sines either": (*_TRANSPOSITION, (kernels, "sincos", free_sincos))}
"""What is replaced when a part of the work is left out."""


def ablated(program: Program, part: str) -> Kernel:
    """The kernel for a batch without a part of its work."""
    with ExitStack() as patches:
        for module, name, free in WITHOUT[part]:
            patches.enter_context(mock.patch.object(module, name, free))
        kernel = Kernel(program)
        kernel.load("batch")
    return kernel


def batch_loop(kernel: Kernel, inputs: list[np.ndarray], states: int = STATES) -> Callable[[int], float]:
    """Runs the kernel on the whole batch, and returns the seconds."""
    code = kernel.load("batch")
    outputs = [np.zeros((states, size), kernel.dtype) for size in kernel.source.layout.outputs]
    descriptor: list[int] = []
    for array in inputs:
        descriptor += [array.ctypes.data, *(stride // array.itemsize for stride in array.strides)]
    for array in outputs:
        descriptor += [array.ctypes.data, array.shape[1]]
    block = (ctypes.c_int64 * len(descriptor))(*descriptor)
    memory, address = kernel.workspace(code.workspace)
    memory[: len(memory) // 8 * 8].view(float)[...] = 0.5

    def run(count: int, keep: object = (inputs, outputs, memory)) -> float:
        return timed(lambda: code.function(0, states, block, address), count)

    return run


def timed(call: Callable[[], object], count: int) -> float:
    """Seconds of so many calls."""
    start = time.perf_counter()
    for _ in range(count):
        call()
    return time.perf_counter() - start


@dataclass
class Row:
    """A quantity of a robot, with its loops."""

    robot: str
    quantity: str
    program: Program
    loops: dict[str, Callable[[int], float]]


def row_of(name: str, robot: kt.Robot, quantity: str) -> Row:
    """The loops of one row: the batch, without a part of its work, and a copy of as many bytes."""
    ((function, key),) = prepared(robot, [QUANTITIES[quantity]])
    made = function.specialization(key)
    rng = np.random.default_rng(0)
    inputs = [
        robot.random(rng, STATES) if each == "q" else rng.normal(size=(STATES, robot.nv)) for each in function.arrays
    ]
    numbers = sum(made.kernel.source.layout.inputs) + sum(made.kernel.source.layout.outputs)
    loops = {"batch": batch_loop(made.kernel, inputs), "copy": copy_loop(4 * numbers * STATES)}
    loops |= {f"without {part}": batch_loop(ablated(made.program, part), inputs) for part in WITHOUT}
    return Row(name, quantity, made.program, loops)


def shares(row: Row, times: dict[str, float], peak: Peak) -> dict[str, Any]:
    """One line of the first table: the batch beside both limits."""
    work, seconds = work_of(row.program), times["batch"]
    judged = row.quantity in JUDGED and row.robot != NOT_JUDGED
    return {
        "robot": row.robot,
        "quantity": row.quantity,
        "flops": work.flops,
        "ns/state": 1e9 * seconds / STATES,
        "Gflop/s": 1e-9 * work.flops * STATES / seconds,
        "of FMA peak [%]": 100.0 * work.flops * STATES / seconds / peak.flops,
        "aim [%]": 100.0 * AIM if judged else None,
        "of a copy's speed [%]": 100.0 * times["copy"] / seconds,
    }


def rest(row: Row, times: dict[str, float], peak: Peak) -> dict[str, Any]:
    """One line of the second table: where the rest goes. Arithmetic is what its instructions take at least, a multiply,
    an add or a multiply-add one place in a pipe each."""
    work, seconds = work_of(row.program), times["batch"]
    blocks = STATES / row.program.target.lanes
    found = instructions_of(row.program)
    return {
        "robot": row.robot,
        "quantity": row.quantity,
        "fused [%]": 100.0 * (work.flops / work.instructions - 1.0),
        "arithmetic at the peak [% of time]": 100.0 * work.instructions * blocks / seconds / peak.instructions,
        "sines and cosines [% of time]": 100.0
        * (times["without transposition"] - times["without sines either"])
        / seconds,
        "transposition, reading, writing [% of time]": 100.0 * (1.0 - times["without transposition"] / seconds),
        "spills per 100 arithmetic": 100.0 * found["spills"] / found["arithmetic"],
        "other loads and stores per 100": 100.0 * found["other loads and stores"] / found["arithmetic"],
    }


def main() -> None:
    """Measure, print, save."""
    kt.set_num_threads(1)
    rows = []
    for name, (ending, base) in ROBOTS.items():
        robot = kt.load(find(ending), base)
        rows += [row_of(name, robot, quantity) for quantity in QUANTITIES]
        print(f"{name}: compiled", flush=True)
    peak = fma_peak(rows[0].program.target)
    large = copy_loop(2**28)
    loops = {("peak",): peak.loop, ("memory",): large}
    for k, row in enumerate(rows):
        loops |= {(k, part): loop for part, loop in row.loops.items()}
    alone = [best_loops({0: peak.loop}, Effort(60, 0.004))[0]]
    best = best_loops(loops, EFFORT)
    alone += [best_loops({0: peak.loop}, Effort(60, 0.004))[0], best["peak",]]
    peak = peak.measured(min(alone))
    times = [{part: best[k, part] for part in row.loops} for k, row in enumerate(rows)]
    first = [shares(row, each, peak) for row, each in zip(rows, times, strict=True)]
    second = [rest(row, each, peak) for row, each in zip(rows, times, strict=True)]
    machine = {
        "FMA peak [Gflop/s]": 1e-9 * peak.flops,
        "copy of 256 MB, read and written [GB/s]": 1e-9 * 2 * 2**28 / best["memory",],
    }
    show("The machine, one core", [machine])
    show(f"Batches of {STATES}, one core", first)
    show("Where the rest goes", second)
    content = {"states": STATES, "machine limits": [machine], "shares": first, "rest": second}
    print("saved", save("limits", content))


if __name__ == "__main__":
    main()
