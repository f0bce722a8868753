"""Coordinates of a robot as a search sees them: which have limits, which are lengths, and in which axes they move."""

from __future__ import annotations

import numpy as np

from kinetree.model.joints import Free
from kinetree.ops import Array, clip
from kinetree.robot import Robot


def limited(robot: Robot) -> list[tuple[int, int, float, float]]:
    """Coordinates that have limits: where they are in q and in v, and from where to where they go.

    The entry of v is that of `in_parent_axes`: x, y, z of a free joint are limited, and their rates are ẋ = R v.
    """
    limits, found = robot.model.limits, []
    for joint in robot.model.owners:
        pairs = joint.rated
        if isinstance(joint, Free):
            pairs = tuple((joint.iq + k, joint.linear_slice.start + k) for k in range(3))
        for iq, iv in pairs:
            low, high = float(limits.lower[iq]), float(limits.upper[iq])
            if np.isfinite(low) or np.isfinite(high):
                found.append((iq, iv, low, high))
    return found


def within_limits(robot: Robot, q: Array) -> Array:
    """q, each coordinate moved to its nearest limit where it is beyond one."""
    q = q.copy()
    for iq, _, low, high in limited(robot):
        q[iq] = clip(q[iq], low, high)
    return q


def translations(robot: Robot) -> Array:
    """The velocities that are lengths per time and turn nothing, (nv,) of bool: the frames' positions are linear in
    their coordinates."""
    model, neutral = robot.model, robot.neutral()
    turns = np.zeros(robot.nv, dtype=bool)
    for joint in model.joints:
        for k, column in enumerate(joint.motion_subspace(neutral)):
            turns[joint.iv + k] |= bool(np.any(column.angular != 0.0))
    return ~turns


def in_parent_axes(robot: Robot, q: Array, J: Array) -> Array:
    """A Jacobian's columns for v with the linear part of limited free joints in their parent's axes: J Rᵀ, ẋ = R v."""
    J = J.copy()
    for joint in _turned(robot):
        J[:, joint.linear_slice] = J[:, joint.linear_slice] @ joint.transform(q).R
    return J


def in_own_axes(robot: Robot, q: Array, dv: Array) -> Array:
    """A displacement in the tangent space of q from one `in_parent_axes`."""
    dv = dv.copy()
    for joint in _turned(robot):
        dv[joint.linear_slice] = joint.transform(q).R @ dv[joint.linear_slice]
    return dv


def _turned(robot: Robot) -> list[Free]:
    """Free joints with position limits whose velocity is in body axes."""
    limits = robot.model.limits
    free = [joint for joint in robot.model.owners if isinstance(joint, Free) and joint.frame == "body"]
    return [joint for joint in free if any(np.isfinite(b[joint.q_slice]).any() for b in (limits.lower, limits.upper))]
