"""Three joints that bring a point to a place: all four ways.

With d(q3) from axis 2 to the point that joint 3 has moved, and axes n, s, h2 at the common perpendicular of axes 1 and
2 (length a, angle α), turning about axis 1 changes neither the height along it nor the distance from it, so that

    sin α Y = z - cos α h2ᵀ d        a X = ½ (|p - o1|² - |d|² - a²)        X² + Y² = |d|² - (h2ᵀ d)²

where (X, Y) is d across axis 2 after joint 2 (Pieper 1968). |d|² and h2ᵀ d are affine in cos q3 and sin q3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree import ops
from kinetree.ik.closed_form.conic import Affine, squares_on_circle
from kinetree.ik.closed_form.lines import MEETING, Line, are_parallel, nearest_points
from kinetree.ik.closed_form.subproblems import angle_between, angle_of, on_circle, root, turned_by
from kinetree.ops import Array
from kinetree.spatial.euler import wrapped

Ways = list[tuple[Any, Any, Any]]


@dataclass(frozen=True, eq=False)
class Positioning:
    """The positioning of a point, given at zero angles, by joints about three lines."""

    first: Line
    second: Line
    third: Line
    point: Array

    def ways(self, p: Array) -> Ways:
        """The four triples of angles that bring the point to p, as far as they exist."""
        o1, o2 = nearest_points(self.first, self.second)
        h1, h2, h3 = self.first.h, self.second.h, self.third.h
        a = float(np.linalg.norm(o2 - o1))
        meet, parallel = a < MEETING, are_parallel(self.first, self.second)
        n = np.cross(h1, h2) if meet else o2 - o1
        n = n / np.linalg.norm(n)
        s = np.cross(h2, n)
        sin, cos = float(h1 @ s), float(h1 @ h2)

        arm = self.point - self.third.nearest(self.point)
        center, u, v = self.third.nearest(self.point) - o2, arm, np.cross(h3, arm)
        square = Affine(center @ center + u @ u, 2.0 * center @ u, 2.0 * center @ v)
        height = Affine.along(h2, center, u, v)
        x, y = Affine.along(n, center, u, v), Affine.along(s, center, u, v)
        z, far = h1 @ (p - o1), (p - o1) @ (p - o1)
        half = Affine(0.5 * (far - square.one - a * a), -0.5 * square.c, -0.5 * square.s)  # a X
        lift = Affine(z - cos * height.one, -cos * height.c, -cos * height.s)  # sin α Y

        found: list[tuple[Any, Any, Any]] = []  # q3, X, Y
        if meet or parallel:
            for q3 in half.roots() if meet else lift.roots():
                at = ops.cos(q3), ops.sin(q3)
                across = x(*at) ** 2 + y(*at) ** 2
                known = lift(*at) / sin if meet else half(*at) / a
                other = root(across - known * known)
                found += [(q3, side, known) if meet else (q3, known, side) for side in (other, -other)]
        else:
            for q3 in self._elbows(square, half, lift, height, far, a, sin):
                at = ops.cos(q3), ops.sin(q3)
                found.append((q3, half(*at) / a, lift(*at) / sin))
        ways = []
        for q3, X, Y in found:
            c, t = ops.cos(q3), ops.sin(q3)
            q2 = wrapped(angle_of(Y, X) - angle_of(y(c, t), x(c, t)))
            d = turned_by(h2, ops.cos(q2), ops.sin(q2), center + u * c + v * t)
            ways.append((angle_between(h1, d + (o2 - o1), p - o1), q2, q3))
        return ways

    def _elbows(
        self, square: Affine, half: Affine, lift: Affine, height: Affine, far: Any, a: float, sin: float
    ) -> list[Any]:
        """The four q3 with (half / a)² + (lift / sin α)² = square - height²."""
        if are_parallel(self.second, self.third):  # height and lift are constant; X + a = ±√…
            reach = root(far - height.one * height.one - lift.one * lift.one / (sin * sin))
            sums = [half.one - a * X for X in (reach - a, -reach - a)]
            return [q3 for right in sums for q3 in on_circle(-half.c, -half.s, right)]
        terms = [(sin * sin, half), (a * a, lift), (a * a * sin * sin, height)]
        weight = -a * a * sin * sin
        return squares_on_circle(terms, Affine(weight * square.one, weight * square.c, weight * square.s))
