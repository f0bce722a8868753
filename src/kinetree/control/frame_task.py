"""A frame that is to move in some directions: its error, Jacobian and drift, in world axes at its origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.algorithms.arguments.directions import directions, task_directions
from kinetree.algorithms.operational_space import TaskInertia
from kinetree.algorithms.passes.regularity import require_regular
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.rotations.checks import target_pose, target_rotation
from kinetree.spatial.packing import unpack
from kinetree.spatial.rotation_vector import rotation_error

SHAPES: dict[str, tuple[tuple[str, tuple[int, ...]], ...]] = {
    "pose": (("pose", (4, 4)), ("velocity", (6,)), ("acceleration", (6,))),
    "point": (("position", (3,)), ("velocity", (3,)), ("acceleration", (3,))),
    "turn": (("rotation", (3, 3)), ("velocity", (3,)), ("acceleration", (3,))),
}
"""What a reference is, as trajectories give it."""


@dataclass(frozen=True)
class FrameTask:
    """Some of the six directions of a frame, linear before angular."""

    frame: str
    rows: tuple[int, ...]

    @staticmethod
    def named(robot: Robot, frame: Any, task: Any) -> FrameTask:
        """From "pose", "position", "orientation", or names among x, y, z, rx, ry, rz."""
        name = robot.frame(frame).name
        return FrameTask(name, directions("task", task_directions(task)))

    @property
    def size(self) -> int:
        return len(self.rows)

    @property
    def linear(self) -> int:
        """How many of its directions are linear."""
        return sum(row < 3 for row in self.rows)

    @property
    def references(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes: of points where no direction is angular, of rotations where none is linear."""
        kind = "pose" if 0 < self.linear < self.size else "point" if self.linear else "turn"
        return dict(SHAPES[kind])

    def error(self, robot: Robot, q: Array, target: Any) -> Array:
        """From where the frame is to where it should be [m, rad]."""
        T = robot.frame(self.frame).pose(q)
        if target.shape == (3,):
            return (target - T[:3, 3])[self._own_rows]
        if target.shape == (4, 4):
            target_pose(target, "pose")
        else:
            target_rotation(target, "rotation")
        turn = rotation_error(target[:3, :3], T[:3, :3])
        whole = turn if target.shape == (3, 3) else np.concatenate([target[:3, 3] - T[:3, 3], turn])
        return whole[self._own_rows]

    def rate(self, robot: Robot, given: Any) -> Array:
        """Its directions of a velocity or acceleration that a reference has."""
        whole = np.concatenate(unpack(given, robot.model.spatial_order)) if len(given) == 6 else given
        return whole[self._own_rows]

    def jacobian(self, robot: Robot, q: Array) -> Array:
        """J, (size, nv)."""
        return self.all_directions(robot, q)[list(self.rows)]

    def all_directions(self, robot: Robot, q: Array) -> Array:
        """J of all six directions of the frame, linear first, (6, nv)."""
        return np.concatenate(unpack(robot.frame(self.frame).jacobian(q), robot.model.spatial_order))

    def drift(self, robot: Robot, q: Array, v: Array) -> Array:
        """J̇ v, (size,)."""
        a = robot.frame(self.frame).bias_acceleration(q, v)
        return np.concatenate(unpack(a, robot.model.spatial_order))[list(self.rows)]

    def inertia(self, robot: Robot, q: Array, J: Array, regularization: float) -> TaskInertia:
        """Λ for rows J, or for what contacts leave of them; a mass matrix that is singular is refused."""
        felt = TaskInertia(robot.mass_matrix(q), J, self.linear, regularization, self.all_directions(robot, q))
        require_regular(robot.model, q, felt.pivots)
        return felt

    @property
    def _own_rows(self) -> list[int]:
        """Among those that a reference has."""
        return list(self.rows) if self.linear else [row - 3 for row in self.rows]
