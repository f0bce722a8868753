"""A frame at a pose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.ik.tasks.task import Task, linear_and_angular, linear_first, rotation_error
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.rotations.checks import target_pose


@final
@dataclass(frozen=True)
class Pose(Task):
    """A frame at a pose of the world, (4, 4); six rows: its origin [m], then its axes [rad]."""

    frame: str

    def size(self, robot: Robot) -> int:
        return 6

    def target_shape(self, robot: Robot) -> tuple[int, ...]:
        return (4, 4)

    def evaluate(self, robot: Robot, q: Array, target: Any) -> tuple[Array, Array]:
        T, target = robot.frame(self.frame).pose(q), target_pose(target, f"target of {self.frame!r}")
        error = np.concatenate([target[:3, 3] - T[:3, 3], rotation_error(target[:3, :3], T[:3, :3])])
        return error, np.concatenate(linear_and_angular(robot, self.frame, q))

    def rates(self, robot: Robot, given: Array) -> Array:
        return linear_first(robot, given)
