"""Arms with three parallel axes 2, 3, 4 whose last two meet, as the UR family: the plane of the three first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree import ops
from kinetree.ik.closed_form.lines import Line
from kinetree.ik.closed_form.reach import NOTHING
from kinetree.ik.closed_form.subproblems import TINY, angle_between, at_angle, on_circle, turned
from kinetree.ops import Array, cross, where
from kinetree.spatial.euler import wrapped


@dataclass(frozen=True, eq=False)
class ParallelAxes:
    """Six lines at zero angles, the second to fourth parallel, the last two through `center`; `free` is q6 where axis 6
    is parallel to them too."""

    lines: tuple[Line, ...]
    center: Array
    free: float = 0.0

    def branches(self, R: Array, p: Array) -> Array:
        """All eight q, (8, 6), for which the product of exponentials is (R, p).

        E2 E3 E4 moves nothing along h2, and leaves h2 as it is: where the centre is along h2 gives q1, h2 seen from
        the hand q5 and q6; a triangle in the plane is left.
        """
        first, second, _, _, fifth, sixth = self.lines
        h = second.h
        beside = np.linalg.svd(h[None])[2][1]  # across h
        branches = []
        r = R @ self.center + p - first.o
        across = r - first.h * (first.h @ r)
        height = h @ (self.center - first.o) - (h @ first.h) * (first.h @ r)
        for q1 in on_circle(h @ across, -(h @ cross(first.h, r)), height):
            seen = R.T @ turned(first.h, q1, h)
            for q5 in at_angle(h, fifth.h, sixth.h, seen, sixth.h):
                q6 = self._last(R, p, q1, q5, seen)
                origin = self._brought(R, p, q1, q5, q6, self.lines[3].o)
                tip = self._brought(R, p, q1, q5, q6, self.lines[3].o + beside)
                whole = angle_between(h, beside, tip - origin)
                branches += [(q1, *planar, q5, q6) for planar in self._planar(origin, whole)]
        return ops.array(branches)

    def _last(self, R: Array, p: Array, q1: Any, q5: Any, seen: Array) -> Any:
        """q6. Where axis 6 is parallel to axis 4 it turns that about itself, and can be chosen: `free`, or if axis 4 is
        then out of reach of joints 2 and 3, the nearest reach."""
        second, _, fourth, fifth, sixth = self.lines[1:]
        h = second.h
        there = turned(fifth.h, -q5, h)
        q6 = angle_between(sixth.h, seen, there, self.free)
        across, goal = cross(sixth.h, there), cross(sixth.h, seen)
        chosen = ops.less(ops.minimum(across @ across, goal @ goal), TINY * TINY)
        center = self._brought(R, p, q1, q5, 0.0, self.center) - second.o  # q6 turns axis 4 about it
        center = center - h * (h @ center)
        ends = [self._brought(R, p, q1, q5, angle, fourth.o) - second.o for angle in (0.0, 0.5 * np.pi)]
        u, v = (end - h * (h @ end) - center for end in ends)
        c, s = center @ u, center @ v
        now = c * ops.cos(self.free) + s * ops.sin(self.free)
        both, (a, b) = center @ center + u @ u, self.reaches
        within = ops.clip(now, 0.5 * ((a - b) ** 2 - both), 0.5 * ((a + b) ** 2 - both))
        nearest = on_circle(c, s, within)[0]
        return where(ops.logical_and(chosen, ops.logical_not(ops.equal(now, within))), nearest, q6)

    @property
    def reaches(self) -> tuple[float, float]:
        """Distances of axis 3 from axis 2, and of axis 4 from axis 3 [m]."""
        second, third, fourth = self.lines[1:4]
        return second.distance(third.o), third.distance(fourth.o)

    def _brought(self, R: Array, p: Array, q1: Any, q5: Any, q6: Any, x: Array) -> Array:
        """E2 E3 E4 x = E1⁻¹ (R, p) E6⁻¹ E5⁻¹ x."""
        first, fifth, sixth = self.lines[0], self.lines[4], self.lines[5]
        x = self.center + turned(sixth.h, -q6, turned(fifth.h, -q5, x - self.center))
        return first.o + turned(first.h, -q1, R @ x + p - first.o)

    def shortfall(self, R: Array, p: Array) -> float:
        """The distance that the centre is within the cylinder about axis 1 that it cannot enter, or axis 4 out of reach
        of joints 2 and 3 [m]."""
        first, second = self.lines[:2]
        h1, h = first.h, second.h
        r = R @ self.center + p - first.o
        height = h @ (self.center - first.o) - (h @ h1) * (h1 @ r)
        inside = abs(height) / np.linalg.norm(np.cross(h, h1)) - np.linalg.norm(np.cross(h1, r))
        if inside > NOTHING:
            return float(inside)
        fourth, (a, b) = self.lines[3], self.reaches
        gaps = []
        for q1, _, _, _, q5, q6 in self.branches(R, p):
            far = second.distance(self._brought(R, p, q1, q5, q6, fourth.o))
            gaps.append(max(far - (a + b), abs(a - b) - far))
        return float(min(gaps)) if min(gaps) > NOTHING else 0.0

    def _planar(self, origin: Array, whole: Any) -> list[tuple[Any, Any, Any]]:
        """Both q2, q3, q4 that bring a point of axis 4 to `origin` and turn by `whole` about h2."""
        second, third, fourth = self.lines[1:4]
        h = second.h
        to_third, to_fourth = third.o - second.nearest(third.o), fourth.o - third.nearest(fourth.o)
        wanted = origin - second.o
        wanted = wanted - h * (h @ wanted)
        sign3, sign4 = np.sign(third.h @ h), np.sign(fourth.h @ h)
        right = 0.5 * (wanted @ wanted - to_third @ to_third - to_fourth @ to_fourth)
        found = []
        for q3 in on_circle(to_third @ to_fourth, to_third @ np.cross(third.h, to_fourth), right):
            q2 = angle_between(h, to_third + turned(third.h, q3, to_fourth), wanted)
            found.append((q2, q3, sign4 * wrapped(wrapped(whole - q2) - sign3 * q3)))
        return found
