"""What one call from Python costs: kinetree beside Pinocchio's bindings and beside adam with CasADi's generated C.

All contenders of a cell compute the same result from one state inside the joints' limits (this is checked), in loops
that hold nothing but the call, in turn; each keeps its best run and nothing is subtracted. `peers_pin` and
`peers_casadi` say how the peers are called. Latency and start-up are measured by `latency` and `startup`.
"""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import latency
import matplotlib as mpl
import numpy as np
import startup
from measure import RESULTS, best_loops, geometric_mean, save
from peers_pin import pin_calls, unread_calls
from robots import ROBOTS, Contender, load
from single import kernel_loop
from table import show

from kinetree.cli.measure import Call
from kinetree.convert import Kind
from kinetree.robot.quantity import program_of

mpl.use("Agg")
import matplotlib.pyplot as plt

QUANTITIES = ("frame pose", "all poses", "frame Jacobian", "RNEA", "CRBA", "ABA")
MEAN, LEAST = 4.0, 1.5
"""Budgets against Pinocchio: the geometric mean of all ratios, and every one of them."""
AGAINST_ADAM = 1.5
JUDGED = ("RNEA", "CRBA", "ABA")
"""The quantities with a budget against adam; the others are there to be seen."""

Rows = list[dict[str, Any]]
Times = dict[tuple[str, str], dict[str, float]]
"""Seconds of every contender, by robot and quantity."""


def one_state(contender: Contender) -> dict[Kind, np.ndarray]:
    """q, v, a and τ; nothing pushes a floating base, because adam's forward dynamics has no argument for that."""
    q, v, a = (np.ascontiguousarray(x[0]) for x in contender.states(1))
    tau = np.random.default_rng(1).normal(size=contender.robot.nv)
    if contender.robot.model.floating_base is not None:
        tau[:6] = 0.0
    return {"q": q, "v": v, "a": a, "tau": tau}


def our_calls(contender: Contender, state: Mapping[Kind, np.ndarray]) -> dict[str, Call]:
    """The library's own."""
    robot, frame = contender.robot, contender.robot.frame(contender.frame)
    functions = {
        "frame pose": (frame.pose, "q"),
        "all poses": (robot.poses, "q"),
        "frame Jacobian": (frame.jacobian, "q"),
        "RNEA": (robot.inverse_dynamics, "q, v, a"),
        "CRBA": (robot.mass_matrix, "q"),
        "ABA": (robot.forward_dynamics, "q, v, tau"),
        "bias forces": (robot.bias_forces, "q, v"),
    }
    return {
        name: Call(f"function({arguments})", {"function": function, **state})
        for name, (function, arguments) in functions.items()
    }


def missing() -> list[str]:
    """What the comparison with adam would need."""
    modules = [name for name in ("adam", "casadi", "liecasadi") if importlib.util.find_spec(name) is None]
    return modules if shutil.which("gcc") else [*modules, "gcc"]


def measure(names: Iterable[str], with_adam: bool) -> Times:
    """All cells of the tables, in many rounds over all of them, so that a bad minute of the machine spoils none."""
    loops: dict[tuple[str, str, str], Callable[[int], float]] = {}
    for name in names:
        contender = load(name)
        state = one_state(contender)
        for (quantity, side), loop in cells(contender, state, with_adam).items():
            loops[name, quantity, side] = loop
    times: Times = {}
    for (name, quantity, side), seconds in best_loops(loops).items():
        times.setdefault((name, quantity), {})[side] = seconds
    return times


def cells(
    contender: Contender, state: Mapping[Kind, np.ndarray], with_adam: bool
) -> dict[tuple[str, str], Callable[[int], float]]:
    """The loops of one robot by quantity and side, all sides of a quantity one after the other."""
    ours, pin = our_calls(contender, state), pin_calls(contender, state)
    peers = {"pin": pin}
    if with_adam:
        from peers_casadi import adam_calls  # noqa: PLC0415 - it may not be installed

        print(f"{contender.name}: gcc compiles adam's functions …", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            peers["adam"] = adam_calls(contender, state, Path(folder))
    for side, calls in peers.items():
        for quantity, theirs in calls.items():
            check(f"{quantity} of {contender.name} by {side}", ours[quantity], theirs)
    peers["pin, unread"] = unread_calls(pin)
    found: dict[tuple[str, str], Callable[[int], float]] = {}
    for quantity, call in ours.items():
        present = {side: calls[quantity].seconds for side, calls in peers.items() if quantity in calls}
        if present:
            found |= {(quantity, side): loop for side, loop in {"kinetree": call.seconds, **present}.items()}
    program = program_of(contender.robot, "inverse_dynamics")
    found["RNEA", "bare kernel"] = kernel_loop(program, [state[kind] for kind in ("q", "v", "a")])
    return found


def check(what: str, ours: Call, theirs: Call) -> None:
    """Both compute the same; loosely, because a mass matrix may be close to singular."""
    mine, other = ours.result(), theirs.result()
    error = np.abs(mine - other).max() / max(1.0, np.abs(mine).max())
    if mine.shape != other.shape or error > 1e-6:
        raise RuntimeError(f"{what} differs: shapes {mine.shape} and {other.shape}, relative error {error:.1e}")


def against_pin(times: Times) -> Rows:
    """The first table."""
    return [
        {
            "robot": name,
            "quantity": quantity,
            "kinetree [µs]": 1e6 * cell["kinetree"],
            "pin [µs]": 1e6 * cell["pin"],
            "ratio": cell["pin"] / cell["kinetree"],
            "budget": LEAST,
            "pin, poses left unread [µs]": 1e6 * cell["pin, unread"] if "pin, unread" in cell else None,
        }
        for (name, quantity), cell in times.items()
        if "pin" in cell
    ]


def against_adam(times: Times) -> Rows:
    """The second table; what has no budget comes without."""
    rows = []
    for (name, quantity), cell in times.items():
        if "adam" in cell:
            ratio = cell["adam"] / cell["kinetree"]
            rows.append(
                {
                    "robot": name,
                    "quantity": quantity,
                    "kinetree [µs]": 1e6 * cell["kinetree"],
                    "adam + CasADi, C [µs]": 1e6 * cell["adam"],
                    "ratio": ratio,
                    "budget": AGAINST_ADAM if quantity in JUDGED else None,
                }
            )
    return rows


def overhead(times: Times) -> Rows:
    """What the way from Python to the kernel and back adds to inverse dynamics."""
    return [
        {
            "robot": name,
            "call [µs]": 1e6 * cell["kinetree"],
            "bare kernel [µs]": 1e6 * cell["bare kernel"],
            "difference [µs]": 1e6 * (cell["kinetree"] - cell["bare kernel"]),
        }
        for (name, quantity), cell in times.items()
        if quantity == "RNEA"
    ]


def summary(rows: Rows) -> dict[str, Any]:
    """The two numbers of the budget."""
    worst = min(rows, key=lambda row: row["ratio"])
    return {
        "geometric mean": geometric_mean([row["ratio"] for row in rows]),
        "geometric mean, budget": MEAN,
        "least": worst["ratio"],
        "least, budget": LEAST,
        "least is": f"{worst['quantity']} of {worst['robot']}",
    }


def plot(times: Times) -> None:
    """One panel a quantity, one group of bars a robot."""
    figure, axes = plt.subplots(2, 3, figsize=(13, 6.4), sharey=True)
    sides = [side for side in ("kinetree", "pin", "adam") if any(side in cell for cell in times.values())]
    for quantity, ax in zip(QUANTITIES, axes.flat, strict=True):
        for k, side in enumerate(sides):
            found = [(n, times[name, quantity].get(side)) for n, name in enumerate(ROBOTS)]
            bars = [(n + 0.27 * (k - 1), 1e6 * seconds) for n, seconds in found if seconds is not None]
            if bars:
                ax.bar(*zip(*bars, strict=True), 0.27, label="adam + CasADi, C" if side == "adam" else side)
        ax.set(yscale="log", title=quantity)
        ax.set_xticks(range(len(ROBOTS)), list(ROBOTS))
        ax.grid(axis="y", alpha=0.3)
    for ax in axes[:, 0]:
        ax.set_ylabel("µs per call")
    handles, labels = axes.flat[3].get_legend_handles_labels()
    figure.legend(handles, labels, ncols=len(labels), loc="lower center")
    figure.suptitle("One call from Python")
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "calls.png", dpi=110)


def main() -> None:
    """Measure, print, plot, save."""
    absent = missing()
    times = measure(ROBOTS, with_adam=not absent)
    content: dict[str, Any] = {"pin": against_pin(times)}
    show("One call from Python, beside Pinocchio's bindings", content["pin"])
    found = content["pin, summary"] = summary(content["pin"])
    print(
        f"geometric mean {found['geometric mean']:.2f} (budget {MEAN:g}) {_mark(found['geometric mean'], MEAN)}; "
        f"least {found['least']:.2f}, {found['least is']} (budget {LEAST:g}) {_mark(found['least'], LEAST)}"
    )
    if absent:
        print(f"No comparison with adam and CasADi's generated C: {', '.join(absent)} not installed.")
    else:
        from peers_casadi import FLAGS  # noqa: PLC0415 - it may not be installed

        packages = {name: version(name) for name in ("adam-robotics", "casadi")}
        content["adam"] = {"packages": packages, "gcc": " ".join(FLAGS), "calls": against_adam(times)}
        show(f"Beside adam with CasADi's C, gcc {' '.join(FLAGS)}, buffer call", content["adam"]["calls"])
        print("adam's RNEA has no accelerations: here it is M a + h, and by itself the row of the bias forces.")
    content["overhead"] = overhead(times)
    show("From Python to the kernel and back: inverse dynamics", content["overhead"])
    for key, title, rows in (
        ("latency", "Latency of inverse dynamics, every call timed by itself", latency.warm),
        ("cold caches", "The same, after other code and data went through the caches", latency.cold),
        ("start-up", "Start-up, each in a fresh process", startup.rows),
    ):
        content[key] = rows()
        show(title, content[key])
    plot(times)
    print("saved", save("calls", content), "and", RESULTS / "calls.png")


def _mark(value: float, budget: float) -> str:
    return "✓" if value >= budget else "✗"


if __name__ == "__main__":
    main()
