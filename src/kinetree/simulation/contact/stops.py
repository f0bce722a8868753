"""Limits of joints and of tendons as rigid stops: the nearer limit is one row, which pushes one way.

For a position or length x between lower and upper, gap = min(x - lower, upper - x) and u = ±ẋ, with the sign of the
nearer one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kinetree import ops
from kinetree.algorithms.passes.tendon_paths import tendon_states
from kinetree.model.joints import Joint
from kinetree.model.tendons import Tendon
from kinetree.model.tree import Model
from kinetree.ops import Array, Scalar, zeros


@dataclass(frozen=True)
class Stop:
    """A joint with one coordinate, or a tendon, that has at least one limit."""

    of: Joint | Tendon
    lower: float
    upper: float

    def nearer(self, x: Scalar) -> tuple[Scalar, Scalar]:
        """The gap to the nearer limit [rad or m], and the sign of ẋ that opens it."""
        if math.isinf(self.upper):
            return x - self.lower, 1.0
        if math.isinf(self.lower):
            return self.upper - x, -1.0
        is_upper = ops.less(self.upper - x, x - self.lower)
        return ops.minimum(self.upper - x, x - self.lower), ops.where(is_upper, -1.0, 1.0)


def stops_of(model: Model) -> tuple[Stop, ...]:
    """The stops of all joints that have one coordinate of their own, and of all tendons, where these have a limit."""
    limits = model.limits
    limited: list[tuple[Joint | Tendon, float, float]] = [
        (joint, float(limits.lower[joint.iq]), float(limits.upper[joint.iq]))
        for joint in model.owners
        if joint.nq == joint.nv == 1
    ]
    limited += [(tendon, *tendon.length_range) for tendon in model.tendons]
    return tuple(Stop(of, lower, upper) for of, lower, upper in limited if math.isfinite(lower) or math.isfinite(upper))


def stop_rows(model: Model, stops: tuple[Stop, ...], q: Array) -> tuple[Array, Array]:
    """Gaps, (m,), and rows of J, (m, nv)."""
    gaps, J = zeros(len(stops), q), zeros((len(stops), model.nv), q)
    tendons = tuple(stop.of for stop in stops if isinstance(stop.of, Tendon))
    states = {tendon.name: (length, row) for tendon, length, row in tendon_states(model, tendons, q)}
    for k, stop in enumerate(stops):
        if isinstance(stop.of, Tendon):
            length, row = states[stop.of.name]
            gaps[k], sign = stop.nearer(length)
            J[k] = sign * row
        else:
            gaps[k], J[k, stop.of.iv] = stop.nearer(q[stop.of.iq])
    return gaps, J


def columns_of(model: Model, stop: Stop) -> Array:
    """The entries of v on the way from the root to what is stopped, its own included, those it is coupled to by
    M = Lᵀ D L."""
    entries = set()
    for i in _bodies(model, stop.of):
        for k in model.support(i):
            entries |= set(range(model.joints[k].iv, model.joints[k].iv + model.joints[k].nv))
    return np.array(sorted(entries))


def _bodies(model: Model, of: Joint | Tendon) -> list[int]:
    """Those that a joint moves, or that the joints and the path of a tendon belong to."""
    if isinstance(of, Tendon):
        names = [name for name, _ in of.joints]
        moved = [i for i, _ in model.root_to_tips() if model.joints[i].name in names]
        return moved + [body for name in of.frames if (body := model.frame(name).body)]
    return [i for i, _ in model.root_to_tips() if model.joints[i].nv and model.joints[i].iv == of.iv]
