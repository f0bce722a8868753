"""What one call costs by the kind of array that it gets: arrays of any strides and dtypes, lists, tuples.

Every kind holds the same numbers, and every call is checked to be native and to have the result of the contiguous one.
A call through Python, as all of these were once, stands beside them. Batches: arguments without a batch axis, of other
dtypes or lists, and strided or broadcast batches, beside contiguous ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from measure import best_loops, save
from robots import find
from table import show

import kinetree as kt
from kinetree.cli.measure import Call
from kinetree.control import ComputedTorque

VIEW, OTHERS = "1.2 × + 30 ns", "+ 1 µs"
"""Budgets beside the contiguous call: of a view of float64, and of everything else."""
STATES = 512


def kinds(x: np.ndarray) -> dict[str, Any]:
    """The same numbers in all kinds of arguments; those of integers are other numbers."""
    spread, trajectory = np.zeros(2 * len(x)), np.zeros((len(x), 100))
    spread[::2], trajectory[:, 7] = x, x
    return {
        "float64, contiguous": x,
        "float64, x[::2]": spread[::2],
        "float64, column of a trajectory": trajectory[:, 7],
        "float32": x.astype(np.float32),
        "int64": x.astype(np.int64),
        "int32": x.astype(np.int32),
        "list of floats": x.tolist(),
        "tuple of floats": tuple(x.tolist()),
        "list of NumPy's numbers": list(x),
    }


def by_kind(call: Callable[..., Any], x: np.ndarray, others: tuple[Any, ...] = ()) -> dict[str, Call]:
    """Calls of a function whose first argument comes in all kinds, and one through Python."""
    found = {}
    for name, value in kinds(x).items():
        right, got = call(np.asarray(value, dtype=float).copy(), *others), call(value, *others)
        assert np.array_equal(right, got), name
        found[name] = made(call, value, *others)
    owner = call.__self__  # type: ignore[attr-defined]
    by_python = getattr(type(owner), call.__name__)
    found["float64 through Python"] = made(by_python, owner, x, *others)
    return found


def made(call: Callable[..., Any], *values: Any) -> Call:
    """The call of a function with these arguments."""
    names = {f"x{k}": value for k, value in enumerate(values)}
    return Call(f"call({', '.join(names)})", {"call": call, **names})


def tables() -> dict[str, dict[str, Call]]:
    """All cells by table."""
    arm, ur5 = kt.load("arm6"), kt.load(find("ur5_robot.urdf"))
    q = np.array([3.0, -2.0, 1.0, -1.0, 2.0, 1.0])  # integers and float32 hold them
    v, push = np.ones(6), np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    step = kt.ik.DifferentialIK(arm, kt.ik.Position("tool0"))
    arrive = kt.ik.DifferentialIK(arm, kt.ik.Pose("tool0"))
    pose = arm.frame("tool0").pose(q)
    track = ComputedTorque(arm, 100.0, 20.0)
    point = np.ascontiguousarray(pose[:3, 3])
    found = {
        "mass_matrix of arm6": by_kind(arm.mass_matrix, q),
        "mass_matrix of UR5": by_kind(ur5.mass_matrix, q),
        "inverse_dynamics of UR5, q": by_kind(ur5.inverse_dynamics, q, (v, v)),
    }
    targets = {
        "target contiguous": point,
        "target pose[:3, 3]": pose[:3, 3],
        "target float32": point.astype(np.float32),
        "target a list": point.tolist(),
        "target a tuple": tuple(point.tolist()),
    }
    found["step of DifferentialIK, Position"] = {name: made(step.velocity, q, x) for name, x in targets.items()}
    matrices = {
        "target contiguous": pose,
        "target in F order": np.asfortranarray(pose),
        "target float32": pose.astype(np.float32),
        "target lists in a list": pose.tolist(),
    }
    found["step of DifferentialIK, Pose"] = {name: made(arrive.velocity, q, x) for name, x in matrices.items()}
    found["inverse_dynamics of arm6 with a wrench"] = {
        f"wrench {name}": made(arm.inverse_dynamics, q, v, v, {"tool0": x}) for name, x in kinds(push).items()
    }
    found["ComputedTorque, reference q"] = {name: made(track, q, v, x) for name, x in kinds(q).items()}
    return found


def batches() -> dict[str, dict[str, Call]]:
    """Inverse dynamics of UR5 for a batch, by what v and a are."""
    robot, rng = kt.load(find("ur5_robot.urdf")), np.random.default_rng(0)
    q, v, a = robot.random(rng, STATES), rng.normal(size=(STATES, 6)), np.ones(6)
    wide = np.zeros((STATES, 12))
    wide[:, ::2] = v
    rows = np.zeros((2 * STATES, 6))
    rows[::2] = v
    of_v = {
        "v contiguous": v,
        "v in F order": np.asfortranarray(v),
        "every other column": wide[:, ::2],
        "every other row": rows[::2],
        "v[0] broadcast": np.broadcast_to(v[0], v.shape),
        "v float32": v.astype(np.float32),
    }
    of_a = {
        "a for all states": a,
        "a for all states, float32": a.astype(np.float32),
        "a for all states, int64": a.astype(np.int64),
        "a for all states, list": a.tolist(),
        "a for all states, a view": np.ones(12)[::2],
    }
    call = robot.inverse_dynamics
    found = {name: made(call, q, x, a) for name, x in of_v.items()}
    found |= {name: made(call, q, v, x) for name, x in of_a.items()}
    grid = made(call, q.reshape(16, 32, 6)[:, :1], v.reshape(16, 32, 6)[:1], a)
    return {f"inverse_dynamics of UR5, {STATES} states": {**found, "q (16, 1, 6), v (32, 6)": grid}}


def rows_of(times: Mapping[tuple[str, str], float]) -> list[dict[str, Any]]:
    """One line a kind, beside the first of its table."""
    first: dict[str, float] = {}
    rows = []
    for (table, name), seconds in times.items():
        base = first.setdefault(table, seconds)
        is_view = name.startswith(("float64, ", "target pose", "target in F", "wrench float64, "))
        limit = 1.2 * base + 30e-9 if is_view else base + 1e-6
        judged = "contiguous" not in name and "Python" not in name
        rows.append(
            {
                "function": table,
                "argument": name,
                "ns": 1e9 * seconds,
                "more than contiguous [ns]": 1e9 * (seconds - base),
                "budget": (VIEW if is_view else OTHERS) if judged else None,
                "kept": ("yes" if seconds <= limit else "no") if judged else None,
            }
        )
    return rows


def main() -> None:
    """Measure, print, save."""
    kt.set_num_threads(1)
    found = tables()
    times = best_loops({(table, name): call.seconds for table, calls in found.items() for name, call in calls.items()})
    single = rows_of(times)
    show("One state, by the kind of argument", single)
    many = batches()
    times = best_loops({(table, name): call.seconds for table, calls in many.items() for name, call in calls.items()})
    batch = [
        {"function": table, "argument": name, "µs": 1e6 * seconds, "ns/state": 1e9 * seconds / STATES}
        for (table, name), seconds in times.items()
    ]
    show(f"{STATES} states, one core", batch)
    print("saved", save("arguments", {"single": single, "states": STATES, "batch": batch}))


if __name__ == "__main__":
    main()
