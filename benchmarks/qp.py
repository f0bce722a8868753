"""Solvers of quadratic programs on programs of robots, from Python: the choice behind `kinetree.solvers.qp`.

Sequences of programs as control poses them, one after the other: a pose task with limits on UR5, two hands and a
posture on G1, whole-body control of G1 (47 variables) and Talos (62). Every program is solved several times by every
solver, in turn, and its best time counts; `worst` is the largest of these over the sequence. `outside` is the largest
violation of a bound, `above` by how much a cost is above the best, relative to it.

    python benchmarks/qp.py        # needs daqp, quadprog, piqp, proxsuite, osqp, qpsolvers, pin-pink, mink, placo
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from measure import save
from peers_qp import SOLVERS, Solve
from qp_problems import Program, arm_steps, g1, humanoid_steps, infeasible, scaled, talos
from table import show

from kinetree.solvers import qp

STEPS, REPEATS = 60, 4


def sequences() -> dict[str, list[Program]]:
    """By name."""
    return {
        "IK, UR5": list(arm_steps(STEPS)),
        "IK, G1": list(humanoid_steps(STEPS)),
        "whole body, G1": list(g1().programs(STEPS)),
        "whole body, Talos": list(talos().programs(STEPS)),
        "units far apart": list(scaled(STEPS)),
    }


def measured(
    programs: list[Program], solver: str, warm: bool, repeats: int = REPEATS
) -> tuple[np.ndarray, list[np.ndarray | None]]:
    """Seconds of every program, and its solution."""
    best = np.full(len(programs), np.inf)
    for _ in range(repeats):
        solve: Solve = SOLVERS[solver][0](programs[0], warm)
        found = []
        for k, program in enumerate(programs):
            start = time.perf_counter()
            found.append(solve(program))
            best[k] = min(best[k], time.perf_counter() - start)
    return best, found


def rows(title: str, programs: list[Program]) -> list[dict[str, object]]:
    """All solvers on one sequence."""
    first = programs[0]
    run = qp.program(len(first.g), len(first.C)).run
    reference = [run(p.H, p.g, p.C, p.lower, p.upper, np.zeros(len(p.lower))) for p in programs]
    residual = max(p.kkt(x, z) for p, (x, z, _, _) in zip(programs, reference, strict=True))
    costs = [p.cost(x) for p, (x, *_) in zip(programs, reference, strict=True)]
    active = np.mean([np.count_nonzero(active) for _, _, active, _ in reference])
    size = f"{len(first.g)} + {first.equations} + {len(first.C) - first.equations}"
    print(f"{title}: {size} variables, equations, inequalities; {active:.0f} active; KKT residual {residual:.0e}")
    table: list[dict[str, object]] = []
    for name, (_, takes_warm) in SOLVERS.items():
        for warm in (False, True) if takes_warm else (False,):
            seconds, found = measured(programs, name, warm)
            solved = [(p, x, c) for p, x, c in zip(programs, found, costs, strict=True) if x is not None]
            above = [(p.cost(x) - c) / max(1e-9, abs(c)) for p, x, c in solved]
            table.append(
                {
                    "programs": title,
                    "solver": name + (", warm" if warm else ""),
                    "median [µs]": 1e6 * float(np.median(seconds)),
                    "worst [µs]": 1e6 * float(seconds.max()),
                    "outside": f"{max((p.outside(x) for p, x, _ in solved), default=np.nan):.0e}",
                    "above": f"{max(map(abs, above), default=np.nan):.0e}",
                    "unsolved": len(programs) - len(solved),
                }
            )
    return table


def refusals(title: str, programs: list[Program]) -> list[dict[str, object]]:
    """How many programs without a solution are recognised."""
    wrong = infeasible(programs)
    table: list[dict[str, object]] = []
    for name in SOLVERS:
        if name == "qpsolvers, daqp":
            continue
        seconds, found = measured(wrong, name, False, repeats=1)
        table.append(
            {
                "without a solution": title,
                "solver": name,
                "recognised": f"{sum(x is None for x in found)} of {len(found)}",
                "median [µs]": 1e6 * float(np.median(seconds)),
                "worst [µs]": 1e6 * float(seconds.max()),
            }
        )
    return table


def main() -> None:
    """Measure, print, save."""
    warnings.simplefilter("ignore")
    table: list[dict[str, object]] = []
    refused: list[dict[str, object]] = []
    given = sequences()
    for title, programs in given.items():
        table += rows(title, programs)
    show("Quadratic programs from Python", table)
    for title, programs in given.items():
        refused += refusals(title, programs[:3])
    show("Programs without a solution", refused)
    save("qp", {"programs": table, "infeasible": refused})


if __name__ == "__main__":
    main()
