"""An axis of a frame towards a point: a camera that looks at something, a foot that stays upright."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.arguments import as_constant
from kinetree.errors import ArgumentError, short
from kinetree.ik.tasks.task import Task, linear_and_angular
from kinetree.ops import Array, atan2, cross, less, skew, sqrt, where
from kinetree.robot import Robot


@final
@dataclass(frozen=True)
class LookAt(Task):
    """An axis of a frame, x if not given, towards a point of the world, (3,) [m]; the turn about that axis is free.

    With the axis a and the direction d to the point at distance r, the error is the rotation vector that takes a to d,
    and ω - ω·a a + d × v / r is how fast a turns towards d: three rows [rad] of rank two.
    """

    frame: str
    axis: tuple[float, float, float] = (1.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        axis = as_constant("axis", self.axis, (3,))
        length = float(np.linalg.norm(axis))
        if not length > 0.0 or not np.isfinite(length):
            raise ArgumentError(f"axis is {short(self.axis)}; expected a direction")
        object.__setattr__(self, "axis", tuple((axis / length).tolist()))

    def size(self, robot: Robot) -> int:
        return 3

    def target_shape(self, robot: Robot) -> tuple[int, ...]:
        return (3,)

    def evaluate(self, robot: Robot, q: Array, target: Any) -> tuple[Array, Array]:
        T = robot.frame(self.frame).pose(q)
        a, ray = T[:3, :3] @ np.array(self.axis), target - T[:3, 3]
        r = sqrt(ray @ ray)
        d = ray / r
        normal = cross(a, d)
        s2 = normal @ normal
        small = less(s2, 1e-20)
        s = sqrt(where(small, 1.0, s2))
        error = normal * where(small, 1.0, atan2(s, a @ d) / s)
        linear, angular = linear_and_angular(robot, self.frame, q)
        return error, angular - np.outer(a, a @ angular) + skew(d) @ linear / r
