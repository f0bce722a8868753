"""Pinocchio: quaternions xyzw, continuous joints on the circle, velocities in the axes of the body."""

from __future__ import annotations

import numpy as np

from kinetree.base.arguments import check_circles
from kinetree.convert.coordinates import Coordinates, OnCircle, OnLine, Quaternion, Same
from kinetree.convert.free import FreeBody
from kinetree.convert.peer import Peer
from kinetree.model.joints import AxisJoint, Continuous, Free, Joint, Planar, Spherical
from kinetree.ops import Array
from kinetree.spatial.last_axes import times


class BodyPlanar(Coordinates):
    """JointModelPlanar: q = [x, y, cos θ, sin θ], and v = [v_x, v_y, θ̇] with the velocity in the body's axes."""

    @property
    def nq(self) -> int:
        return 4

    @property
    def turns(self) -> bool:
        return True

    @property
    def drifts(self) -> bool:
        return True

    def positions(self, q: Array) -> Array:
        theta = q[..., 2:]
        return np.concatenate([q[..., :2], np.cos(theta), np.sin(theta)], axis=-1)

    def own_positions(self, theirs: Array) -> Array:
        return np.concatenate([theirs[..., :2], np.arctan2(theirs[..., 3:], theirs[..., 2:3])], axis=-1)

    def check(self, name: str, q: Array, start: int) -> None:
        check_circles(name, q, [slice(start + 2, start + 4)])

    def T(self, q: Array) -> Array:
        c, s = np.cos(q[..., 2]), np.sin(q[..., 2])
        T = np.zeros((*c.shape, 3, 3))
        T[..., 0, 0], T[..., 0, 1] = c, s
        T[..., 1, 0], T[..., 1, 1] = -s, c
        T[..., 2, 2] = 1.0
        return T

    def drift(self, q: Array, v: Array) -> Array:
        """d/dt (Rᵀ ẋ) = Rᵀ ẍ - θ̇ z × Rᵀ ẋ."""
        body = times(self.T(q), v)
        x, y, theta = body[..., 0], body[..., 1], body[..., 2]
        return np.stack([theta * y, -theta * x, np.zeros_like(theta)], axis=-1)


def _coordinates(joint: Joint) -> Coordinates:
    if isinstance(joint, Free):
        return FreeBody(
            joint,
            quaternion="xyzw",
            position_first=True,
            linear_in_parent=False,
            angular_in_parent=False,
            order="linear-first",
        )
    if isinstance(joint, Planar):
        return BodyPlanar(joint)
    if isinstance(joint, Continuous):
        return OnCircle(joint)
    if isinstance(joint, Spherical):
        return Quaternion(joint, "xyzw")
    return OnLine(joint) if isinstance(joint, AxisJoint) else Same(joint)


PINOCCHIO = Peer("pinocchio", _coordinates, spatial_order="linear-first", siblings_by_name=True)
