"""All six freedoms: the floating base, or a free body in the tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, final

import numpy as np

from kinetree.model.joints.joint import Joint
from kinetree.ops import Array, array, cross
from kinetree.spatial import Motion, SpatialOrder, Transform
from kinetree.spatial.exponential import exp_quaternion, exp_translation, log_quaternion, log_translation
from kinetree.spatial.rotation import (
    IDENTITY_XYZW,
    matrix_from_quaternion,
    normalized,
    quaternion_inverse,
    quaternion_product,
    quaternion_rotate,
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

    nq: ClassVar[int] = 7
    nv: ClassVar[int] = 6

    def _pose(self, q: Array) -> tuple[Array, Array]:
        """Position and quaternion of the body in its parent."""
        own = q[self.q_slice]
        return own[:3], own[3:]

    def transform(self, q: Array) -> Transform:
        p, xyzw = self._pose(q)
        return Transform(matrix_from_quaternion(xyzw).T, p)

    def motion_subspace(self, q: Array) -> tuple[Motion, ...]:
        units = tuple(Motion.from_vector(e, self.order) for e in np.eye(6))
        if self.frame == "body":
            return units
        R = self.transform(q).R
        return tuple(unit.rotated(R) for unit in units)

    def motion_subspace_rate(self, q: Array, v: Array) -> tuple[Motion, ...]:
        if self.frame == "body":
            return super().motion_subspace_rate(q, v)
        omega = self.velocity(q, v).angular  # Ṙ = -[ω]× R for R = ^i R_λ(i)
        return tuple(Motion(-cross(omega, s.linear), -cross(omega, s.angular)) for s in self.motion_subspace(q))

    def neutral(self) -> Array:
        return np.concatenate([np.zeros(3), IDENTITY_XYZW])

    def random(self, rng: np.random.Generator, lower: Array, upper: Array, count: int) -> Array:
        quaternions = rng.normal(size=(count, 4))  # in any direction alike
        quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
        return np.concatenate([rng.uniform(-1.0, 1.0, size=(count, 3)), quaternions], axis=1)

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
        """dexp⁻¹: v + ½ θ × v + 1/12 θ × (θ × v) for a body velocity; in the parent's axes, rotations have a minus."""
        at, rate = (Motion.from_vector(x[self.v_slice], self.order) for x in (theta, v))
        if self.frame == "body":
            once = at.cross(rate)
            return (rate + once * 0.5 + at.cross(once) * (1.0 / 12.0)).vector(self.order)
        once_turned = cross(at.angular, rate.angular)
        angular = rate.angular - once_turned * 0.5 + cross(at.angular, once_turned) * (1.0 / 12.0)
        return Motion(rate.linear, angular).vector(self.order)

    def difference(self, q0: Array, q1: Array) -> Array:
        (p0, xyzw0), (p1, xyzw1) = self._pose(q0), self._pose(q1)
        back, step = quaternion_inverse(xyzw0), xyzw1 - xyzw0
        # q0⁻¹ ⊗ q1 = ‖q0‖² + q0⁻¹ ⊗ (q1 - q0): so its vector part is exactly zero where they are equal
        turn = quaternion_product(back, step) if self.frame == "body" else quaternion_product(step, back)
        angular = log_quaternion(array([*turn[:3], xyzw0 @ xyzw1]))
        linear = p1 - p0
        if self.frame == "body":
            linear = log_translation(quaternion_rotate(back, linear), angular)
        return Motion(linear, angular).vector(self.order)
