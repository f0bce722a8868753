"""Sliding in a plane and turning about its normal: a plate on a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.model.joints.vector import UNLIMITED_ANGLE, UNLIMITED_LENGTH, VectorJoint
from kinetree.ops import Array, cross
from kinetree.spatial import Motion, Transform
from kinetree.spatial.rotation import matrix_about_axis, normalized

OPPOSITE = 1e-12
"""A unit normal with 1 + n_z below this points along -z."""


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Planar(VectorJoint):
    """q = [x, y, θ] [m, m, rad]: the body's origin at x and y along two directions of the plane, which stay with the
    parent, and the body turned by θ about the normal, `axis`.

    v = q̇. With u_x and u_y the two directions and R the turn by θ, S = ((Rᵀ u_x, 0), (Rᵀ u_y, 0), (0, axis)).
    """

    axis: Array

    nq: ClassVar[int] = 3
    nv: ClassVar[int] = 3
    is_series: ClassVar[bool] = True
    unlimited_range: ClassVar[tuple[float, ...]] = (UNLIMITED_LENGTH, UNLIMITED_LENGTH, UNLIMITED_ANGLE)

    @lazy
    def directions(self) -> tuple[Array, Array]:
        """u_x and u_y in the joint's frame."""
        return plane_directions(self.axis)

    def transform(self, q: Array) -> Transform:
        x, y, theta = q[self.q_slice]
        along_x, along_y = self.directions
        return Transform.unchecked(matrix_about_axis(self.axis, theta).T, along_x * x + along_y * y)

    def motion_subspace(self, q: Array) -> tuple[Motion, ...]:
        R = matrix_about_axis(self.axis, q[self.iq + 2])
        along_x, along_y = (Motion(R.T @ direction, np.zeros(3)) for direction in self.directions)
        return along_x, along_y, Motion(np.zeros(3), self.axis)

    def motion_subspace_rate(self, q: Array, v: Array) -> tuple[Motion, ...]:
        along_x, along_y, _ = self.motion_subspace(q)  # the body turns under them
        omega = self.axis * v[self.iv + 2]
        rates = (Motion(-cross(omega, s.linear), np.zeros(3)) for s in (along_x, along_y))
        return *rates, Motion.zero()


def plane_directions(normal: Array) -> tuple[Array, Array]:
    """The two directions u_x, u_y with u_x × u_y = normal in which a plane is measured: x and y after the shortest
    rotation that takes z to the normal, which for -z is half a turn about x (as in Drake's reading of URDF).

    normal z gives (x, y), -z gives (x, -y), x gives (-z, y), y gives (x, -z).
    """
    x, z = np.eye(3)[0], np.eye(3)[2]
    along_x = x
    if 1.0 + normal[2] >= OPPOSITE:
        level = normal[0] * normal[0] + normal[1] * normal[1]
        height = 1.0 + normal[2] if normal[2] > 0 else level / (1.0 - normal[2])  # 1 + n_z, without cancellation
        along_x = x - (normal + z) * (normal[0] / height)
    along_x = normalized(along_x - normal * (normal @ along_x))
    return along_x, cross(normal, along_x)
