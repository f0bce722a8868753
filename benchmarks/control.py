"""One step of a controller from Python on xArm7, beside what Pinocchio needs for its terms alone.

Computed torque and operational-space control, each one call, beside one `pin.rnea`, and beside crba, frame Jacobian and
bias forces, which operational-space control would need before any algebra. Then the latency of 1e5 single steps.

    python benchmarks/control.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
from latency import FIRST, TURN, sampler
from measure import best_loops, save
from robots import load
from table import show

import kinetree as kt
from kinetree.cli.measure import Call
from kinetree.control import (
    CartesianImpedance,
    ComputedTorque,
    GravityCompensation,
    HybridMotionForce,
    JointImpedance,
    OperationalSpace,
)

STEPS = 100_000
Q = np.array([0.2, 0.4, -0.3, 1.1, 0.2, 0.7, 0.1])


def calls() -> dict[str, Call]:
    """All contenders, by name."""
    arm = load("xArm7")
    robot, model, data, frame = arm.robot, arm.model, arm.model.createData(), arm.frame
    rng = np.random.default_rng(0)
    v, a, still = rng.normal(size=7), rng.normal(size=7), np.zeros(6)
    tool = model.getFrameId(frame)
    pose = robot.frame(frame).pose(Q + 0.1)
    joints, task, rest = (Q + 0.1, v, a), (pose, still, still), {"posture": Q, "posture_stiffness": 5.0}
    controllers: dict[str, tuple[Any, tuple[Any, ...]]] = {
        "computed torque": (ComputedTorque(robot, 100.0), joints),
        "operational space": (OperationalSpace(robot, frame, 100.0), task),
        "operational space with posture": (OperationalSpace(robot, frame, 100.0, **rest), task),
        "Cartesian impedance with posture": (CartesianImpedance(robot, frame, 300.0, 30.0, **rest), task),
        "hybrid motion and force": (HybridMotionForce(robot, frame, 100.0), (*task, still)),
        "joint impedance": (JointImpedance(robot, 50.0, 5.0), joints[:2]),
        "gravity compensation": (GravityCompensation(robot), ()),
    }
    found = {}
    for name, (controller, reference) in controllers.items():
        names = {"c": controller, "q": Q, "v": v, "reference": reference}
        found[name] = Call("c(q, v, reference)" if reference else "c(q, v)", names)
    names = {"pin": pin, "m": model, "d": data, "q": Q, "v": v, "a": a, "f": tool, "LWA": pin.LOCAL_WORLD_ALIGNED}
    names |= {"rnea": pin.rnea, "crba": pin.crba, "J": pin.computeFrameJacobian, "nle": pin.nonLinearEffects}
    found["pin.rnea"] = Call("rnea(m, d, q, v, a)", names)
    found["pin.crba, frame Jacobian, bias forces"] = Call("crba(m, d, q); J(m, d, q, f, LWA); nle(m, d, q, v)", names)
    _check(robot, model, found, v)
    return found


def _check(robot: kt.Robot, model: Any, found: dict[str, Call], v: np.ndarray) -> None:
    """The arm of both is the same, and the tool does what it is told."""
    reference = found["computed torque"].names["reference"]
    command = reference[2] + 100.0 * (reference[0] - Q) + 20.0 * (reference[1] - v)  # type: ignore[index]
    theirs = pin.rnea(model, model.createData(), Q, v, command)
    assert np.allclose(found["computed torque"].result(), theirs, atol=1e-9)


def times(found: dict[str, Call]) -> list[dict[str, object]]:
    """Of one call, and how much longer Pinocchio's take."""
    best = best_loops({name: call.seconds for name, call in found.items()})
    rnea, terms = best["pin.rnea"], best["pin.crba, frame Jacobian, bias forces"]
    return [
        {"call": name, "µs": 1e6 * seconds, "pin.rnea takes": rnea / seconds, "pin's terms take": terms / seconds}
        for name, seconds in best.items()
    ]


def worst(found: dict[str, Call]) -> list[dict[str, object]]:
    """Median, 99.9 % and worst of many steps, each timed by itself; and of nothing."""
    chosen = {name: found[name] for name in ("computed torque", "operational space with posture", "pin.rnea")}
    sides = {name: sampler(call) for name, call in chosen.items()} | {"nothing": sampler(Call("pass", {}))}
    samples: dict[str, list[int]] = {name: [] for name in sides}
    for sample in sides.values():
        sample(TURN)
    for _ in range(STEPS // TURN):
        for name, sample in sides.items():
            samples[name] += sample(FIRST + TURN)[FIRST:]
    rows: list[dict[str, object]] = []
    for name, taken in samples.items():
        median, high, most = (float(x) for x in 1e-3 * np.quantile(taken, (0.5, 0.999, 1.0)))
        rows.append({"call": name, "steps": len(taken), "median [µs]": median, "99.9 % [µs]": high, "worst [µs]": most})
    return rows


def main() -> None:
    """Measure, print, save."""
    found = calls()
    table, late = times(found), worst(found)
    show("One step on xArm7 from Python", table)
    show("Latency of single steps", late)
    save("control", {"steps": table, "latency": late})


if __name__ == "__main__":
    main()
