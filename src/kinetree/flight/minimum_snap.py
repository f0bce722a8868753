"""Minimum-snap paths through waypoints: the smoothest for a multicopter, whose moments follow the snap of its path."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from kinetree import ops
from kinetree.base.arguments import as_constant, as_floats
from kinetree.errors import ArgumentError
from kinetree.flight.flatness import FlatState
from kinetree.ops import Array, is_registered
from kinetree.trajectories.trajectory import Trajectory, as_times

DEGREE = 7
SNAP, CONTINUOUS = 4, 6
"""The derivative whose square is integrated, and up to which derivatives go on across waypoints."""


@final
@dataclass(frozen=True, eq=False)
class FlatPath(Trajectory):
    """Piecewise polynomials of x, y, z and heading: `path(t)` is a `FlatState`; it rests before 0 and after its end."""

    instants: Array
    """At which pieces meet, (k,) [s], from 0 on."""
    coefficients: Array
    """Of every piece, by powers of s = (t - t_k)/(t_{k+1} - t_k), (k - 1, degree + 1, 4)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "duration", float(self.instants[-1]))

    def at(self, t: Any) -> FlatState:
        """By Horner's rule."""
        t = as_times(t)
        if is_registered(t):
            return self._traced(t)
        t = np.asarray(t)
        k = np.clip(np.searchsorted(self.instants, t, side="right") - 1, 0, len(self.coefficients) - 1)
        T = np.diff(self.instants)[k]
        s = (t - self.instants[k]) / T
        c = np.moveaxis(self.coefficients[k], -2, 0)
        return _state(c, s[..., None], T[..., None])

    def _traced(self, t: Any) -> FlatState:
        """The piece is chosen by comparisons, and evaluated once."""
        c, start, T = self.coefficients[0], self.instants[0], self.instants[1] - self.instants[0]
        for k in range(1, len(self.coefficients)):
            later = ops.less_equal(self.instants[k], t)
            c = ops.where(later, self.coefficients[k], c)
            start = ops.where(later, self.instants[k], start)
            T = ops.where(later, self.instants[k + 1] - self.instants[k], T)
        return _state(c, (t - start) / T, T)

    def __call__(self, t: Any) -> FlatState:
        """The state at one time or many [s]."""
        t = as_times(t)
        state = self.at(ops.clip(t, 0.0, self.duration))
        moving = np.asarray(ops.where(ops.less(t, 0.0), 0.0, ops.where(ops.less(self.duration, t), 0.0, 1.0)))
        velocity, acceleration, jerk, snap = (moving[..., None] * each for each in state[1:5])
        turning = moving[()] * state.yaw_rate, moving[()] * state.yaw_acceleration
        return FlatState(state.position, velocity, acceleration, jerk, snap, state.yaw, *turning)


def _state(c: Array, s: Any, T: Any) -> FlatState:
    """Derivatives 0 to 4 of Σ c_k s^k by t = s T."""
    found = []
    for d in range(SNAP + 1):
        value = 0.0 * c[0]
        for k in range(len(c) - 1, d - 1, -1):
            value = value * s + math.perm(k, d) * c[k]
        found.append(value / T**d)
    yaw = [found[d][..., 3] for d in range(3)]
    return FlatState(*(each[..., :3] for each in found), *yaw)


def minimum_snap(points: ArrayLike, instants: ArrayLike, yaw: ArrayLike | None = None) -> FlatPath:
    """The path through points (k, 3) [m] at instants (k,) [s] with the least ∫ |d⁴p/dt⁴|² dt, from rest to rest.

    Each piece is a polynomial of degree 7, and derivatives to the sixth go on across waypoints, which is what the
    minimum asks for. `yaw` has a heading for every point [rad], 0 if it is not given; it is as smooth.
    """
    p = as_floats("points", points, np.shape(points)[1:])
    if p.ndim != 2 or p.shape[1] != 3 or len(p) < 2:
        raise ArgumentError(f"points has shape {p.shape}; expected (k, 3), two or more points")
    t = as_constant("instants", instants, (len(p),))
    headings = np.zeros(len(p)) if yaw is None else as_constant("yaw", yaw, (len(p),))
    values = np.column_stack([p, headings])
    if not np.isfinite(values).all():
        raise ArgumentError("points or yaw has numbers that are not finite; expected finite ones")
    T = np.diff(t)
    if t[0] != 0.0 or not np.isfinite(t).all() or (T <= 0.0).any():
        raise ArgumentError(f"instants is {t}; expected times that grow, from 0 on")
    pieces, n = len(T), DEGREE + 1
    A, b = np.zeros((pieces * n, pieces * n)), np.zeros((pieces * n, 4))
    ends = [np.array([[math.perm(k, d) * s ** max(k - d, 0) for k in range(n)] for d in range(n)]) for s in (0.0, 1.0)]
    row = 0
    for i in range(pieces):
        here = slice(i * n, (i + 1) * n)
        for end, point in zip(ends, (values[i], values[i + 1]), strict=True):
            A[row, here], b[row] = end[0], point
            row += 1
        if i:  # derivatives go on
            before = slice((i - 1) * n, i * n)
            for d in range(1, CONTINUOUS + 1):
                A[row, before], A[row, here] = ends[1][d] * (T[i] / T[i - 1]) ** d, -ends[0][d]
                row += 1
    for d in range(1, SNAP):  # at rest at both ends
        A[row, :n], A[row + 1, -n:] = ends[0][d], ends[1][d]
        row += 2
    coefficients = np.linalg.solve(A, b).reshape(pieces, n, 4)
    return FlatPath(t, coefficients)


def instants_for(points: ArrayLike, speed: float, min_duration: float = 0.5) -> Array:
    """Times (k,) [s] at which a path may pass points (k, 3): distances at a mean speed [m/s], and at least
    `min_duration` [s] for each piece."""
    p = as_floats("points", points, (3,))
    if not speed > 0.0:
        raise ArgumentError(f"speed is {speed!r}; expected more than zero")
    lengths = np.linalg.norm(np.diff(p, axis=0), axis=1)
    return np.concatenate([[0.0], np.cumsum(np.maximum(lengths / speed, min_duration))])
