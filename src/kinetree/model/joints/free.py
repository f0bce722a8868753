"""All six freedoms: the floating base, or a free body in the tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

import numpy as np

from kinetree.model.joints.free_coordinates import FREE_BODIES
from kinetree.model.joints.joint import QUATERNION, TURNING, Joint, Labels, drawn_between
from kinetree.model.joints.vector import UNLIMITED_LENGTH
from kinetree.ops import Array, cross, skew
from kinetree.spatial import Motion, SpatialOrder, Transform
from kinetree.spatial.exponential import (
    exp_quaternion,
    exp_translation,
    log_quaternion,
    log_rates,
    log_rates_slope,
    log_translation,
)
from kinetree.spatial.rotation import (
    IDENTITY_XYZW,
    matrix_from_quaternion,
    normalized,
    quaternion_inverse,
    quaternion_product,
    quaternion_rotate,
    random_quaternions,
    relative_quaternion,
)

BaseVelocity: TypeAlias = Literal["body", "mixed"]
BASE_VELOCITIES: tuple[BaseVelocity, ...] = ("body", "mixed")


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class Free(Joint):
    """q = [x y z | qx qy qz qw], the pose of the body in its parent [m, unit quaternion].

    ``frame="body"``: v is the body's twist in its own axes, S = 1, and q moves by exp of SE(3).
    ``frame="mixed"``: v is [ẋ, ω] in the parent's axes, S = diag(R, R) with R = ^i R_λ(i), and q moves
    by p + dx, exp(dω) R.
    """

    frame: BaseVelocity = "body"
    order: SpatialOrder = "linear-first"

    kind = "free"
    nq = 7
    nv = 6
    q_labels = (*((f".{axis}", "m") for axis in "xyz"), *QUATERNION)
    has_motor = False
    quaternion_start = 3
    urdf = "floating"
    mjcf = "free"
    peers = FREE_BODIES
    color = 2

    @property
    def v_labels(self) -> Labels:
        moving = tuple((f".v{axis}", "m/s") for axis in "xyz")
        return moving + TURNING if self.order == "linear-first" else TURNING + moving

    def _pose(self, q: Array) -> tuple[Array, Array]:
        """Position and quaternion of the body in its parent."""
        own = q[self.q_slice]
        return own[:3], own[3:]

    @property
    def linear_slice(self) -> slice:
        """Where v has its linear part."""
        first = self.iv if self.order == "linear-first" else self.iv + 3
        return slice(first, first + 3)

    @property
    def rated(self) -> tuple[tuple[int, int], ...]:
        if self.frame == "body":
            return ()
        return tuple((self.iq + k, self.linear_slice.start + k) for k in range(3))

    def transform(self, q: Array) -> Transform:
        p, xyzw = self._pose(q)
        return Transform.unchecked(matrix_from_quaternion(xyzw).T, p)

    @property
    def units(self) -> tuple[Motion, ...]:
        """The columns of S in the axes of v, the body's or its parent's, at the body's origin."""
        return tuple(Motion.from_vector(e, self.order) for e in np.eye(6))

    def motion_subspace(self, q: Array) -> tuple[Motion, ...]:
        if self.frame == "body":
            return self.units
        R = self.transform(q).R
        return tuple(unit.rotated(R) for unit in self.units)

    def motion_subspace_rate(self, q: Array, v: Array) -> tuple[Motion, ...]:
        if self.frame == "body":
            return super().motion_subspace_rate(q, v)
        omega = self.velocity(q, v).angular  # Ṙ = -[ω]× R for R = ^i R_λ(i)
        return tuple(Motion(-cross(omega, s.linear), -cross(omega, s.angular)) for s in self.motion_subspace(q))

    def neutral(self) -> Array:
        return np.concatenate([np.zeros(3), IDENTITY_XYZW])

    def random(self, rng: np.random.Generator, lower: Array, upper: Array, count: int) -> Array:
        quaternions = random_quaternions(rng, count)
        positions = drawn_between(rng, lower[:3], upper[:3], np.full(3, UNLIMITED_LENGTH), count)
        return np.concatenate([positions, quaternions], axis=1)

    def position_rates(self, q: Array) -> Array:
        _, xyzw = self._pose(q)
        columns = []
        for unit in np.eye(6):
            step = Motion.from_vector(unit, self.order)
            turn = np.concatenate([0.5 * step.angular, np.zeros(1)])
            if self.frame == "body":
                parts = quaternion_rotate(xyzw, step.linear), quaternion_product(xyzw, turn)
            else:
                parts = step.linear, quaternion_product(turn, xyzw)
            columns.append(np.concatenate(parts))
        return np.array(columns).T

    def integrate(self, q: Array, dv: Array) -> Array:
        p, xyzw = self._pose(q)
        step = Motion.from_vector(dv[self.v_slice], self.order)
        turn = exp_quaternion(step.angular)
        if self.frame == "body":
            p = p + quaternion_rotate(xyzw, exp_translation(step.linear, step.angular))
            xyzw = quaternion_product(xyzw, turn)
        else:
            p = p + step.linear
            xyzw = quaternion_product(turn, xyzw)
        return np.concatenate([p, normalized(xyzw)])

    def tangent_rate(self, theta: Array, v: Array) -> Array:
        """dexp⁻¹: v + ½ θ × v + 1/12 θ × (θ × v) - 1/720 θ × (θ × (θ × (θ × v))) for a body velocity; in the parent's
        axes, rotations have a minus at the odd ones."""
        at, rate = (Motion.from_vector(x[self.v_slice], self.order) for x in (theta, v))
        if self.frame == "body":
            once = at.cross(rate)
            twice = at.cross(once)
            more = twice + at.cross(at.cross(twice)) * (-1.0 / 60.0)
            return (rate + once * 0.5 + more * (1.0 / 12.0)).vector(self.order)
        once_turned = cross(at.angular, rate.angular)
        twice_turned = cross(at.angular, once_turned)
        more_turned = twice_turned - cross(at.angular, cross(at.angular, twice_turned)) * (1.0 / 60.0)
        angular = rate.angular - once_turned * 0.5 + more_turned * (1.0 / 12.0)
        return Motion(rate.linear, angular).vector(self.order)

    def difference(self, q0: Array, q1: Array) -> Array:
        (p0, xyzw0), (p1, xyzw1) = self._pose(q0), self._pose(q1)
        back = quaternion_inverse(xyzw0)
        if self.frame == "body":
            angular = log_quaternion(relative_quaternion(xyzw0, xyzw1))
            linear = log_translation(quaternion_rotate(back, p1 - p0), angular)
        else:
            angular = log_quaternion(relative_quaternion(quaternion_inverse(xyzw1), back))
            linear = p1 - p0
        return Motion(linear, angular).vector(self.order)

    def displacement(self, q: Array) -> Array:
        """From the pose [dx, exp(dω)] that `dynamics.rest` gives as (dx, dω), in the parent's axes whatever v is in:
        p - dx, and the rotation vector log(exp(dω)⁻¹ q)."""
        p, xyzw = self._pose(q)
        rest = Motion.from_vector(np.broadcast_to(self.dynamics.rest, 6), self.order)
        turn = quaternion_product(quaternion_inverse(exp_quaternion(rest.angular)), xyzw)
        return Motion(p - rest.linear, log_quaternion(turn)).vector(self.order)

    def displacement_rates(self, q: Array) -> Array:
        R = matrix_from_quaternion(self._pose(q)[1])
        turning = log_rates(Motion.from_vector(self.displacement(q), self.order).angular)
        columns = []
        for unit in np.eye(6):
            step = Motion.from_vector(unit, self.order)
            if self.frame == "body":
                rate = Motion(R @ step.linear, turning @ step.angular)
            else:
                rate = Motion(step.linear, turning @ (R.T @ step.angular))
            columns.append(rate.vector(self.order))
        return np.array(columns).T

    def rotor_coriolis(self, v: Array, armature: Array) -> Array | None:
        """A linear armature is a mass without weight at the origin of the body. In the axes of the body its momentum p
        = armature · v turns: it takes the force ω × p, besides ṗ, and the moment v × p."""
        if self.frame != "body":
            return None
        turned = -skew(Motion.from_vector(armature * v[self.v_slice], self.order).linear)
        zero = np.zeros((3, 3))
        return np.block([[zero, turned], [turned, zero]])  # in either order

    def spring_slope(self, q: Array) -> Array:
        """With y = K (p - dx), w the rotation vector and f = D(w)ᵀ K w: of Rᵀ y and f in the body's axes, or of y and
        R f in the parent's; turning by δ changes Rᵀ y by [Rᵀ y]× δ, and R f by -[R f]× δ besides what f changes by."""
        R = matrix_from_quaternion(self._pose(q)[1])
        x = Motion.from_vector(self.displacement(q), self.order)
        K = Motion.from_vector(np.broadcast_to(self.dynamics.stiffness, 6), self.order)
        D = log_rates(x.angular)
        turning = D.T @ (np.diag(K.angular) @ D) + log_rates_slope(x.angular, K.angular * x.angular) @ D
        zero = np.zeros((3, 3))
        if self.frame == "body":
            blocks = R.T @ np.diag(K.linear) @ R, skew(R.T @ (K.linear * x.linear)), turning
        else:
            moment = R @ (D.T @ (K.angular * x.angular))
            blocks = np.diag(K.linear), zero, R @ turning @ R.T - skew(moment)
        ll, la, aa = blocks
        return np.block([[ll, la], [zero, aa]] if self.order == "linear-first" else [[aa, zero], [la, ll]])
