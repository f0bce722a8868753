"""Two rotations, one after the other, about axes that cross: a Cardan joint without its cross."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.model.joints.coordinates import Coordinates, everywhere
from kinetree.model.joints.joint import Parameter
from kinetree.model.joints.vector import VectorJoint
from kinetree.ops import Array, cross
from kinetree.spatial import Motion, Transform
from kinetree.spatial.rotation import matrix_about_axis, normalized


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Universal(VectorJoint):
    """q = [α, β] [rad]: turned by α about `axis`, which stays with the parent, then by β about `axis2`, which the first
    turn carries along and which stays with the body.

    The body stands at R_α R_β in the joint's frame, so that S = ((0, R_βᵀ axis), (0, axis2)).
    """

    axis: Array
    axis2: Array

    kind = "universal"
    nq = nv = 2
    q_labels = ((".1", "rad"), (".2", "rad"))
    parameters = (Parameter("axis2", "a universal joint turns about two axes", is_direction=True),)
    is_series = True
    peers = everywhere(Coordinates)
    color = 3

    @classmethod
    def random_geometry(cls, rng: np.random.Generator) -> dict[str, Any]:
        drawn = super().random_geometry(rng)
        across = np.cross(drawn["axis"], rng.normal(size=3))
        return drawn | {"axis2": normalized(across + rng.uniform(-0.5, 0.5, size=3))}

    @property
    def series(self) -> tuple[tuple[str, Array], ...]:
        return ("revolute", self.axis), ("revolute", self.axis2)

    def transform(self, q: Array) -> Transform:
        alpha, beta = q[self.q_slice]
        R_alpha, R_beta = matrix_about_axis(self.axis, alpha), matrix_about_axis(self.axis2, beta)
        return Transform.unchecked(R_beta.T @ R_alpha.T, np.zeros(3))

    def motion_subspace(self, q: Array) -> tuple[Motion, ...]:
        R_beta = matrix_about_axis(self.axis2, q[self.iq + 1])
        return Motion(np.zeros(3), R_beta.T @ self.axis), Motion(np.zeros(3), self.axis2)

    def motion_subspace_rate(self, q: Array, v: Array) -> tuple[Motion, ...]:
        first, _ = self.motion_subspace(q)  # the body turns under it by β̇ about axis2
        return Motion(np.zeros(3), -cross(self.axis2 * v[self.iv + 1], first.angular)), Motion.zero()
