"""All rotations about one point: a ball in its socket."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np

from kinetree.model.joints.coordinates import Coordinates, Quaternion, everywhere, matrices
from kinetree.model.joints.joint import QUATERNION, TURNING, Joint, Labels
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

UPRIGHT = 1e-9
"""Below this cosine of the pitch, roll and yaw cannot be told apart."""


class RollPitchYaw(Coordinates):
    """Drake's BallRpyJoint: R = Rz(yaw) Ry(pitch) Rx(roll), q = [roll, pitch, yaw] [rad], and v the angular velocity in
    the axes of the parent."""

    sizes = (3, 3)
    turns = True

    def positions(self, q: Array) -> Array:
        R = matrices(q)
        level = np.hypot(R[..., 2, 1], R[..., 2, 2])  # cos pitch
        upright = level < UPRIGHT  # roll and yaw turn about the same axis: give all of it to roll
        roll = np.where(upright, np.arctan2(-R[..., 1, 2], R[..., 1, 1]), np.arctan2(R[..., 2, 1], R[..., 2, 2]))
        yaw = np.where(upright, 0.0, np.arctan2(R[..., 1, 0], R[..., 0, 0]))
        return np.stack([roll, np.arctan2(-R[..., 2, 0], level), yaw], axis=-1)

    def own_positions(self, theirs: Array) -> Array:
        (cr, cp, cy), (sr, sp, sy) = (np.moveaxis(f(theirs / 2), -1, 0) for f in (np.cos, np.sin))
        x, y = sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy
        z, w = cr * cp * sy - sr * sp * cy, cr * cp * cy + sr * sp * sy
        q = np.stack([x, y, z, w], axis=-1)
        return np.where(q[..., 3:] < 0.0, -q, q)

    def T(self, q: Array) -> Array:
        return matrices(q)


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Spherical(Joint):
    """q = [qx qy qz qw], the unit quaternion of the body in the joint's frame; v is its angular velocity in body axes
    [rad/s], S = (0, 1), and q moves by exp(dω) from the right.
    """

    kind = "spherical"
    nq = 4
    nv = 3
    q_labels = QUATERNION
    quaternion_start = 0
    mjcf = "ball"
    peers = everywhere(Quaternion) | {"mujoco": partial(Quaternion, order="wxyz"), "drake": RollPitchYaw}
    color = 3

    @property
    def v_labels(self) -> Labels:
        return TURNING

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
