"""What a user of Pinocchio's Python bindings calls for the same results, in the cheapest way the bindings offer.

A frame's pose: `forwardKinematics`, then `updateFramePlacement`, which also returns the placement, then its 4×4 matrix.
(`framesForwardKinematics` would place every frame; reading `data.oMf[id]` costs more than the returned value.)
All poses: `forwardKinematics`, then the 4×4 matrix of each placement; the placements are looked up in `data.oMi` once,
before the loop, because they are live references and looking one up costs more than reading it. The matrices are left
as a list. What is not read at all, but left in Pinocchio's own memory, is timed beside both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pinocchio as pin
from robots import Contender

import kinetree as kt
from kinetree.cli.measure import Call
from kinetree.convert import Kind


def pin_calls(contender: Contender, state: Mapping[Kind, np.ndarray]) -> dict[str, Call]:
    """The statements of the table, for one state; results in kinetree's order of joints."""
    robot, model, data = contender.robot, contender.model, contender.model.createData()
    q, v, a, tau = (np.ascontiguousarray(kt.convert(robot, kind, state[kind], to="pinocchio")) for kind in state)
    frame = model.getFrameId(contender.frame, pin.FrameType.BODY)
    placements = _placements(robot, model, data)

    def call(statement: str, kind: Kind | None = None, **names: Any) -> Call:
        def read(value: Any) -> np.ndarray:
            return np.array(value) if kind is None else kt.convert(robot, kind, value, source="pinocchio")

        return Call(statement, {"model": model, "data": data, "q": q, **names}, read)

    forward, update = pin.forwardKinematics, pin.updateFramePlacement
    return {
        "frame pose": call(
            "forward(model, data, q); update(model, data, frame).homogeneous",
            forward=forward,
            update=update,
            frame=frame,
        ),
        "all poses": call(
            "forward(model, data, q); [placement.homogeneous for placement in placements]",
            forward=forward,
            placements=placements,
        ),
        "frame Jacobian": call(
            "jacobian(model, data, q, frame, aligned)",
            "jacobian",
            jacobian=pin.computeFrameJacobian,
            frame=frame,
            aligned=pin.LOCAL_WORLD_ALIGNED,
        ),
        "RNEA": call("rnea(model, data, q, v, a)", "tau", rnea=pin.rnea, v=v, a=a),
        "CRBA": call("crba(model, data, q)", "mass_matrix", crba=pin.crba),
        "ABA": call("aba(model, data, q, v, tau)", "v", aba=pin.aba, v=v, tau=tau),
    }


def unread_calls(calls: Mapping[str, Call]) -> dict[str, Call]:
    """The poses again, left in Pinocchio's own memory."""
    statements = {
        "frame pose": "forward(model, data, q); update(model, data, frame)",
        "all poses": "forward(model, data, q)",
    }
    return {name: Call(text, calls[name].names) for name, text in statements.items()}


def _placements(robot: kt.Robot, model: pin.Model, data: pin.Data) -> list[pin.SE3]:
    """Live references to the placements of all joints, in the order of `robot.body_names`."""
    base = robot.model.floating_base
    return [data.oMi[1 if joint is base else model.getJointId(joint.name)] for joint in robot.model.joints[1:]]
