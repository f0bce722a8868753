"""How compile time, code size and run time grow with the number of joints, and run time with the batch."""

from __future__ import annotations

import time

import matplotlib as mpl
import numpy as np
from measure import RESULTS, best_times, save
from robots import chain, load
from table import show

import kinetree as kt
from kinetree.compiler.program import build
from kinetree.compiler.runtime.jit import compile_object, host
from kinetree.robot.quantity import prepared

mpl.use("Agg")
import matplotlib.pyplot as plt

JOINTS = (5, 10, 20, 50, 100, 200)
QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
BATCHES = (1, 8, 64, 512, 4096, 32768, 262144, 1000000)


def joints() -> list[dict[str, object]]:
    """Chains of 5 to 200 joints."""
    rows: list[dict[str, object]] = []
    for n in JOINTS:
        robot = chain(n)
        for name in QUANTITIES:
            ((quantity, key),) = prepared(robot, [name])
            start = time.perf_counter()
            program = build(quantity.formula(key), list(quantity.arrays.values()), host())
            traced = time.perf_counter() - start
            start = time.perf_counter()
            code = compile_object(program.single_assembly(), host())
            compiled = time.perf_counter() - start
            arguments = [robot.random(0), *np.ones((len(quantity.arrays) - 1, n))]
            function = getattr(robot, name)
            call = best_times({"call": lambda f=function, a=arguments: f(*a)}, repeats=7)["call"]
            rows.append(
                {
                    "joints": n,
                    "quantity": name,
                    "operations": program.operations,
                    "trace [s]": traced,
                    "compile [s]": compiled,
                    "code [kB]": len(code) / 1e3,
                    "one call [µs]": 1e6 * call,
                }
            )
    return rows


def batches() -> list[dict[str, object]]:
    """One state to a million, inverse dynamics of two robots, one thread."""
    kt.set_num_threads(1)
    rows: list[dict[str, object]] = []
    for name in ("UR5", "G1"):
        robot = load(name)
        for n in BATCHES:
            q, v, a = robot.states(n)
            seconds = best_times({"run": lambda r=robot, s=(q, v, a): r.robot.inverse_dynamics(*s)}, 7)["run"]
            rows.append({"robot": name, "batch": n, "ns/state": 1e9 * seconds / n})
    return rows


def plot(by_joints: list[dict[str, object]], by_batch: list[dict[str, object]]) -> None:
    """The tables as pictures."""
    figure, axes = plt.subplots(1, 4, figsize=(17, 4.2))
    for column, ax in zip(("operations", "compile [s]", "one call [µs]"), axes[:3], strict=True):
        for name in QUANTITIES:
            rows = [row for row in by_joints if row["quantity"] == name]
            ax.loglog([row["joints"] for row in rows], [row[column] for row in rows], "o-", label=name)
        ax.set(xlabel="joints in a chain", title=column)
        ax.grid(alpha=0.3, which="both")
        ax.legend(fontsize=8)
    for name in dict.fromkeys(row["robot"] for row in by_batch):
        rows = [row for row in by_batch if row["robot"] == name]
        axes[3].loglog([row["batch"] for row in rows], [row["ns/state"] for row in rows], "o-", label=f"{name}")
    axes[3].set(xlabel="states in a batch", title="inverse dynamics, ns per state, one thread")
    axes[3].grid(alpha=0.3, which="both")
    axes[3].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(RESULTS / "growth.png", dpi=110)


def main() -> None:
    """Measure, print, plot, save."""
    by_joints, by_batch = joints(), batches()
    show("Chains", by_joints)
    show("Batches", by_batch)
    save("growth", {"joints": by_joints, "batches": by_batch})
    plot(by_joints, by_batch)
    print("saved", RESULTS / "growth.png")


if __name__ == "__main__":
    main()
