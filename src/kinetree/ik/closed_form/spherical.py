"""Arms whose last three axes meet in one point, the wrist's centre: position first, then orientation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree import ops
from kinetree.ik.closed_form.lines import Line
from kinetree.ik.closed_form.positioning import Positioning
from kinetree.ik.closed_form.reach import NOTHING, least_distance
from kinetree.ik.closed_form.subproblems import angle_between, at_angle, turned
from kinetree.ops import Array


@dataclass(frozen=True, eq=False)
class SphericalWrist:
    """Six lines at zero angles, of which the last three meet at `center`; `free` is q4 where q4 and q6 turn alike."""

    lines: tuple[Line, ...]
    center: Array
    free: float = 0.0

    @property
    def positioning(self) -> Positioning:
        first, second, third = self.lines[:3]
        return Positioning(first, second, third, self.center)

    def branches(self, R: Array, p: Array) -> Array:
        """All eight q, (8, 6), for which the product of exponentials is (R, p): four arms, each with two wrists."""
        branches = []
        h = [line.h for line in self.lines]
        for arm in self.positioning.ways(R @ self.center + p):
            N = R  # R4 R5 R6 = R3ᵀ R2ᵀ R1ᵀ R
            for axis, angle in zip(h, arm, strict=False):
                N = np.stack([turned(axis, -angle, column) for column in N.T]).T
            branches += [(*arm, *wrist) for wrist in self._wrists(N)]
        return ops.array(branches)

    def shortfall(self, R: Array, p: Array) -> float:
        """The distance that the centre is out of reach of the first three joints [m]."""
        goal = R @ self.center + p
        turns = np.random.default_rng(0).uniform(-np.pi, np.pi, size=(8, 3))
        starts = np.concatenate([ops.array(self.positioning.ways(goal)), turns])
        least = least_distance(self.lines[:3], self.center, goal, starts)
        return least if least > NOTHING else 0.0

    def _wrists(self, N: Array) -> list[tuple[object, object, object]]:
        """Both q4, q5, q6 with R4 R5 R6 = N."""
        h4, h5, h6 = (line.h for line in self.lines[3:])
        beside = np.linalg.svd(h6[None])[2][1]  # across h6
        found = []
        goal = N @ h6
        for q5 in at_angle(h4, h5, h6, goal, h4):
            q4 = angle_between(h4, turned(h5, q5, h6), goal, self.free)
            left = turned(h5, -q5, turned(h4, -q4, N @ beside))
            found.append((q4, q5, angle_between(h6, beside, left)))
        return found
