"""An axis of a frame towards a point: a camera that looks at something, a foot that stays upright."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.base.arguments import as_direction, read_fields
from kinetree.model.joints.planar import plane_directions
from kinetree.ops import (
    Array,
    absolute,
    atan2,
    cross,
    less,
    logical_and,
    logical_not,
    maximum,
    require,
    skew,
    sqrt,
    where,
)
from kinetree.robot import Robot
from kinetree.tasks.frame import FrameTask, linear_and_angular

NEAREST = 1e-9
"""Distance [m] below which a point has no direction from a frame's origin."""


@final
@dataclass(frozen=True)
class LookAt(FrameTask):
    """An axis of a frame, x if not given, towards a point of the world, (3,) [m]; the turn about that axis is free.

    With the axis a and the direction d to the point at distance r, the error is the rotation vector that takes a to d,
    and ω - ω·a a + d × v / r is how fast a turns towards d: three rows [rad] of rank two. With the point straight
    behind, every half turn takes a to d: it is the one about whichever of two directions across a the robot turns more
    about. A point within 1e-9 m of the frame's origin has no direction, and is refused.
    """

    axis: tuple[float, float, float] = (1.0, 0.0, 0.0)
    shape = (3,)

    def __post_init__(self) -> None:
        super().__post_init__()
        read_fields(self, axis=as_direction)

    def evaluate(self, robot: Robot, q: Array, target: Any) -> tuple[Array, Array]:
        R, ray = robot.frame(self.frame).pose(q)[:3, :3], target - robot.frame(self.frame).pose(q)[:3, 3]
        longest: Any = NEAREST  # squares of far points may be more than a float holds
        for number in ray:
            longest = maximum(longest, absolute(number))
        a, ray = R @ np.array(self.axis), ray / longest
        length = sqrt(ray @ ray)
        r = longest * length
        require(
            logical_not(less(r, NEAREST)),
            f"target of {self.frame!r} is at the frame's origin; expected a point to look at",
        )
        d = ray / length
        linear, angular = linear_and_angular(robot, self.frame, q)
        J = angular - np.outer(a, a @ angular) + skew(d) @ linear / r
        normal = cross(a, d)
        s2, forward = normal @ normal, a @ d
        small = less(s2, 1e-20)
        s = sqrt(where(small, 1.0, s2))
        error = normal * where(small, 1.0, atan2(s, forward) / s)
        return where(logical_and(small, less(forward, 0.0)), self._half_turn(R, J), error), J

    def _half_turn(self, R: Array, J: Array) -> Array:
        """π times one of two directions across the axis: that in which J is greater."""
        first = plane_directions(np.array(self.axis))
        (n1, g1), (n2, g2) = ((R @ n, J.T @ (R @ n)) for n in first)
        return np.pi * where(less(g1 @ g1, g2 @ g2), n2, n1)
