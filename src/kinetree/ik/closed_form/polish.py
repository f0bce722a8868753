"""Newton's method on the robot as it is: the last digits, and what a closed form leaves where axes meet but nearly."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree import linalg, ops
from kinetree.ik.closed_form.recognition import Arm
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.spatial.rotation_vector import rotation_error
from kinetree.tasks.frame import linear_and_angular


def placed(robot: Robot, arm: Arm, x: Array) -> Array:
    """q with the six angles x, and all other joints at neutral, (nq,)."""
    q = ops.zeros(robot.nq, x)
    q[...] = robot.neutral()
    q[list(arm.iq)] = x
    return q


def polished(robot: Robot, arm: Arm, x: Array, target: Array, damping: Any, steps: int) -> tuple[Array, Any, Any]:
    """x after damped Newton steps, and how far the frame is then and was before: [m] + [rad]."""
    error, away = _error(robot, arm, x, target)
    before = away
    for _ in range(steps):
        linear, angular = linear_and_angular(robot, arm.frame, placed(robot, arm, x))
        J = np.concatenate([linear, angular])[:, list(arm.iv)]
        x = x + linalg.pseudo_inverse(J, damping, full_rank=True) @ error
        error, away = _error(robot, arm, x, target)
    return x, away, before


def _error(robot: Robot, arm: Arm, x: Array, target: Array) -> tuple[Array, Any]:
    T = robot.frame(arm.frame).pose(placed(robot, arm, x))
    linear, angular = target[:3, 3] - T[:3, 3], rotation_error(target[:3, :3], T[:3, :3])
    return np.concatenate([linear, angular]), linalg.norm(linear) + linalg.norm(angular)
