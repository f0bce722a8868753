"""MuJoCo: quaternions wxyz, a free joint's linear velocity in the world, and several hinges and slides where it has no
joint for ours.

    universal   hinge, hinge
    planar      slide, slide, hinge
    helical     hinge, slide along the same axis, tied by an equality
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.convert.coordinates import Coordinates, OnLine, Quaternion, Same
from kinetree.convert.free import FreeBody
from kinetree.convert.peer import Peer
from kinetree.model.joints import AxisJoint, Free, Helical, Joint, Spherical
from kinetree.ops import Array


@dataclass(frozen=True, eq=False)
class HingeAndSlide(OnLine):
    """Angle and advance of a helical joint: [θ, pitch · θ]."""

    joint: Helical

    @property
    def nq(self) -> int:
        return 2

    @property
    def nv(self) -> int:
        return 2

    @property
    def redundant(self) -> bool:
        return True

    def positions(self, q: Array) -> Array:
        return np.concatenate([self.angle(q), self.joint.pitch * self.angle(q)], axis=-1)

    def own_positions(self, theirs: Array) -> Array:
        return theirs[..., :1]

    def T(self, q: Array) -> Array:
        return self.joint.ratio * np.array([[1.0], [self.joint.pitch]])

    def T_inverse(self, q: Array) -> Array:
        return np.array([[1.0 if self.joint.owns_coordinates else 0.0, 0.0]])


def _coordinates(joint: Joint) -> Coordinates:
    if isinstance(joint, Free):
        return FreeBody(
            joint,
            quaternion="wxyz",
            position_first=True,
            linear_in_parent=True,
            angular_in_parent=False,
            order="linear-first",
        )
    if isinstance(joint, Spherical):
        return Quaternion(joint, "wxyz")
    if isinstance(joint, Helical):
        return HingeAndSlide(joint)
    return OnLine(joint) if isinstance(joint, AxisJoint) else Same(joint)


MUJOCO = Peer("mujoco", _coordinates, spatial_order="linear-first", free_pose_in_world=True)
