"""Inertial parameters as inputs, beside numbers in the code: one state from Python, and batches of 4096 on one core.

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
    """Calls with the numbers in the code, with the robot's own parameters, and with given ones."""
    rng = np.random.default_rng(0)
    shape = () if count is None else (count,)
    q, v, a = robot.random(rng, shape), *rng.normal(size=(2, *shape, robot.nv))
    baked, ours = getattr(robot.baked, quantity), getattr(robot, quantity)
    given = robot.parameters * rng.uniform(0.9, 1.1, (*shape, len(robot.parameters)))
    calls: dict[str, Callable[[], Any]]
    if quantity == "mass_matrix":
        calls = {"baked": lambda: baked(q), "own": lambda: ours(q), "given": lambda: ours(q, parameters=given)}
    else:
        calls = {
            "baked": lambda: baked(q, v, a),
            "own": lambda: ours(q, v, a),
            "given": lambda: ours(q, v, a, parameters=given),
        }
    error = np.abs(calls["baked"]() - calls["own"]()).max() / np.abs(calls["baked"]()).max()
    assert error < 1e-9, f"{robot.name}: the contenders disagree"
    return calls


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
                        "own/baked": times["own"] / times["baked"],
                        "given/baked": times["given"] / times["baked"],
                    }
                )
    show(f"Inertial parameters as inputs, beside numbers in the code; at most {BUDGET}", rows)
    print("saved", save("parametric", {"states": STATES, "budget": BUDGET, "rows": rows}))


if __name__ == "__main__":
    main()
