"""The origin of a frame at a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from kinetree.ik.tasks.task import Task, linear_and_angular
from kinetree.ops import Array
from kinetree.robot import Robot


@final
@dataclass(frozen=True)
class Position(Task):
    """A frame's origin at a point of the world, (3,) [m]."""

    frame: str

    def size(self, robot: Robot) -> int:
        return 3

    def target_shape(self, robot: Robot) -> tuple[int, ...]:
        return (3,)

    def evaluate(self, robot: Robot, q: Array, target: Any) -> tuple[Array, Array]:
        J, _ = linear_and_angular(robot, self.frame, q)
        return target - robot.frame(self.frame).pose(q)[:3, 3], J
