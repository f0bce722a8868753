"""Rotation about an axis: revolute, and continuous when it has no limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kinetree.model.joints.axis import AxisJoint
from kinetree.model.joints.coordinates import OnCircle, OnLine, everywhere
from kinetree.model.joints.joint import ANGLE
from kinetree.ops import Array
from kinetree.spatial import Motion, Transform
from kinetree.spatial.rotation import matrix_about_axis


@dataclass(frozen=True, eq=False, kw_only=True)
class Revolute(AxisJoint):
    """S = (0, axis); q is the angle [rad]."""

    kind = "revolute"
    q_labels = ANGLE
    urdf = "revolute"
    mjcf = "hinge"
    peers = everywhere(OnLine)
    color = 0

    @property
    def series(self) -> tuple[tuple[str, Array], ...]:
        return (("revolute", self.axis),)

    def transform(self, q: Array) -> Transform:
        return Transform.unchecked(matrix_about_axis(self.axis, self.position(q)).T, np.zeros(3))

    def motion_subspace(self, q: Array) -> tuple[Motion, ...]:
        return (Motion(np.zeros(3), self.axis * self.ratio),)


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Continuous(Revolute):
    """A revolute joint that turns without end; its coordinate is still one angle [rad]."""

    kind = "continuous"
    has_limits = False
    urdf = "continuous"
    peers = everywhere(OnLine) | {"pinocchio": OnCircle}
    color = 5
