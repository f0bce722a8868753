"""The branches among eight that are solutions: they lead to the target, differ from each other, and are within
limits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinetree import ops
from kinetree.ops import Array
from kinetree.spatial.euler import wrapped

RESIDUAL = 1e-10
"""A branch is a solution if it leads nearer to the target than this, [m] + [rad]."""
SAME = 1e-6
"""Solutions are the same if no angle differs by more [rad]: where two branches meet, at the edge of the workspace."""
AT_LIMIT = 1e-10
"""An angle that is beyond a limit by less [rad] is at the limit."""


def selected(x: Array, away: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """The branches with angles brought within limits by whole turns, (8, 6), and whether each is a solution, (8,)."""
    x = wrapped(x)
    found: list[Any] = []
    for k in range(len(x)):
        is_new = ops.less(away[k], RESIDUAL)
        for j in range(k):
            apart: Any = 0.0
            for angle in wrapped(x[k] - x[j]):
                apart = ops.maximum(apart, ops.absolute(angle))
            is_new = ops.logical_and(is_new, ops.logical_not(ops.logical_and(found[j], ops.less(apart, SAME))))
        found.append(is_new)
    rows = []
    for k, row in enumerate(x):
        turned = [_within(angle, *bounds) for angle, *bounds in zip(row, lower, upper, strict=True)]
        for _, inside in turned:
            found[k] = ops.logical_and(found[k], inside)
        rows.append([ops.where(found[k], angle, np.nan) for angle, _ in turned])
    return ops.array(rows), ops.array([ops.where(each, 1.0, 0.0) for each in found])


def _within(angle: Any, lower: float, upper: float) -> tuple[Any, Any]:
    """The angle, or that less or more a turn, whichever is the first within bounds; and whether one is."""
    chosen, inside = angle, False
    for turn in (2.0 * math.pi, -2.0 * math.pi, 0.0):
        other = angle + turn
        fits = ops.logical_and(ops.less_equal(lower - AT_LIMIT, other), ops.less_equal(other, upper + AT_LIMIT))
        chosen, inside = ops.where(fits, ops.clip(other, lower, upper), chosen), ops.logical_or(inside, fits)
    return chosen, inside
