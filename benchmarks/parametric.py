"""Inertial parameters as inputs, beside numbers in the code: one state from Python, and batches of 4096 on one core.

Batches write to one array, so that the memory of results is the same for all. Beside them stands the time to copy the
parameters of all states, 80 bytes for each body: they are in the L3 cache at best.

Beside them, where they are installed, libraries whose robots have parameters as arrays: adam and MJX, both on JAX.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from measure import best_times, save
from robots import ROBOTS, find
from table import show

import kinetree as kt

NAMES = ("UR5", "ANYmal", "G1")
QUANTITIES = ("inverse_dynamics", "mass_matrix", "forward_dynamics")
STATES = 4096
BUDGET = 1.5
"""How much longer calls with parameters may take."""


def contenders(robot: kt.Robot, quantity: str, count: int | None) -> dict[str, Callable[[], Any]]:
    """Calls with the numbers in the code, with the robot's own parameters, and with given ones; a copy of these."""
    rng = np.random.default_rng(0)
    shape = () if count is None else (count,)
    q, v, a = robot.random(rng, shape), *rng.normal(size=(2, *shape, robot.nv))
    baked, ours = getattr(robot.baked, quantity), getattr(robot, quantity)
    given = robot.parameters * rng.uniform(0.9, 1.1, (*shape, len(robot.parameters)))
    state = (q,) if quantity == "mass_matrix" else (q, v, a)
    right = baked(*state)
    assert np.abs(right - ours(*state)).max() < 1e-9 * np.abs(right).max(), f"{robot.name}: the contenders disagree"
    if count is None and quantity == "mass_matrix":
        return {"baked": lambda: baked(q), "own": lambda: ours(q), "given": lambda: ours(q, parameters=given)}
    if count is None:
        return {
            "baked": lambda: baked(q, v, a),
            "own": lambda: ours(q, v, a),
            "given": lambda: ours(q, v, a, parameters=given),
        }
    out, copy = np.empty_like(right), np.empty_like(given)
    return {
        "baked": lambda: baked(*state, out=out),
        "own": lambda: ours(*state, out=out),
        "given": lambda: ours(*state, parameters=given, out=out),
        "copy": lambda: np.copyto(copy, given),
    }


def main() -> None:
    """Measure, print, save."""
    kt.set_num_threads(1)
    rows = []
    for name in NAMES:
        ending, base, _ = ROBOTS[name]
        robot = kt.load(find(ending), base, parametric=("inertial",))
        for quantity in QUANTITIES:
            for count in (None, STATES):
                times = best_times(contenders(robot, quantity, count))
                scale = 1e9 / (count or 1)
                rows.append(
                    {
                        "robot": name,
                        "quantity": quantity,
                        "states": count or 1,
                        "parameters": len(robot.parameters),
                        "baked [ns]": scale * times["baked"],
                        "own [ns]": scale * times["own"],
                        "given [ns]": scale * times["given"],
                        "copy of parameters [ns]": scale * times["copy"] if count else None,
                        "own/baked": times["own"] / times["baked"],
                        "given/baked": times["given"] / times["baked"],
                    }
                )
    show(f"Inertial parameters as inputs, beside numbers in the code; at most {BUDGET}", rows)
    print("saved", save("parametric", {"states": STATES, "budget": BUDGET, "rows": rows}))


if __name__ == "__main__":
    main()
