"""Constrained forward dynamics of a standing quadruped and its derivatives, one state from Python, beside Pinocchio.

Both solve for accelerations and forces of point contacts at four feet; Pinocchio by `constraintDynamics` with its
default settings of the proximal solver, its forces left in its own memory.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from measure import best_loops, save
from robots import Contender, load
from table import show

import kinetree as kt
from kinetree.cli.measure import Call

FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")


def calls(contender: Contender, kind: str, derivatives: bool) -> dict[str, Call]:
    """The same statement for both: accelerations, or their derivatives by q."""
    robot, model, data = contender.robot, contender.model, contender.model.createData()
    system = robot.constrained([kt.Contact(foot, kind) for foot in FEET])  # type: ignore[arg-type]
    q, v, tau = (x[0] for x in contender.states(1))
    v = system.projector(q) @ v
    q_pin, v_pin, tau_pin = (np.ascontiguousarray(x[:, 0]) for x in contender.to_pinocchio(q[None], v[None], tau[None]))
    models = pin.StdVec_RigidConstraintModel()
    for foot in FEET:
        frame = model.frames[model.getFrameId(foot, pin.FrameType.BODY)]
        dimension = pin.ContactType.CONTACT_3D if kind == "point" else pin.ContactType.CONTACT_6D
        models.append(pin.RigidConstraintModel(dimension, model, frame.parentJoint, frame.placement, pin.LOCAL))
    datas = pin.StdVec_RigidConstraintData()
    datas.extend([constraint.createData() for constraint in models])
    pin.initConstraintDynamics(model, data, models, datas)
    settings = pin.ProximalSettings(1e-12, 1e-8 if kind == "surface" else 0.0, 4 if kind == "surface" else 1)
    ours = {
        "slopes": system.forward_dynamics_derivatives,
        "dynamics": system.forward_dynamics,
        "q": q,
        "v": v,
        "tau": tau,
    }
    theirs = {"dynamics": pin.constraintDynamics, "model": model, "data": data, "models": models, "datas": datas}
    theirs |= {
        "slopes": pin.computeConstraintDynamicsDerivatives,
        "q": q_pin,
        "v": v_pin,
        "tau": tau_pin,
        "settings": settings,
    }
    if derivatives:
        both = "dynamics(model, data, q, v, tau, models, datas, settings); slopes(model, data, models, datas, settings)"
        order = kt.convert(robot, "v", np.eye(robot.nv), to="pinocchio")
        return {
            "kinetree": Call("slopes(q, v, tau)", ours, lambda slopes: slopes[0]),
            "pin": Call(both, theirs, lambda slopes: order @ slopes[0] @ order.T),
        }
    return {
        "kinetree": Call("dynamics(q, v, tau)", ours, lambda pair: pair[0]),
        "pin": Call(
            "dynamics(model, data, q, v, tau, models, datas, settings)",
            theirs,
            lambda a: kt.convert(robot, "a", np.array(a), source="pinocchio"),
        ),
    }


def row(contender: Contender, kind: str, derivatives: bool) -> dict[str, object]:
    """Times of both, after a look at their results."""
    both = calls(contender, kind, derivatives)
    ours, theirs = both["kinetree"].result(), both["pin"].result()
    assert np.abs(ours - theirs).max() <= 1e-6 * max(1.0, np.abs(theirs).max())
    best = best_loops({name: call.seconds for name, call in both.items()})
    return {
        "robot": contender.name,
        "contacts": f"4 × {kind}",
        "quantity": "derivatives" if derivatives else "accelerations and forces",
        "kinetree [µs]": 1e6 * best["kinetree"],
        "pin [µs]": 1e6 * best["pin"],
        "ratio": best["pin"] / best["kinetree"],
    }


def main() -> None:
    """Measure, print, save."""
    contender = load("ANYmal")
    rows = [row(contender, kind, derivatives=False) for kind in ("point", "surface")]
    rows.append(row(contender, "point", derivatives=True))
    show("Constrained forward dynamics, one state from Python", rows)
    print("saved", save("constrained", {"rows": rows}))


if __name__ == "__main__":
    main()
