"""The equation of two joints or tendons that are held to each other: r = x - p(y), with x and y their positions or
lengths.

ṙ = ẋ - p'(y) ẏ          r̈ = ẍ - p'(y) ÿ - p''(y) ẏ²

Along the path of a tendon, ẋ = J v and ẍ = J v̇ + vᵀ D v, with D the slope of J; otherwise D = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from kinetree.algorithms.passes.forward_pass import ForwardPass
from kinetree.algorithms.passes.tendon_paths import jacobian_slope, over_joints, tendon_states
from kinetree.base.lazy import lazy
from kinetree.errors import ArgumentError
from kinetree.linalg import outer
from kinetree.model.constraints import Coupling, TendonCoupling
from kinetree.model.tendons import Tendon
from kinetree.model.tree import Model
from kinetree.ops import Array, Scalar, zeros


@dataclass(frozen=True)
class CoupledEnd:
    """The position or length x of an end, its rates J by v, (nv,), and its tendon, if that has a path."""

    x: Scalar
    J: Array
    bent: Tendon | None = None


@dataclass(frozen=True, eq=False)
class CouplingRows:
    """The equation of a coupling at one configuration."""

    model: Model
    coupling: Coupling | TendonCoupling
    q: Array

    @lazy
    def ends(self) -> tuple[CoupledEnd, CoupledEnd | None]:
        """What is held, and its leader."""
        leader = self.coupling.leader
        return self._end(self.coupling.held), None if leader is None else self._end(leader)

    def _end(self, name: str) -> CoupledEnd:
        if isinstance(self.coupling, Coupling):
            return CoupledEnd(*over_joints(self.model, ((name, 1.0),), self.q))
        tendons = tuple(tendon for tendon in self.model.tendons if tendon.name == name)
        ((tendon, length, J),) = tendon_states(self.model, tendons, self.q)
        return CoupledEnd(length, J, tendon if tendon.path else None)

    def derivative(self, order: int) -> Any:
        """p(y), p'(y), … at the leader's position."""
        _, leader = self.ends
        powers = list(np.polynomial.polynomial.polyder(self.coupling.coefficients, order))
        if leader is None:
            return powers[0]
        return reduce(lambda sum, c: sum * leader.x + c, reversed(powers[:-1]), powers[-1])

    def error(self) -> Scalar:
        """r."""
        return self.ends[0].x - self.derivative(0)

    def J(self) -> Array:
        """(nv,)."""
        held, leader = self.ends
        J = zeros(self.model.nv, self.q) + held.J
        return J if leader is None else J - leader.J * self.derivative(1)

    def bias(self, v: Array) -> Scalar:
        """r̈ at rest of v̇."""
        held, leader = self.ends
        bias = 0.0 * v[0] + self._curvature(held, v)
        if leader is None:
            return bias
        return bias - self.derivative(2) * (leader.J @ v) ** 2 - self.derivative(1) * self._curvature(leader, v)

    def _curvature(self, end: CoupledEnd, v: Array) -> Scalar:
        """ẍ at rest of v̇."""
        if end.bent is None:
            return 0.0
        moving = ForwardPass(self.model, self.q, v, np.zeros(self.model.nv))
        D, rate = jacobian_slope(moving, end.bent, self.q), moving.body.v_b
        curvature = rate @ D @ rate
        if moving.body.turns:  # axes of v that stay, while J is of those that turn
            ((_, _, J),) = tendon_states(moving.model, (end.bent,), self.q)
            curvature = curvature + J @ moving.body.a_b
        return curvature

    def derivatives(self, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """∂r̈/∂q, ∂r̈/∂v and ∂ṙ/∂q, (nv,) each; ∂ṙ/∂v is J."""
        _, leader = self.ends
        by_q, by_v, rate_by_q = (zeros(self.model.nv, self.q, v, a) for _ in range(3))
        for end in self.ends:
            if end is not None and end.bent is not None:
                raise ArgumentError(
                    f"constraints hold tendon {end.bent.name!r}, which has a path; expected tendons over joints, for "
                    "derivatives of constrained dynamics"
                )
        if leader is not None:
            rate, change = leader.J @ v, leader.J @ a
            by_q = by_q - leader.J * (self.derivative(2) * change + self.derivative(3) * rate * rate)
            by_v = by_v - leader.J * (2.0 * self.derivative(2) * rate)
            rate_by_q = rate_by_q - leader.J * (self.derivative(2) * rate)
        return by_q, by_v, rate_by_q

    def force_derivative(self, f: Scalar) -> Array | None:
        """-∂(Jᵀ f)/∂q, (nv, nv), of ends without a path; None if that is zero."""
        _, leader = self.ends
        return None if leader is None else outer(leader.J, leader.J) * (self.derivative(2) * f)
