"""A screw: turning about an axis and sliding along it, in proportion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from kinetree.model.joints.axis import AxisJoint
from kinetree.model.joints.vector import UNLIMITED_ANGLE
from kinetree.ops import Array
from kinetree.spatial import Motion, Transform
from kinetree.spatial.rotation import matrix_about_axis


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Helical(AxisJoint):
    """S = (pitch · axis, axis); q is the angle [rad], and the body is pitch · q further along the axis [m]."""

    pitch: float
    """Advance per angle [m/rad]: that of a full turn, divided by 2π."""

    unlimited_range: ClassVar[tuple[float, ...]] = (UNLIMITED_ANGLE,)

    def transform(self, q: Array) -> Transform:
        angle = self.position(q)
        return Transform.unchecked(matrix_about_axis(self.axis, angle).T, self.axis * (self.pitch * angle))

    def motion_subspace(self, q: Array) -> tuple[Motion, ...]:
        return (Motion(self.axis * (self.pitch * self.ratio), self.axis * self.ratio),)
