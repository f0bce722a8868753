"""Batches in float32 beside float64: how much faster they are on one core, and how large their errors are.

Both robots get numbers that float32 holds, each in its own dtype, so that an error is one of the computation. The error
of a state is the largest difference of any entry, over the largest entry of that state.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from measure import best_times, geometric_mean, save
from robots import load
from table import show

import kinetree as kt

ROBOTS = ("UR5", "ANYmal", "G1")
STATES, STATES_FOR_ERRORS = 4096, 20_000
BUDGET = 1.7
QUANTITIES = {
    "inverse_dynamics": "q v a",
    "forward_dynamics": "q v a",
    "mass_matrix": "q",
    "inverse_mass_matrix": "q",
    "bias_forces": "q v",
    "gravity_forces": "q",
    "coriolis_matrix": "q v",
    "inverse_dynamics_derivatives": "q v a",
    "forward_dynamics_derivatives": "q v a",
    "regressor": "q v a",
    "centroidal_momentum_matrix": "q",
    "center_of_mass": "q",
    "kinetic_energy": "q v",
    "poses": "q",
    "integrate": "q v",
}
OF_FRAME = {"pose": "q", "velocity": "q v", "jacobian": "q", "jacobian_rate": "q v"}
TIMED = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias_forces", "jacobian")
"""Most have a result that stays in the caches; that of a mass matrix of G1 is written to memory."""


def states(robot: kt.Robot, count: int) -> dict[str, np.ndarray]:
    """q, v and a in float32."""
    rng = np.random.default_rng(0)
    drawn = {"q": robot.random(rng, count), **{name: rng.normal(size=(count, robot.nv)) for name in "va"}}
    return {name: array.astype(np.float32) for name, array in drawn.items()}


def call_of(robot: kt.Robot, frame: str, name: str) -> Any:
    """The quantity of the robot or of the frame."""
    return getattr(robot.frame(frame) if name in OF_FRAME else robot, name)


def times_of(name: str) -> list[dict[str, Any]]:
    """Nanoseconds a state in both dtypes."""
    contender, rows = load(name), []
    robot, frame = contender.robot, contender.frame
    narrow = states(robot, STATES)
    for quantity in TIMED:
        names = {**QUANTITIES, **OF_FRAME}[quantity].split()
        single, double = call_of(robot.astype("float32"), frame, quantity), call_of(robot, frame, quantity)
        few, many = [narrow[each] for each in names], [narrow[each].astype(float) for each in names]
        times = best_times({"float64": lambda: double(*many), "float32": lambda: single(*few)}, repeats=40)  # noqa: B023
        rows.append(
            {
                "robot": name,
                "quantity": quantity,
                "float64 [ns/state]": 1e9 * times["float64"] / STATES,
                "float32 [ns/state]": 1e9 * times["float32"] / STATES,
                "ratio": times["float64"] / times["float32"],
                "budget": BUDGET,
            }
        )
    return rows


def errors_of(name: str) -> dict[str, tuple[float, float]]:
    """The median and the largest error of each quantity."""
    contender, found = load(name), {}
    robot, frame = contender.robot, contender.frame
    for quantity, listed in {**QUANTITIES, **OF_FRAME}.items():
        large = quantity.endswith("derivatives") and robot.nv > 20  # compiling takes longer than all others together
        if large:
            continue
        narrow = states(robot, STATES_FOR_ERRORS if robot.nv < 20 else STATES)
        arrays = [narrow[each] for each in listed.split()]
        exact = call_of(robot, frame, quantity)(*(array.astype(float) for array in arrays))
        got = call_of(robot.astype("float32"), frame, quantity)(*arrays)
        pairs = zip(exact, got, strict=True) if isinstance(exact, tuple) else [(exact, got)]
        errors = np.max([_errors(x, y) for x, y in pairs], axis=0)
        found[quantity] = (float(np.median(errors)), float(errors.max()))
    return found


def _errors(exact: np.ndarray, got: np.ndarray) -> np.ndarray:
    exact, got = exact.reshape(len(exact), -1), got.reshape(len(got), -1)
    return np.abs(exact - got).max(axis=1) / np.abs(exact).max(axis=1)


def main() -> None:
    """Measure, print, save."""
    kt.set_num_threads(1)
    times = [row for name in ROBOTS for row in times_of(name)]
    show(f"Batches of {STATES} in float32 and float64, one core", times)
    print(f"geometric mean {geometric_mean([row['ratio'] for row in times]):.2f}")
    found = {name: errors_of(name) for name in ROBOTS}
    errors = []
    for quantity in {**QUANTITIES, **OF_FRAME}:
        row: dict[str, Any] = {"quantity": quantity}
        for name in ROBOTS:
            median, largest = found[name].get(quantity, (None, None))
            row |= {f"{name}, median": _rounded(median), f"{name}, largest": _rounded(largest)}
        errors.append(row)
    show("Errors of float32 beside float64", errors)
    print("saved", save("float32", {"states": STATES, "times": times, "errors": errors}))


def _rounded(value: float | None) -> str:
    return "" if value is None else f"{value:.1e}"


if __name__ == "__main__":
    main()
