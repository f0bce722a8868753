"""Sliding along an axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kinetree.model.joints.axis import AxisJoint
from kinetree.model.joints.coordinates import OnLine, everywhere
from kinetree.model.joints.joint import LENGTH
from kinetree.ops import Array
from kinetree.spatial import Motion, Transform


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Prismatic(AxisJoint):
    """S = (axis, 0); q is the displacement [m]."""

    kind = "prismatic"
    q_labels = LENGTH
    urdf = "prismatic"
    mjcf = "slide"
    peers = everywhere(OnLine)
    color = 1

    @property
    def series(self) -> tuple[tuple[str, Array], ...]:
        return (("prismatic", self.axis),)

    def transform(self, q: Array) -> Transform:
        return Transform.unchecked(np.eye(3), self.axis * self.position(q))

    def motion_subspace(self, q: Array) -> tuple[Motion, ...]:
        return (Motion(self.axis * self.ratio, np.zeros(3)),)
