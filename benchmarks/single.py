"""The kernel for one state by itself, called in a native loop, beside Pinocchio's function called from Python."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin
from measure import best_times, save
from robots import ROBOTS, Contender, load
from table import show

from kinetree.compiler.program import Program
from kinetree.compiler.runtime.code import SINGLE
from kinetree.compiler.runtime.jit import LoadedCode, compile_object
from kinetree.robot.quantity import program_of

REPEAT = """
define void @repeat(i64 %n, {parameters}) {{
entry:
  br label %head
head:
  %k = phi i64 [0, %entry], [%next, %head]
  call void @{name}({parameters})
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %head, label %end
end:
  ret void
}}
"""


def kernel_loop(program: Program, arrays: list[np.ndarray]) -> Callable[[int], float]:
    """Runs the bare kernel many times in a native loop and returns the seconds it took."""
    outputs = [np.empty(max(1, size)) for size in program.layout.outputs]
    workspace = np.empty(program.slots + 8)
    tables = [np.array([array.ctypes.data for array in group]) for group in (arrays, outputs)]
    pointers = [array.ctypes.data for array in (*tables, workspace)]
    parameters = ", ".join(f"ptr %p{k}" for k in range(len(pointers)))
    text = program.single_assembly() + REPEAT.format(parameters=parameters, name=SINGLE)
    code = LoadedCode(compile_object(text, program.target), program.target)
    repeat = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * len(pointers))(code.address("repeat"))

    def run(count: int, keep: object = (arrays, outputs, tables, workspace, code)) -> float:
        start = time.perf_counter()
        repeat(count, *pointers)
        return time.perf_counter() - start

    return run


def kernel_time(program: Program, arrays: list[np.ndarray], calls: int = 20_000) -> float:
    """Seconds of one run of the bare kernel, the best of several loops."""
    loop = kernel_loop(program, arrays)
    return min(loop(calls) for _ in range(15)) / calls


def rows_of(robot: Contender) -> list[dict[str, object]]:
    """All quantities that both sides have."""
    model, data = robot.model, robot.model.createData()
    q, v, a = (x[0] for x in robot.states(1))
    q_pin, v_pin, a_pin = (np.ascontiguousarray(x[:, 0]) for x in robot.to_pinocchio(*(x[None] for x in (q, v, a))))
    frame = model.getFrameId(robot.frame, pin.FrameType.BODY)
    aligned, tool = pin.LOCAL_WORLD_ALIGNED, robot.robot.frame(robot.frame)
    cases = {
        "frame pose": (
            program_of(tool, "pose"),
            [q],
            lambda: (pin.forwardKinematics(model, data, q_pin), pin.updateFramePlacement(model, data, frame)),
        ),
        "frame jacobian": (
            program_of(tool, "jacobian"),
            [q],
            lambda: pin.computeFrameJacobian(model, data, q_pin, frame, aligned),
        ),
        "inverse_dynamics": (
            program_of(robot.robot, "inverse_dynamics"),
            [q, v, a],
            lambda: pin.rnea(model, data, q_pin, v_pin, a_pin),
        ),
        "mass_matrix": (program_of(robot.robot, "mass_matrix"), [q], lambda: pin.crba(model, data, q_pin)),
        "forward_dynamics": (
            program_of(robot.robot, "forward_dynamics"),
            [q, v, a],
            lambda: pin.aba(model, data, q_pin, v_pin, a_pin),
        ),
    }
    rows: list[dict[str, object]] = []
    for name, (program, arrays, theirs) in cases.items():
        rows.append(
            {
                "robot": robot.name,
                "quantity": name,
                "operations": program.operations,
                "kernel [µs]": 1e6 * kernel_time(program, arrays),
                "pin from Python [µs]": 1e6 * best_times({"pin": theirs})["pin"],
            }
        )
    return rows


def main() -> None:
    """Measure, print, save."""
    rows = [row for name in ROBOTS for row in rows_of(load(name))]
    show("One state: the bare kernel", rows)
    print("saved", save("single", {"single": rows}))


if __name__ == "__main__":
    main()
