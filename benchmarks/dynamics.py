"""Coriolis matrix, inverse mass matrix, regressor and derivatives, beside Pinocchio: one state, and batches of 4096.

Pinocchio has no batch functions for these, so a batch is compared with its time for one state, and with a copy of its
results in memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin
from measure import best_loops, best_times, geometric_mean, save
from robots import ARMS, ROBOTS, Contender, load
from table import show

import kinetree as kt

STATES = 4096
SINGLE = {"arm": 2.0, "legged": 1.3}
BATCH = 10.0


def _frame_velocity(model: pin.Model, data: pin.Data, q: np.ndarray, v: np.ndarray, frame: int) -> object:
    pin.computeForwardKinematicsDerivatives(model, data, q, v, v)
    return pin.getFrameVelocityDerivatives(model, data, frame, pin.LOCAL)


def _frame_acceleration(
    model: pin.Model, data: pin.Data, q: np.ndarray, v: np.ndarray, a: np.ndarray, frame: int
) -> object:
    pin.computeForwardKinematicsDerivatives(model, data, q, v, a)
    return pin.getFrameAccelerationDerivatives(model, data, frame, pin.LOCAL)


def _center_of_mass_velocity(model: pin.Model, data: pin.Data, q: np.ndarray, v: np.ndarray) -> object:
    pin.centerOfMass(model, data, q, v)
    return pin.getCenterOfMassVelocityDerivatives(model, data)


QUANTITIES: dict[str, tuple[str, Callable[..., object], str]] = {
    "Coriolis matrix": ("coriolis_matrix", pin.computeCoriolisMatrix, "qv"),
    "inverse mass matrix": ("inverse_mass_matrix", pin.computeMinverse, "q"),
    "centroidal momentum matrix": ("centroidal_momentum_matrix", pin.computeCentroidalMap, "q"),
    "regressor": ("regressor", pin.computeJointTorqueRegressor, "qva"),
    "derivative of gravity forces": ("gravity_forces_derivative", pin.computeGeneralizedGravityDerivatives, "q"),
    "derivatives of inverse dynamics": ("inverse_dynamics_derivatives", pin.computeRNEADerivatives, "qva"),
    "derivatives of forward dynamics": ("forward_dynamics_derivatives", pin.computeABADerivatives, "qva"),
    "derivatives of a frame's velocity": ("velocity_derivatives", _frame_velocity, "qv"),
    "derivatives of a frame's acceleration": ("acceleration_derivatives", _frame_acceleration, "qva"),
    "derivatives of the centre of mass": ("center_of_mass_velocity_derivatives", _center_of_mass_velocity, "qv"),
}
OF_FRAME = {"velocity_derivatives": ("local",), "acceleration_derivatives": ("local", "spatial")}
"""Quantities of the robot's frame, and in which form both compute them."""


def measured(contender: Contender, title: str) -> dict[str, object]:
    """One row of the table."""
    name, theirs, letters = QUANTITIES[title]
    model, data, options = contender.model, contender.model.createData(), OF_FRAME.get(name, ())
    ours = getattr(contender.robot.frame(contender.frame) if options else contender.robot, name)
    batch = dict(zip("qva", contender.states(STATES), strict=True))
    state = [batch[letter][0] for letter in letters]
    columns = contender.to_pinocchio(*(batch[letter][:1] for letter in "qva"))
    arguments: list[object] = [np.ascontiguousarray(columns["qva".index(letter)][:, 0]) for letter in letters]
    if options:
        arguments.append(model.getFrameId(contender.frame, pin.FrameType.BODY))
    start = time.perf_counter()
    ours(*state, *options)
    first = time.perf_counter() - start

    def loop(call: Callable[[], object]) -> Callable[[int], float]:
        def run(count: int) -> float:
            begin = time.perf_counter()
            for _ in range(count):
                call()
            return time.perf_counter() - begin

        return run

    times = best_loops(
        {"kinetree": loop(lambda: ours(*state, *options)), "pin": loop(lambda: theirs(model, data, *arguments))}
    )
    rows = [batch[letter] for letter in letters]
    found = ours(*rows, *options)
    results = found if isinstance(found, tuple) else (found,)
    copies = [np.empty_like(result) for result in results]

    def copy() -> None:
        for target, result in zip(copies, results, strict=True):
            np.copyto(target, result)

    batches = best_times({"batch": lambda: ours(*rows, *options), "copy": copy}, repeats=5)
    per_state = batches["batch"] / STATES
    return {
        "robot": contender.name,
        "quantity": title,
        "kinetree [µs]": 1e6 * times["kinetree"],
        "pin [µs]": 1e6 * times["pin"],
        "ratio": times["pin"] / times["kinetree"],
        "budget": SINGLE["arm" if contender.name in ARMS else "legged"],
        "batch [µs/state]": 1e6 * per_state,
        "batch ratio": times["pin"] / per_state,
        "copy of the results [µs/state]": 1e6 * batches["copy"] / STATES,
        "compiled in [s]": first,
    }


def main() -> None:
    """Measure, print, save."""
    kt.set_num_threads(1)
    rows = []
    for name in ROBOTS:
        contender = load(name)
        rows += [measured(contender, title) for title in QUANTITIES]
    show("One state, and batches of 4096 on one core (want 10 times and more)", rows)
    print(f"geometric mean of the ratios: {geometric_mean([float(str(row['ratio'])) for row in rows]):.2f}")
    print("saved", save("dynamics", {"rows": rows, "batch budget": BATCH}))


if __name__ == "__main__":
    main()
