"""Straight lines in space: where two come nearest, and where three meet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.ops import Array

MEETING = 1e-5
"""Lines that pass each other by less [m] meet."""
PARALLEL = 1e-5
"""Directions that differ by less [rad] are parallel."""


@dataclass(frozen=True, eq=False)
class Line:
    """The axis of a joint: a unit direction h and a point o on it."""

    h: Array
    o: Array

    def reversed(self) -> Line:
        """The same line with its direction turned round."""
        return Line(-self.h, self.o)

    def through(self, point: Array) -> Line:
        """The same line with the point on it that is nearest to the given one."""
        return Line(self.h, self.nearest(point))

    def nearest(self, point: Array) -> Array:
        """The point on the line that is nearest to another."""
        return self.o + self.h * (self.h @ (point - self.o))

    def distance(self, point: Array) -> float:
        """The distance of a point from the line [m]."""
        return float(np.linalg.norm(point - self.nearest(point)))


def are_parallel(*lines: Line) -> bool:
    """Whether all of them are, in the same or in opposite directions."""
    return all(np.linalg.norm(np.cross(lines[0].h, line.h)) < PARALLEL for line in lines[1:])


def nearest_points(a: Line, b: Line) -> tuple[Array, Array]:
    """The points of two lines at which they are nearest to each other; for parallels, beside the point of a."""
    if are_parallel(a, b):
        return a.o, b.nearest(a.o)
    c = float(a.h @ b.h)
    gap = b.o - a.o
    s, t = np.linalg.solve(np.array([[1.0, -c], [c, -1.0]]), np.array([a.h @ gap, b.h @ gap]))
    return a.o + a.h * s, b.o + b.h * t


def distance(a: Line, b: Line) -> float:
    """Between two lines [m]."""
    return float(np.linalg.norm(np.subtract(*nearest_points(a, b))))


def meeting_point(*lines: Line) -> tuple[Array, float]:
    """The point with the least squares of distances from all lines, and the largest of these distances [m]."""
    away: Any = [np.eye(3) - np.outer(line.h, line.h) for line in lines]
    wanted = sum(P @ line.o for P, line in zip(away, lines, strict=True))
    point = lines[0].o + np.linalg.pinv(sum(away), rcond=1e-12) @ (wanted - sum(away) @ lines[0].o)
    return point, max(line.distance(point) for line in lines)
