"""The equation of two joints that are held to each other: r = x - p(y), with x and y their positions.

ṙ = ẋ - p'(y) ẏ          r̈ = ẍ - p'(y) ÿ - p''(y) ẏ²
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.model.constraints import Coupling
from kinetree.model.joints import AxisJoint
from kinetree.model.tree import Model
from kinetree.ops import Array, Scalar, zeros


@dataclass(frozen=True, eq=False)
class CouplingRows:
    """The equation of a coupling at one configuration."""

    model: Model
    coupling: Coupling
    q: Array

    @lazy
    def ends(self) -> tuple[AxisJoint, AxisJoint | None]:
        """The joint and its leader."""
        joints = {joint.name: joint for joint in self.model.joints if isinstance(joint, AxisJoint)}
        return joints[self.coupling.joint], joints.get(str(self.coupling.leader))

    def derivative(self, order: int) -> Any:
        """p(y), p'(y), … at the leader's position."""
        _, leader = self.ends
        powers = list(np.polynomial.polynomial.polyder(self.coupling.coefficients, order))
        if leader is None:
            return powers[0]
        y = leader.given_position(self.q)
        return reduce(lambda sum, c: sum * y + c, reversed(powers[:-1]), powers[-1])

    def error(self) -> Scalar:
        """r."""
        return self.ends[0].given_position(self.q) - self.derivative(0)

    def J(self) -> Array:
        """(nv,)."""
        joint, leader = self.ends
        J = zeros(self.model.nv, self.q)
        J[joint.iv] += joint.lever
        if leader is not None:
            J[leader.iv] -= leader.lever * self.derivative(1)
        return J

    def bias(self, v: Array) -> Scalar:
        """r̈ at rest of v̇."""
        _, leader = self.ends
        return 0.0 * v[0] if leader is None else -self.derivative(2) * (leader.lever * v[leader.iv]) ** 2

    def derivatives(self, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """∂r̈/∂q, ∂r̈/∂v and ∂ṙ/∂q, (nv,) each; ∂ṙ/∂v is J."""
        _, leader = self.ends
        by_q, by_v, rate_by_q = (zeros(self.model.nv, self.q, v, a) for _ in range(3))
        if leader is not None:
            rate, change = leader.lever * v[leader.iv], leader.lever * a[leader.iv]
            by_q[leader.iv] = -leader.lever * (self.derivative(2) * change + self.derivative(3) * rate * rate)
            by_v[leader.iv] = -2.0 * leader.lever * self.derivative(2) * rate
            rate_by_q[leader.iv] = -leader.lever * self.derivative(2) * rate
        return by_q, by_v, rate_by_q

    def force_derivative(self, f: Scalar) -> tuple[int, Scalar] | None:
        """The entry of v in which Jᵀ f changes with its own position, and -∂(Jᵀ f)/∂q there."""
        _, leader = self.ends
        return None if leader is None else (leader.iv, leader.lever**2 * self.derivative(2) * f)
