"""Newton's method on the robot as it is: the last digits, and what a closed form leaves where axes meet but nearly.

Where two branches meet, the closed form may give one place for both, from which no first step leads anywhere: the frame
does not move with the joints along the null vector of its Jacobian, except by the square of the step. Branches that
came near the target but not near enough are sent on by `persistent`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree import linalg, ops
from kinetree.ik.closed_form.recognition import Arm
from kinetree.ik.closed_form.selection import RESIDUAL
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.spatial.rotation_vector import rotation_error
from kinetree.tasks.frame import linear_and_angular

STEPS = 20
DAMPING = 1e-6
KICKS = (1.5, 5.0)
"""Lengths of steps along a null vector, times the root of how far the frame is off."""

Polish = Callable[[Array, Array, Array], tuple[Array, Array, Array]]


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


def persistent(
    polish: Polish, jacobians: Callable[[Array], Array], x: Array, target: Array, number: Array
) -> tuple[Array, Array]:
    """Angles, (n, 6), and how far they leave the frame off its target, (n,), after many more steps.

    `number` says which of the eight branches each is: two that meet differ in one digit of it, and so are sent in
    opposite directions.
    """
    x, away = _descended(polish, x, target)
    sides = np.where(np.array([int(k).bit_count() for k in number]) % 2 == 0, 1.0, -1.0)
    for kick in KICKS:
        stuck = away > RESIDUAL
        if not stuck.any():
            break
        null = np.linalg.svd(jacobians(x[stuck]))[2][:, -1]
        largest = np.take_along_axis(null, np.abs(null).argmax(axis=1)[:, None], axis=1)
        step = null * np.sign(largest) * (sides[stuck] * kick * np.sqrt(away[stuck]))[:, None]
        moved, closer = _descended(polish, x[stuck] + step, target[stuck])
        better = closer < away[stuck]
        x[stuck], away[stuck] = np.where(better[:, None], moved, x[stuck]), np.where(better, closer, away[stuck])
    return x, away


def _descended(polish: Polish, x: Array, target: Array) -> tuple[Array, Array]:
    """Angles and errors after steps of Levenberg and Marquardt, two at a time: along a narrow, bent valley the first
    leads away from its floor. Steps that lead away are tried again with more damping."""
    damping = np.full(len(x), DAMPING)
    away = polish(x, target, damping)[2]
    for _ in range(STEPS):
        moved, closer, _ = polish(polish(x, target, damping)[0], target, damping)
        better = closer < away
        x, away = np.where(better[:, None], moved, x), np.where(better, closer, away)
        damping = np.where(better, 0.1 * damping, 10.0 * damping)
        if away.max() < RESIDUAL:
            break
    return x, away
