"""Directions in which a frame is to move, for controllers: rows of the task of that frame, and the inertia there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.algorithms.arguments.directions import directions, task_directions
from kinetree.algorithms.operational_space import TaskInertia
from kinetree.algorithms.passes.regularity import require_regular
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.tasks import Orientation, Pose, Position
from kinetree.tasks.frame import linear_and_angular

REFERENCES = {Pose: "pose", Position: "position", Orientation: "rotation"}
"""What the target of a task is called in a reference, as trajectories give it."""


@dataclass(frozen=True)
class FrameDirections:
    """Some rows of a task: of a point where no direction is angular, of a rotation where none is linear."""

    task: Pose | Position | Orientation
    rows: tuple[int, ...]

    @staticmethod
    def named(robot: Robot, frame: Any, task: Any) -> FrameDirections:
        """From "pose", "position", "orientation", or names among x, y, z, rx, ry, rz."""
        name, rows = robot.frame(frame).name, directions("task", task_directions(task))
        if rows[0] >= 3:
            return FrameDirections(Orientation(name), tuple(row - 3 for row in rows))
        return FrameDirections(Pose(name) if rows[-1] >= 3 else Position(name), rows)

    @property
    def frame(self) -> str:
        return self.task.frame

    @property
    def size(self) -> int:
        return len(self.rows)

    def references(self, robot: Robot) -> dict[str, tuple[int, ...]]:
        """Names and shapes of target, velocity and acceleration."""
        rows = (self.task.size(robot),)
        return {REFERENCES[type(self.task)]: self.task.target_shape(robot), "velocity": rows, "acceleration": rows}

    def evaluate(self, robot: Robot, q: Array, target: Any) -> tuple[Array, Array]:
        """From where the frame is to where it should be [m, rad], (size,), and J, (size, nv)."""
        error, J = self.task.evaluate(robot, q, target)
        return error[list(self.rows)], J[list(self.rows)]

    def rate(self, robot: Robot, given: Any) -> Array:
        """Its directions of a velocity or acceleration that a reference has."""
        return self.task.rates(robot, given)[list(self.rows)]

    def drift(self, robot: Robot, q: Array, v: Array) -> Array:
        """J̇ v, (size,)."""
        return self.task.drift(robot, q, v, None)[list(self.rows)]

    def inertia(self, robot: Robot, q: Array, J: Array, regularization: float) -> TaskInertia:
        """Λ for rows J, or for what contacts leave of them; a mass matrix that is singular is refused."""
        linear = 0 if isinstance(self.task, Orientation) else sum(row < 3 for row in self.rows)
        whole = np.concatenate(linear_and_angular(robot, self.frame, q))
        felt = TaskInertia(robot.mass_matrix(q), J, linear, regularization, whole)
        require_regular(robot.model, q, felt.d)
        return felt
