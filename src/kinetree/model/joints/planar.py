"""Sliding in a plane and turning about its normal: a plate on a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kinetree.base.arguments import check_circles
from kinetree.base.lazy import lazy
from kinetree.model.joints.coordinates import Coordinates, everywhere
from kinetree.model.joints.vector import VectorJoint
from kinetree.ops import Array, cross
from kinetree.spatial import Motion, Transform
from kinetree.spatial.last_axes import times
from kinetree.spatial.rotation import matrix_about_axis, normalized

OPPOSITE = 1e-12
"""A unit normal with 1 + n_z below this points along -z."""


class BodyPlanar(Coordinates):
    """Pinocchio's JointModelPlanar: q = [x, y, cos θ, sin θ], and v = [v_x, v_y, θ̇] with the velocity in the body's
    axes."""

    sizes = (4, 3)
    turns = drifts = True

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


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Planar(VectorJoint):
    """q = [x, y, θ] [m, m, rad]: the body's origin at x and y along two directions of the plane, which stay with the
    parent, and the body turned by θ about the normal, `axis`.

    v = q̇. With u_x and u_y the two directions and R the turn by θ, S = ((Rᵀ u_x, 0), (Rᵀ u_y, 0), (0, axis)).
    """

    axis: Array

    kind = "planar"
    nq = nv = 3
    q_labels = ((".x", "m"), (".y", "m"), (".angle", "rad"))
    is_series = True
    urdf = "planar"
    peers = everywhere(Coordinates) | {"pinocchio": BodyPlanar}
    color = 2

    @property
    def series(self) -> tuple[tuple[str, Array], ...]:
        along_x, along_y = self.directions
        return ("prismatic", along_x), ("prismatic", along_y), ("revolute", self.axis)

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
