"""The axes of a frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.rotations.checks import target_rotation
from kinetree.spatial.rotation_vector import rotation_error
from kinetree.tasks.frame import FrameTask, linear_and_angular, linear_and_angular_drift


@final
@dataclass(frozen=True)
class Orientation(FrameTask):
    """The orientation of a frame, a rotation matrix (3, 3); rows are about the world's axes [rad]."""

    shape = (3, 3)

    def evaluate(self, robot: Robot, q: Array, target: Any) -> tuple[Array, Array]:
        _, J = linear_and_angular(robot, self.frame, q)
        target = target_rotation(target, f"target of {self.frame!r}")
        return rotation_error(target, robot.frame(self.frame).pose(q)[:3, :3]), J

    def drift(self, robot: Robot, q: Array, v: Array, target: Any) -> Array:
        return linear_and_angular_drift(robot, self.frame, q, v)[1]
