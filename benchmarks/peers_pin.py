"""What a user of Pinocchio's Python bindings calls for the same results, in the cheapest way the bindings offer.

A frame's pose: `forwardKinematics`, then `updateFramePlacement`, which also returns the placement, then its 4×4 matrix.
(`framesForwardKinematics` would place every frame; reading `data.oMf[id]` costs more than the returned value.)
All poses: `forwardKinematics`, then the 4×4 matrix of each placement; the placements are looked up in `data.oMi` once,
before the loop, because they are live references and looking one up costs more than reading it. The matrices are left
as a list. What is not read at all, but left in Pinocchio's own memory, is timed beside both.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio as pin
from robots import Contender

from kinetree.cli.measure import Call
from kinetree.cli.peers import pinocchio_calls
from kinetree.convert import Kind

QUANTITIES = {
    "pose": "frame pose",
    "poses": "all poses",
    "jacobian": "frame Jacobian",
    "inverse_dynamics": "RNEA",
    "mass_matrix": "CRBA",
    "forward_dynamics": "ABA",
}
"""What the rows of the table are called."""


def pin_calls(contender: Contender, state: Mapping[Kind, np.ndarray]) -> dict[str, Call]:
    """The statements of the table, for one state; results in kinetree's order of joints."""
    calls = pinocchio_calls(pin, contender.model, contender.robot, contender.frame, state)
    return {QUANTITIES[name]: call for name, call in calls.items()}


def unread_calls(calls: Mapping[str, Call]) -> dict[str, Call]:
    """The poses again, left in Pinocchio's own memory."""
    statements = {
        "frame pose": "forward(model, data, q); update(model, data, frame)",
        "all poses": "forward(model, data, q)",
    }
    return {name: Call(text, calls[name].names) for name, text in statements.items()}
