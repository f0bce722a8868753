"""Coriolis matrix, inverse mass matrix, regressor and derivatives, beside Pinocchio: one state, and batches of 4096.

Pinocchio has no batch functions for these, so a batch is compared with its time for one state.
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
QUANTITIES: dict[str, tuple[str, Callable[..., object], str]] = {
    "Coriolis matrix": ("coriolis_matrix", pin.computeCoriolisMatrix, "qv"),
    "inverse mass matrix": ("inverse_mass_matrix", pin.computeMinverse, "q"),
    "regressor": ("regressor", pin.computeJointTorqueRegressor, "qva"),
    "derivatives of inverse dynamics": ("inverse_dynamics_derivatives", pin.computeRNEADerivatives, "qva"),
    "derivatives of forward dynamics": ("forward_dynamics_derivatives", pin.computeABADerivatives, "qva"),
}


def measured(contender: Contender, title: str) -> dict[str, object]:
    """One row of the table."""
    name, theirs, letters = QUANTITIES[title]
    ours, model, data = getattr(contender.robot, name), contender.model, contender.model.createData()
    batch = dict(zip("qva", contender.states(STATES), strict=True))
    state = [batch[letter][0] for letter in letters]
    columns = contender.to_pinocchio(*(batch[letter][:1] for letter in "qva"))
    arguments = [np.ascontiguousarray(columns["qva".index(letter)][:, 0]) for letter in letters]
    start = time.perf_counter()
    ours(*state)
    first = time.perf_counter() - start

    def loop(call: Callable[[], object]) -> Callable[[int], float]:
        def run(count: int) -> float:
            begin = time.perf_counter()
            for _ in range(count):
                call()
            return time.perf_counter() - begin

        return run

    times = best_loops({"kinetree": loop(lambda: ours(*state)), "pin": loop(lambda: theirs(model, data, *arguments))})
    rows = [batch[letter] for letter in letters]
    per_state = best_times({"batch": lambda: ours(*rows)}, repeats=5)["batch"] / STATES
    return {
        "robot": contender.name,
        "quantity": title,
        "kinetree [µs]": 1e6 * times["kinetree"],
        "pin [µs]": 1e6 * times["pin"],
        "ratio": times["pin"] / times["kinetree"],
        "budget": SINGLE["arm" if contender.name in ARMS else "legged"],
        "batch [µs/state]": 1e6 * per_state,
        "batch ratio": times["pin"] / per_state,
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
