"""A screw: turning about an axis and sliding along it, in proportion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.model.joints.axis import AxisJoint
from kinetree.model.joints.coordinates import OnLine, everywhere
from kinetree.model.joints.joint import ANGLE, Parameter
from kinetree.ops import Array
from kinetree.spatial import Motion, Transform
from kinetree.spatial.rotation import matrix_about_axis


class HingeAndSlide(OnLine):
    """Angle and advance, [θ, pitch · θ], tied by an equality: MuJoCo has no screws."""

    joint: Helical
    sizes = (2, 2)
    redundant = True

    def positions(self, q: Array) -> Array:
        return np.concatenate([self.angle(q), self.joint.pitch * self.angle(q)], axis=-1)

    def own_positions(self, theirs: Array) -> Array:
        return theirs[..., :1]

    def T(self, q: Array) -> Array:
        return self.joint.ratio * np.array([[1.0], [self.joint.pitch]])

    def T_inverse(self, q: Array) -> Array:
        return np.array([[1.0 if self.joint.owns_coordinates else 0.0, 0.0]])


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Helical(AxisJoint):
    """S = (pitch · axis, axis); q is the angle [rad], and the body is pitch · q further along the axis [m]."""

    pitch: float
    """Advance per angle [m/rad]: that of a full turn, divided by 2π."""

    kind = "helical"
    q_labels = ANGLE
    parameters = (Parameter("pitch", "a helical joint advances by it [m/rad]", unit="m/rad"),)
    peers = everywhere(OnLine) | {"mujoco": HingeAndSlide}
    color = 4

    @classmethod
    def random_geometry(cls, rng: np.random.Generator) -> dict[str, Any]:
        return super().random_geometry(rng) | {"pitch": rng.uniform(-0.2, 0.2)}

    @property
    def turns(self) -> tuple[tuple[Array, int], ...] | None:
        return ((self.axis, self.iq),)

    def transform(self, q: Array) -> Transform:
        angle = self.position(q)
        return Transform.unchecked(matrix_about_axis(self.axis, angle).T, self.axis * (self.pitch * angle))

    def motion_subspace(self, q: Array) -> tuple[Motion, ...]:
        return (Motion(self.axis * (self.pitch * self.ratio), self.axis * self.ratio),)
