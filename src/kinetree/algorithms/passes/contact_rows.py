"""The equations of contacts that hold less than a point, or along with it a direction: lines, planes, balls and wheels.

All is in one system of axes that stays, the caller's. Of a frame whose origin moves with (v, ω), a contact's equations
are B (v, ω) = 0, and their rate is B (a, α) + Ḃ (v, ω); forces f on the robot are the wrench Bᵀ f at its origin.

    sliding    nᵀ v                     with the normal n of a plane
    line       v,  yᵀ ω and zᵀ ω        with y and z, fixed in the frame, across the edge; Ḃ (v, ω) = (ω × y)ᵀ ω = 0
    rolling    v + ρ u × ω              the velocity of what touches, at -ρ u from the centre, where u = n for a ball

Of a wheel with axle s, the lowest point of the rim is where u = w / |w| with w = n - (nᵀ s) s: it stays below while the
wheel turns, so u̇ is not ω × u. Normal to the plane the equation is the rate of nᵀ p - ρ nᵀ u. A wheel that lies flat,
its axle along n, has no lowest point, and such states are refused.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.model.constraints import Contact
from kinetree.ops import (
    Array,
    array,
    atan2,
    cross,
    divide,
    less,
    less_equal,
    logical_and,
    maximum,
    skew,
    sqrt,
    where,
    zeros,
)

FLAT = 1e-9
"""Sine of the angle between the axle of a wheel and the normal of its plane below which it lies flat."""

SERIES_BELOW = 1e-3
"""1 - cos θ below which θ/sin θ is its power series, exact to round-off with six terms."""
REVERSED = 1e-12
"""sin θ below which an edge with cos θ < 0 is exactly reversed: any axis across it may turn it back."""
BY_VERSINE = (1.0, 1 / 3, 2 / 15, 2 / 35, 8 / 315, 8 / 693)
"""θ/sin θ as a power series in 1 - cos θ: n!/(2n + 1)!!."""


class ContactRows(ABC):
    """The equations of one contact while its frame is in one place."""

    @abstractmethod
    def of(self, linear: Array, angular: Array) -> Array:
        """B (v, ω), (k,), or of the columns of matrices, (k, m)."""

    def drift(self, omega: Array) -> Array | float:
        """Ḃ (v, ω), (k,)."""
        return 0.0

    @abstractmethod
    def forces(self, f: Array) -> tuple[Array, Array, Array]:
        """Force, moment in axes that stay, and moment that turns with the frame, in the caller's axes, (3,) each."""

    @abstractmethod
    def error(self, p: Array, target: Array, R: Array) -> Array:
        """r, (k,), of the frame's origin p from that of the place where it is held, with axes R, (3, 3)."""

    @abstractmethod
    def error_derivatives(self, J: Array, turns: Array, R: Array) -> Array:
        """∂r/∂q, (k, nv), from J, (k, nv), and ω of unit velocities, (3, nv)."""

    def turned(self, turns: Array, omega: Array) -> Array | float:
        """∂B (0, ω) when the frame turns by each column, (k, nv)."""
        return 0.0

    def drift_derivatives(self, turns: Array, omega: Array, by_q: Array, by_v: Array) -> tuple[Any, Any]:
        """∂/∂q and ∂/∂v of the drift, (k, nv), from those of ω."""
        return 0.0, 0.0

    def moment_derivatives(self, turns: Array, f: Array) -> Array | None:
        """The change of the moment that stays when the frame turns, (3, nv); None if it does not change."""
        return None


@final
@dataclass(frozen=True)
class SlidingRows(ContactRows):
    """The equation of a point in a plane."""

    n: Array

    def of(self, linear: Array, angular: Array) -> Array:
        return (self.n @ linear)[None] if linear.ndim == 2 else array([self.n @ linear])

    def forces(self, f: Array) -> tuple[Array, Array, Array]:
        return self.n * f[0], np.zeros(3), np.zeros(3)

    def error(self, p: Array, target: Array, R: Array) -> Array:
        return array([self.n @ (p - target)])

    def error_derivatives(self, J: Array, turns: Array, R: Array) -> Array:
        return J


@final
@dataclass(frozen=True)
class LineRows(ContactRows):
    """The equations of an edge: the columns of `axes` are the edge x and the axes y and z across it."""

    axes: Array
    own: Array
    """The axes in those of the frame."""

    def of(self, linear: Array, angular: Array) -> Array:
        return np.concatenate([linear, self.axes[:, 1:].T @ angular])

    def forces(self, f: Array) -> tuple[Array, Array, Array]:
        return f[:3] * 1.0, np.zeros(3), self.axes[:, 1:] @ f[3:]

    def error(self, p: Array, target: Array, R: Array) -> Array:
        """r of the edge x from x*, where it is held: the rotation vector θ a that turns x* to x, a ⊥ x, as
        θ/sin θ (x* · z, -x* · y)."""
        across, c = self._across(R)
        ratio, _ = _angle_by_sine(across, c)
        reversed_ = logical_and(less(c, 0.0), less(across @ across, REVERSED**2))
        return np.concatenate([p - target, array([where(reversed_, np.pi, ratio * across[0]), ratio * across[1]])])

    def error_derivatives(self, J: Array, turns: Array, R: Array) -> Array:
        """With cos θ = c, ∂(θ/sin θ) = ∂(θ/sin θ)/∂c ∂c."""
        held = R @ self.own[:, 0]
        x, y, z = self.axes.T
        across, c = self._across(R)
        ratio, derivative = _angle_by_sine(across, c)
        of_across = np.stack([cross(z, held) @ turns, -(cross(y, held) @ turns)])
        return np.concatenate([J[:3], ratio * of_across + derivative * np.outer(across, cross(x, held) @ turns)])

    def _across(self, R: Array) -> tuple[Array, Any]:
        """sin θ a as (x* · z, -x* · y), and cos θ = x* · x."""
        held = R @ self.own[:, 0]
        x, y, z = self.axes.T
        return array([held @ z, -(held @ y)]), held @ x

    def turned(self, turns: Array, omega: Array) -> Array:
        """(δ × y)ᵀ ω = (y × ω)ᵀ δ."""
        _, y, z = self.axes.T
        about = np.stack([cross(y, omega) @ turns, cross(z, omega) @ turns])
        return np.concatenate([zeros((3, turns.shape[1]), turns), about])


@final
@dataclass(frozen=True)
class RollingRows(ContactRows):
    """The equations of a ball, or of a wheel with axle s."""

    n: Array
    radius: float
    s: Array | None

    @lazy
    def w(self) -> Array:
        """The normal, less its part along the axle."""
        return self.n * 1.0 if self.s is None else self.n - self.s * (self.n @ self.s)

    @lazy
    def height(self) -> Any:
        """nᵀ u = |w|."""
        return 1.0 if self.s is None else sqrt(self.w @ self.w)

    @property
    def is_flat(self) -> Any:
        """Whether no point of the rim is lowest."""
        return False if self.s is None else less_equal(self.w @ self.w, FLAT**2)

    @lazy
    def u(self) -> Array:
        """The direction from the point of contact to the centre."""
        return self.w * divide(1.0, self.height)

    def of(self, linear: Array, angular: Array) -> Array:
        return linear + (self.radius * skew(self.u)) @ angular

    def drift(self, omega: Array) -> Array | float:
        return 0.0 if self.s is None else self.radius * cross(self._derivative(cross(omega, self.s)), omega)

    def forces(self, f: Array) -> tuple[Array, Array, Array]:
        return f * 1.0, -self.radius * cross(self.u, f), np.zeros(3)

    def error(self, p: Array, target: Array, R: Array) -> Array:
        return self.n * (self.n @ (p - target) - self.radius * self.height)

    def error_derivatives(self, J: Array, turns: Array, R: Array) -> Array:
        return np.outer(self.n, self.n) @ J

    def turned(self, turns: Array, omega: Array) -> Array | float:
        if self.s is None:
            return 0.0
        return self._each(lambda turn: cross(self._derivative(cross(turn, self.s)), omega), turns) * self.radius

    def drift_derivatives(self, turns: Array, omega: Array, by_q: Array, by_v: Array) -> tuple[Any, Any]:
        """∂/∂q and ∂/∂v of ρ u̇ × ω."""
        if self.s is None:
            return 0.0, 0.0
        s, rate = self.s, cross(omega, self.s)
        u_rate = self._derivative(rate)

        def moved(turn: Array, change: Array) -> Array:
            turned = cross(turn, s)
            u_change = self._derivative(cross(change, s) + cross(omega, turned)) + self._second_derivative(rate, turned)
            return cross(u_change, omega) + cross(u_rate, change)

        def faster(change: Array) -> Array:
            return cross(self._derivative(cross(change, s)), omega) + cross(u_rate, change)

        return self._each(moved, turns, by_q) * self.radius, self._each(faster, by_v) * self.radius

    def moment_derivatives(self, turns: Array, f: Array) -> Array | None:
        if self.s is None:
            return None
        return self._each(lambda turn: cross(self._derivative(cross(turn, self.s)), f), turns) * -self.radius

    def _derivative(self, a: Array) -> Array:
        """∂u along a change a of s: (w_a - u (uᵀ w_a)) / |w|."""
        w_a = self._w_derivative(a)
        return (w_a - self.u * (self.u @ w_a)) * divide(1.0, self.height)

    def _second_derivative(self, a: Array, b: Array) -> Array:
        """∂²u along a and b."""
        n, u, per_height = self.n, self.u, divide(1.0, self.height)
        w_a, u_a, u_b = self._w_derivative(a), self._derivative(a), self._derivative(b)
        w_ab = -(b * (n @ a)) - a * (n @ b)
        return (w_ab - u_b * (u @ w_a) - u * (u_b @ w_a + u @ w_ab) - u_a * (u @ self._w_derivative(b))) * per_height

    def _w_derivative(self, a: Array) -> Array:
        assert self.s is not None, "a ball has no axle"
        return -(self.s * (self.n @ a)) - a * (self.n @ self.s)

    @staticmethod
    def _each(of: Any, *columns: Array) -> Array:
        return np.stack([of(*each) for each in zip(*(matrix.T for matrix in columns), strict=True)], axis=1)


def _angle_by_sine(across: Array, c: Any) -> tuple[Any, Any]:
    """θ/sin θ and its derivative by c = cos θ, where |across| = sin θ: (θ cos θ - sin θ)/sin³ θ."""
    t = 1.0 - c
    ratio, derivative = zip(
        *((a * t**n, -n * a * t ** (n - 1) if n else 0.0) for n, a in enumerate(BY_VERSINE)), strict=True
    )
    small = less(t, SERIES_BELOW)
    s = maximum(sqrt(where(small, 1.0, across @ across)), REVERSED)
    theta = atan2(s, c)
    return where(small, sum(ratio), theta / s), where(small, sum(derivative), (theta * c - s) / (s * s * s))


def contact_rows(contact: Contact, R: Array, axes: Array | None = None) -> ContactRows | None:
    """The equations of a contact whose frame has the axes R, (3, 3); `axes` leads from the world's to the caller's.

    None for a point or a surface, whose equations are the velocities themselves.
    """
    to_axes = np.eye(3) if axes is None else axes
    if contact.kind == "line":
        own = _basis(np.array(contact.axis))
        return LineRows(R @ own, own)
    if contact.kind == "sliding":
        return SlidingRows(to_axes @ np.array(contact.normal))
    if contact.kind == "rolling":
        axle = None if contact.axis is None else R @ np.array(contact.axis)
        return RollingRows(to_axes @ np.array(contact.normal), float(contact.radius or 0.0), axle)
    return None


def place(contact: Contact, pose: Array) -> Array:
    """The place, as `at` gives it, of a contact whose frame is at a pose in the world."""
    if contact.has_pose:
        return pose
    rows = contact_rows(contact, pose[:3, :3])
    return pose[:3, 3] - rows.radius * rows.u if isinstance(rows, RollingRows) else pose[:3, 3]


def _basis(x: Array) -> Array:
    """Right-handed axes, the first of which is given, as columns."""
    y = np.cross([0.0, 0.0, 1.0] if abs(x[2]) < 0.9 else [1.0, 0.0, 0.0], x)
    y = y / np.linalg.norm(y)
    return np.stack([x, y, np.cross(x, y)], axis=1)
