"""Drake: quaternions wxyz before positions, angular before linear, both in the axes of the parent; a ball joint by
roll, pitch and yaw."""

from __future__ import annotations

import numpy as np

from kinetree.convert.coordinates import Coordinates, OnLine, Same, matrices
from kinetree.convert.free import FreeBody
from kinetree.convert.peer import Peer
from kinetree.model.joints import AxisJoint, Free, Joint, Spherical
from kinetree.ops import Array

UPRIGHT = 1e-9
"""Below this cosine of the pitch, roll and yaw cannot be told apart."""


class RollPitchYaw(Coordinates):
    """BallRpyJoint: R = Rz(yaw) Ry(pitch) Rx(roll), q = [roll, pitch, yaw] [rad], and v the angular velocity in the
    axes of the parent."""

    @property
    def nq(self) -> int:
        return 3

    @property
    def turns(self) -> bool:
        return True

    def positions(self, q: Array) -> Array:
        R = matrices(q)
        level = np.hypot(R[..., 2, 1], R[..., 2, 2])  # cos pitch
        upright = level < UPRIGHT  # roll and yaw turn about the same axis: give all of it to roll
        roll = np.where(upright, np.arctan2(-R[..., 1, 2], R[..., 1, 1]), np.arctan2(R[..., 2, 1], R[..., 2, 2]))
        yaw = np.where(upright, 0.0, np.arctan2(R[..., 1, 0], R[..., 0, 0]))
        return np.stack([roll, np.arctan2(-R[..., 2, 0], level), yaw], axis=-1)

    def own_positions(self, theirs: Array) -> Array:
        (cr, cp, cy), (sr, sp, sy) = (np.moveaxis(f(theirs / 2), -1, 0) for f in (np.cos, np.sin))
        x, y = sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy
        z, w = cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy
        q = np.stack([x, y, z, w], axis=-1)
        return np.where(q[..., 3:] < 0.0, -q, q)

    def T(self, q: Array) -> Array:
        return matrices(q)


def _coordinates(joint: Joint) -> Coordinates:
    if isinstance(joint, Free):
        return FreeBody(
            joint,
            quaternion="wxyz",
            position_first=False,
            linear_in_parent=True,
            angular_in_parent=True,
            order="angular-first",
        )
    if isinstance(joint, Spherical):
        return RollPitchYaw(joint)
    return OnLine(joint) if isinstance(joint, AxisJoint) else Same(joint)


DRAKE = Peer("drake", _coordinates, spatial_order="angular-first")
