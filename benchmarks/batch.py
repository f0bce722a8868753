"""Batches of 4096 from C-ordered arrays on one core, against Pinocchio's own C++ batch; and two threads against one."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pinocchio as pin
from measure import RESULTS, best_times, geometric_mean, save
from robots import ARMS, ROBOTS, Contender, load
from table import show

import kinetree as kt

mpl.use("Agg")
import matplotlib.pyplot as plt

STATES = 4096
BUDGET = {"arm": 30.0, "legged": 15.0}


def contenders(robot: Contender, quantity: str) -> dict[str, object]:
    """Calls that fill the same results on both sides."""
    q, v, a = robot.states(STATES)
    columns = robot.to_pinocchio(q, v, a)
    pool = pin.ModelPool(robot.model, 1)
    result = np.zeros((robot.model.nv, STATES), order="F")
    ours = robot.robot.inverse_dynamics if quantity == "inverse_dynamics" else robot.robot.forward_dynamics
    theirs = pin.rneaInParallel if quantity == "inverse_dynamics" else pin.abaInParallel
    calls = {"kinetree": lambda: ours(q, v, a), "pin": lambda: theirs(1, pool, *columns, result)}
    out = calls["kinetree"]()
    calls["pin"]()
    mine = kt.convert(robot.robot, "tau" if quantity == "inverse_dynamics" else "v", out, to="pinocchio")
    error = np.abs(mine.T - result).max(axis=0) / np.maximum(1.0, np.abs(result).max(axis=0))
    assert np.quantile(error, 0.9) < 1e-6, f"{robot.name}: the contenders disagree"  # iCub's M is singular nearby
    return calls


def main() -> None:
    """Measure, print, save."""
    kt.set_num_threads(1)
    rows, ratios = [], {}
    for name in ROBOTS:
        robot = load(name)
        for quantity in ("inverse_dynamics", "forward_dynamics"):
            times = best_times(contenders(robot, quantity))
            ratio = times["pin"] / times["kinetree"]
            ratios[name, quantity] = ratio
            budget = BUDGET["arm" if name in ARMS else "legged"]
            rows.append(
                {
                    "robot": name,
                    "nv": robot.robot.nv,
                    "quantity": quantity,
                    "kinetree [ns/state]": 1e9 * times["kinetree"] / STATES,
                    "pin [ns/state]": 1e9 * times["pin"] / STATES,
                    "ratio": ratio,
                    "budget": budget,
                }
            )
    show(f"Batch of {STATES}, one core", rows)
    threads = two_threads()
    show("Two threads against one, 1e5 states", threads)
    print(f"geometric mean of the ratios: {geometric_mean(list(ratios.values())):.1f}")
    plot(rows)
    print("saved", save("batch", {"states": STATES, "batch": rows, "threads": threads}))


def plot(rows: list[dict[str, object]]) -> None:
    """Times side by side, with the ratio above."""
    labels = [f"{row['robot']}\n{'RNEA' if row['quantity'] == 'inverse_dynamics' else 'ABA'}" for row in rows]
    place = np.arange(len(rows))
    figure, ax = plt.subplots(figsize=(11, 4.2))
    for shift, side in ((-0.2, "kinetree"), (0.2, "pin")):
        ax.bar(place + shift, [row[f"{side} [ns/state]"] for row in rows], 0.4, label=side)
    for x, row in zip(place, rows, strict=True):
        ax.text(x + 0.2, row["pin [ns/state]"], f"{row['ratio']:.0f}×", ha="center", va="bottom")
    ax.set(yscale="log", ylabel="ns per state", title=f"Batch of {STATES} states on one core")
    ax.set_xticks(place, labels)
    ax.legend()
    figure.tight_layout()
    figure.savefig(RESULTS / "batch.png", dpi=110)


def two_threads() -> list[dict[str, object]]:
    """How much faster 1e5 states are on two threads."""
    rows: list[dict[str, object]] = []
    for name in ("UR5", "G1"):
        robot = load(name)
        q, v, a = robot.states(100_000)

        def call(threads: int, robot=robot, q=q, v=v, a=a) -> None:
            kt.set_num_threads(threads)
            robot.robot.inverse_dynamics(q, v, a)

        times = best_times({"one": lambda: call(1), "two": lambda: call(2)}, repeats=30, least=0.1)
        rows.append(
            {
                "robot": name,
                "one thread [ms]": 1e3 * times["one"],
                "two threads [ms]": 1e3 * times["two"],
                "ratio": times["one"] / times["two"],
                "budget": 1.8,
            }
        )
    kt.set_num_threads(1)
    return rows


if __name__ == "__main__":
    main()
