"""A frame at a pose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.rotations.checks import target_pose
from kinetree.spatial.rotation_vector import rotation_error
from kinetree.tasks.frame import FrameTask, linear_and_angular, linear_and_angular_drift, linear_first


@final
@dataclass(frozen=True)
class Pose(FrameTask):
    """A frame at a pose of the world, (4, 4); six rows in world axes: its origin [m], then its axes [rad]."""

    shape = (4, 4)

    def evaluate(self, robot: Robot, q: Array, target: Any) -> tuple[Array, Array]:
        T, target = robot.frame(self.frame).pose(q), target_pose(target, f"target of {self.frame!r}")
        error = np.concatenate([target[:3, 3] - T[:3, 3], rotation_error(target[:3, :3], T[:3, :3])])
        return error, np.concatenate(linear_and_angular(robot, self.frame, q))

    def drift(self, robot: Robot, q: Array, v: Array, target: Any) -> Array:
        return np.concatenate(linear_and_angular_drift(robot, self.frame, q, v))

    def rates(self, robot: Robot, given: Array) -> Array:
        return linear_first(robot, given)
