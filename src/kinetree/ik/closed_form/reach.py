"""The distance that a place is out of reach of three joints, by Levenberg and Marquardt."""

from __future__ import annotations

import numpy as np

from kinetree.ik.closed_form.lines import Line
from kinetree.ik.closed_form.subproblems import turned
from kinetree.ops import Array

STEPS = 100
NOTHING = 1e-9
"""A distance [m] that is none."""


def least_distance(lines: tuple[Line, ...], point: Array, goal: Array, starts: Array) -> float:
    """Between the goal and where joints about the lines, in this order, can bring the point [m]."""
    return min(_nearest(lines, point, goal, np.asarray(start, dtype=float)) for start in starts)


def _nearest(lines: tuple[Line, ...], point: Array, goal: Array, q: Array) -> float:
    damping, (there, J) = 1e-3, _moved(lines, point, q)
    for _ in range(STEPS):
        gap = goal - there
        step = np.linalg.solve(J.T @ J + damping * np.eye(len(q)), J.T @ gap)
        if np.linalg.norm(step) < 1e-12:
            break
        further, J_further = _moved(lines, point, q + step)
        if np.linalg.norm(goal - further) < np.linalg.norm(gap):
            q, there, J, damping = q + step, further, J_further, max(0.2 * damping, 1e-12)
        else:
            damping *= 5.0
    return float(np.linalg.norm(goal - there))


def _moved(lines: tuple[Line, ...], point: Array, q: Array) -> tuple[Array, Array]:
    """The position of the point, and its Jacobian, (3, n)."""
    columns: list[Array] = []
    for line, angle in zip(reversed(lines), reversed(q), strict=True):
        point = line.o + turned(line.h, angle, point - line.o)
        columns = [turned(line.h, angle, column) for column in columns]
        columns.insert(0, np.cross(line.h, point - line.o))
    return point, np.array(columns).T
