"""All rotations about one point: a ball in its socket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from kinetree.model.joints.joint import Joint
from kinetree.ops import Array, cross
from kinetree.spatial import Motion, Transform
from kinetree.spatial.exponential import exp_quaternion, log_quaternion, log_rates, log_rates_slope
from kinetree.spatial.rotation import (
    IDENTITY_XYZW,
    matrix_from_quaternion,
    normalized,
    quaternion_inverse,
    quaternion_product,
    random_quaternions,
    relative_quaternion,
)


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Spherical(Joint):
    """q = [qx qy qz qw], the unit quaternion of the body in the joint's frame; v is its angular velocity in body axes
    [rad/s], S = (0, 1), and q moves by exp(dω) from the right.
    """

    nq: ClassVar[int] = 4
    nv: ClassVar[int] = 3
    quaternion_start: ClassVar[int | None] = 0

    def transform(self, q: Array) -> Transform:
        return Transform.unchecked(matrix_from_quaternion(q[self.q_slice]).T, np.zeros(3))

    def motion_subspace(self, q: Array) -> tuple[Motion, ...]:
        return tuple(Motion(np.zeros(3), e) for e in np.eye(3))

    def neutral(self) -> Array:
        return IDENTITY_XYZW.copy()

    def random(self, rng: np.random.Generator, lower: Array, upper: Array, count: int) -> Array:
        return random_quaternions(rng, count)

    def position_rates(self, q: Array) -> Array:
        turns = (np.append(0.5 * e, 0.0) for e in np.eye(3))
        return np.array([quaternion_product(q[self.q_slice], turn) for turn in turns]).T

    def integrate(self, q: Array, dv: Array) -> Array:
        return normalized(quaternion_product(q[self.q_slice], exp_quaternion(dv[self.v_slice])))

    def difference(self, q0: Array, q1: Array) -> Array:
        return log_quaternion(relative_quaternion(q0[self.q_slice], q1[self.q_slice]))

    def displacement(self, q: Array) -> Array:
        """log(exp(rest)⁻¹ q), the rotation vector from where the spring is slack."""
        slack = exp_quaternion(np.broadcast_to(self.dynamics.rest, 3))
        return log_quaternion(quaternion_product(quaternion_inverse(slack), q[self.q_slice]))

    def displacement_rates(self, q: Array) -> Array:
        return log_rates(self.displacement(q))

    def spring_slope(self, q: Array) -> Array:
        w = self.displacement(q)
        D, K = log_rates(w), np.broadcast_to(self.dynamics.stiffness, 3)
        return D.T @ (np.diag(K) @ D) + log_rates_slope(w, K * w) @ D

    def tangent_rate(self, theta: Array, v: Array) -> Array:
        at, rate = theta[self.v_slice], v[self.v_slice]
        once = cross(at, rate)
        twice = cross(at, once)
        return rate + once * 0.5 + (twice - cross(at, cross(at, twice)) * (1.0 / 60.0)) * (1.0 / 12.0)
