"""The origin of a frame at a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.tasks.frame import FrameTask, linear_and_angular, linear_and_angular_drift


@final
@dataclass(frozen=True)
class Position(FrameTask):
    """A frame's origin at a point of the world, (3,) [m]."""

    shape = (3,)

    def evaluate(self, robot: Robot, q: Array, target: Any) -> tuple[Array, Array]:
        J, _ = linear_and_angular(robot, self.frame, q)
        return target - robot.frame(self.frame).pose(q)[:3, 3], J

    def drift(self, robot: Robot, q: Array, v: Array, target: Any) -> Array:
        return linear_and_angular_drift(robot, self.frame, q, v)[0]
