"""What compilation costs and what it leaves: operations, code size and seconds, cold, each in a fresh process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from measure import environment, save
from robots import ARMS as ARMS_OF_ALL
from robots import ROBOTS
from table import show

QUANTITIES = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "poses",
    "inverse_mass_matrix",
    "coriolis_matrix",
    "regressor",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
    "diagonalized_coordinates",
    "christoffel_symbols",
)
BUDGET = {"arm": 0.4, "legged": 2.5}
COMPILED = {**ROBOTS, "Panda": ("panda.urdf", "fixed", "panda_hand")}
ARMS = (*ARMS_OF_ALL, "Panda")


def measure_one(name: str, quantity: str, batch: bool) -> dict[str, float]:
    """Load, trace, compile and run once; seconds after `import kinetree`."""
    import time  # noqa: PLC0415

    import numpy as np  # noqa: PLC0415
    from robots import find  # noqa: PLC0415

    import kinetree as kt  # noqa: PLC0415
    from kinetree.robot.quantity import program_of, quantities_of  # noqa: PLC0415

    ending, base, _ = COMPILED[name]
    path = find(ending)
    start = time.perf_counter()
    robot = kt.load(path, base)
    q = robot.neutral() if not batch else np.tile(robot.neutral(), (16, 1))
    q[..., -robot.nv :] += 0.1
    arguments = [q if letter == "q" else np.ones(robot.nv) for letter in quantities_of(kt.Robot)[quantity].inputs]
    if base == "floating":
        q[..., :7] = robot.neutral()[:7]
    getattr(robot, quantity)(*arguments)
    seconds = time.perf_counter() - start
    program = program_of(robot, quantity)
    return {"seconds": seconds, "operations": program.operations}


def main() -> None:
    """Measure, print, save."""
    rows = []
    for name in COMPILED:
        budget = BUDGET["arm" if name in ARMS else "legged"]
        for quantity in QUANTITIES:
            if name in ARMS and quantity == "diagonalized_coordinates":  # of floating bases
                continue
            single, batch = (in_fresh_process(name, quantity, batch) for batch in (False, True))
            rows.append(
                {
                    "robot": name,
                    "quantity": quantity,
                    "operations": single["operations"],
                    "cold, one state [s]": single["seconds"],
                    "cold, batch [s]": batch["seconds"],
                    "budget [s]": budget,
                }
            )
    show("Load, trace, compile, first result", rows)
    print("saved", save("compile", {"cold": rows}))


def in_fresh_process(name: str, quantity: str, batch: bool, repeats: int = 2) -> dict[str, float]:
    """The best of a few runs, each in a process of its own and without the cache on disk."""
    code = f"import json, compile; print(json.dumps(compile.measure_one({name!r}, {quantity!r}, {batch})))"
    results = []
    for _ in range(repeats):
        run = subprocess.run(
            [sys.executable, "-c", code],
            cwd=Path(__file__).parent,
            env=environment(KINETREE_CACHE="0"),
            capture_output=True,
            text=True,
            check=True,
        )
        results.append(json.loads(run.stdout))
    return min(results, key=lambda result: result["seconds"])


if __name__ == "__main__":
    main()
