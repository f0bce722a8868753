"""Joint limits as rigid stops: the nearer limit of a joint is one row, which pushes one way.

For a joint at x between lower and upper, gap = min(x - lower, upper - x) and u = ±ẋ, with the sign of the nearer one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kinetree import ops
from kinetree.model.tree import Model
from kinetree.ops import Array, Scalar, zeros


@dataclass(frozen=True)
class Stop:
    """A joint with one coordinate and at least one limit: where it is in q and v, and its limits."""

    iq: int
    iv: int
    lower: float
    upper: float

    def nearer(self, q: Array) -> tuple[Scalar, Scalar]:
        """The gap to the nearer limit [rad or m], and the sign of v that opens it."""
        x = q[self.iq]
        if math.isinf(self.upper):
            return x - self.lower, 1.0
        if math.isinf(self.lower):
            return self.upper - x, -1.0
        is_upper = ops.less(self.upper - x, x - self.lower)
        return ops.minimum(self.upper - x, x - self.lower), ops.where(is_upper, -1.0, 1.0)


def stops_of(model: Model) -> tuple[Stop, ...]:
    """The stops of all joints that have one coordinate of their own and a limit."""
    found = []
    for joint in model.owners:
        if joint.nq == joint.nv == 1:
            lower, upper = float(model.limits.lower[joint.iq]), float(model.limits.upper[joint.iq])
            if not (math.isinf(lower) and math.isinf(upper)):
                found.append(Stop(joint.iq, joint.iv, lower, upper))
    return tuple(found)


def stop_rows(model: Model, stops: tuple[Stop, ...], q: Array) -> tuple[Array, Array]:
    """Gaps, (m,), and rows of J, (m, nv)."""
    gaps, J = zeros(len(stops), q), zeros((len(stops), model.nv), q)
    for k, stop in enumerate(stops):
        gaps[k], J[k, stop.iv] = stop.nearer(q)
    return gaps, J


def columns_of(model: Model, stop: Stop) -> Array:
    """The entries of v on the way from the root to a joint, its own included, those it is coupled to by M = Lᵀ D L."""
    entries = set()
    for i, _ in model.root_to_tips():
        if model.joints[i].iv == stop.iv and model.joints[i].nv:
            for k in model.support(i):
                entries |= set(range(model.joints[k].iv, model.joints[k].iv + model.joints[k].nv))
    return np.array(sorted(entries))
