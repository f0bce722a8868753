"""Motions of a point, or of anything that numbers describe: lines, arcs, polynomials and splines through via points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_constant, as_floats, as_number, read_fields
from kinetree.errors import ArgumentError
from kinetree.ops import Array, cos, cross, is_scalar_array, sin
from kinetree.trajectories.profiles import Profile
from kinetree.trajectories.trajectory import PointState, ProfiledMotion, Sequence, Trajectory, as_duration, times

STRAIGHT = 1e-9
"""Three points whose triangle is flatter than this, relative to its sides, are on no circle."""


@final
@dataclass(frozen=True, eq=False)
class Line(ProfiledMotion):
    """A straight line from start to end, in any number of coordinates."""

    start: Any
    end: Any
    duration: float
    profile: Profile | str = "quintic"

    def __post_init__(self) -> None:
        read_fields(self, start=vector)
        object.__setattr__(self, "end", vector("end", self.end, len(self.start)))
        super().__post_init__()

    def at(self, t: Any) -> PointState:
        """start + s (end - start)."""
        s, rate, second = self.timed(t)
        way = self.end - self.start
        return PointState(self.start + times(s, way), times(rate, way), times(second, way))


@final
@dataclass(frozen=True, eq=False)
class Arc(ProfiledMotion):
    """A circular arc from start by an angle [rad], also more than a turn, about an axis through a center."""

    start: Any
    center: Any
    axis: Any
    angle: float
    duration: float
    profile: Profile | str = "quintic"

    def __post_init__(self) -> None:
        read_fields(self, start=as_point, center=as_point, axis=as_point, angle=as_number)
        length = np.linalg.norm(self.axis)
        if not length > 0.0:
            raise ArgumentError(f"axis is {self.axis}; expected a direction")
        object.__setattr__(self, "axis", self.axis / length)
        super().__post_init__()

    @staticmethod
    def through(
        start: ArrayLike, via: ArrayLike, end: ArrayLike, duration: float, profile: Profile | str = "quintic"
    ) -> Arc:
        """The arc from start to end by way of a third point."""
        a, b, c = as_point("start", start), as_point("via", via), as_point("end", end)
        u, w = b - a, c - a
        normal = np.cross(u, w)
        squared = normal @ normal
        if not squared > (STRAIGHT * max(u @ u, w @ w)) ** 2:
            raise ArgumentError("start, via and end are on a line; expected three points of a circle")
        center = a + (np.cross(normal, u) * (w @ w) + np.cross(w, normal) * (u @ u)) / (2.0 * squared)
        first, last = a - center, c - center
        angle = math.atan2(np.cross(first, last) @ normal / math.sqrt(squared), first @ last)
        return Arc(a, center, normal, angle % (2.0 * math.pi), duration, profile)

    @property
    def length(self) -> float:
        """The length of the arc [m]."""
        return float(abs(self.angle) * np.linalg.norm(np.cross(self.axis, self.start - self.center)))

    def at(self, t: Any) -> PointState:
        """The state on the circle, at the angle s · angle."""
        s, rate, second = self.timed(t)
        arm = self.start - self.center
        middle = self.center + self.axis * (self.axis @ arm)
        across, ahead = self.start - middle, cross(self.axis, arm)
        c, sn = cos(s * self.angle), sin(s * self.angle)
        w, w_rate = rate * self.angle, second * self.angle
        return PointState(
            middle + times(c, across) + times(sn, ahead),
            times(w * c, ahead) - times(w * sn, across),
            times(w_rate * c - w * w * sn, ahead) - times(w_rate * sn + w * w * c, across),
        )


@final
@dataclass(frozen=True, eq=False)
class Polynomial(Trajectory):
    """Σ c_k t^k, with coefficients (degree + 1, n)."""

    coefficients: Any
    duration: float

    def __post_init__(self) -> None:
        c = as_floats("coefficients", self.coefficients, np.shape(self.coefficients)[1:])
        if c.ndim != 2:
            raise ArgumentError(f"coefficients has shape {c.shape}; expected (degree + 1, n)")
        object.__setattr__(self, "coefficients", c)
        object.__setattr__(self, "duration", as_duration(self.duration))

    @staticmethod
    def between(start: PointState, end: PointState, duration: float) -> Polynomial:
        """The quintic from one position, velocity and acceleration to another."""
        T = as_duration(duration)
        p0 = as_floats("start.position", start[0], np.shape(start[0]))
        known = [as_constant("start", x, p0.shape) for x in start] + [as_constant("end", x, p0.shape) for x in end]
        rows = [[math.perm(k, d) * t ** max(k - d, 0) for k in range(6)] for t in (0.0, T) for d in range(3)]
        return Polynomial(np.linalg.solve(np.array(rows), np.array(known)), T)

    def at(self, t: Any) -> PointState:
        """The state by Horner's rule, each derivative from its own coefficients."""
        c: Array = self.coefficients
        states = []
        for _ in range(3):
            value = times(0.0 * t, c[0])
            for row in c[::-1]:
                value = value * np.asarray(t)[..., None] + row
            states.append(value)
            c = c[1:] * np.arange(1.0, len(c))[:, None] if len(c) > 1 else 0.0 * c
        return PointState(*states)


def spline(
    points: ArrayLike,
    instants: ArrayLike,
    start_velocity: ArrayLike | None = None,
    end_velocity: ArrayLike | None = None,
) -> Sequence:
    """A cubic spline through via points (k, n) at instants that start at 0: velocity and acceleration are continuous.
    Both ends are at rest unless a velocity is given."""
    p = as_floats("points", points, np.shape(points)[1:])
    t = as_constant("instants", instants, (len(p),))
    if p.ndim != 2 or len(p) < 2:
        raise ArgumentError(f"points has shape {p.shape}; expected (k, n), two or more points")
    h = np.diff(t)
    if t[0] != 0.0 or np.any(h <= 0.0):
        raise ArgumentError(f"instants is {t}; expected times that grow, from 0 on")
    none = np.zeros(p.shape[1])
    v = np.zeros_like(p)
    v[0] = none if start_velocity is None else as_constant("start_velocity", start_velocity, none.shape)
    v[-1] = none if end_velocity is None else as_constant("end_velocity", end_velocity, none.shape)
    if len(p) > 2:  # accelerations that meet, at every inner point
        slope = np.diff(p, axis=0) / h[:, None]
        A = np.diag(2.0 * (1.0 / h[:-1] + 1.0 / h[1:])) + np.diag(1.0 / h[1:-1], 1) + np.diag(1.0 / h[1:-1], -1)
        b = 3.0 * (slope[:-1] / h[:-1, None] + slope[1:] / h[1:, None])
        b[0] -= v[0] / h[0]
        b[-1] -= v[-1] / h[-1]
        v[1:-1] = np.linalg.solve(A, b)
    return Sequence(_cubic(p[k], v[k], p[k + 1], v[k + 1], h[k]) for k in range(len(h)))


def _cubic(p0: Array, v0: Array, p1: Array, v1: Array, T: float) -> Polynomial:
    way = (p1 - p0) / T
    return Polynomial(np.array([p0, v0, (3.0 * way - 2.0 * v0 - v1) / T, (v0 + v1 - 2.0 * way) / T**2]), float(T))


def as_point(name: str, value: Any) -> Array:
    """Three numbers."""
    return as_constant(name, value, (3,))


def vector(name: str, value: Any, size: int | None = None) -> Array:
    """One row of numbers, or of traced values."""
    if is_scalar_array(value):
        return np.asarray(value)
    shape = np.shape(value) if size is None else (size,)
    array = as_constant(name, value, shape)
    if array.ndim != 1:
        raise ArgumentError(f"{name} has shape {array.shape}; expected (n,)")
    return array
