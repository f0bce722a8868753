"""A frame at a pose seen from another frame of the robot, such as one hand from the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.ops import Array, skew
from kinetree.robot import Robot
from kinetree.rotations.checks import target_pose
from kinetree.spatial.rotation_vector import rotation_error
from kinetree.tasks.frame import FrameTask, linear_and_angular, linear_first


@final
@dataclass(frozen=True)
class RelativePose(FrameTask):
    """A frame at a pose in the axes of `seen_from`, (4, 4); six rows in those axes: origin [m], then axes [rad].

    With p from the one origin to the other, ṗ = v - v_B - ω_B × p.
    """

    seen_from: str
    shape = (4, 4)

    @property
    def default_name(self) -> str:
        return f"{self.frame} from {self.seen_from}"

    @property
    def frames(self) -> tuple[str, ...]:
        return self.frame, self.seen_from

    def evaluate(self, robot: Robot, q: Array, target: Any) -> tuple[Array, Array]:
        T, T_B = robot.frame(self.frame).pose(q), robot.frame(self.seen_from).pose(q)
        target = target_pose(target, f"target of {self.frame!r}")
        R_B, p = T_B[:3, :3], T[:3, 3] - T_B[:3, 3]
        error = np.concatenate([target[:3, 3] - R_B.T @ p, rotation_error(target[:3, :3], R_B.T @ T[:3, :3])])
        linear, angular = linear_and_angular(robot, self.frame, q)
        linear_B, angular_B = linear_and_angular(robot, self.seen_from, q)
        rows = [R_B.T @ (linear - linear_B + skew(p) @ angular_B), R_B.T @ (angular - angular_B)]
        return error, np.concatenate(rows)

    def rates(self, robot: Robot, given: Array) -> Array:
        return linear_first(robot, given)
