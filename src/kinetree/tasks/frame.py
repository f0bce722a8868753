"""Tasks of one frame of the robot, and what they read of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.spatial.packing import unpack
from kinetree.tasks.motion import MotionTask, Shape


@dataclass(frozen=True)
class FrameTask(MotionTask):
    """A task that is called after its frame; its target is a point, a rotation matrix or a pose."""

    frame: str
    shape: ClassVar[Shape]

    def size(self, robot: Robot) -> int:
        return 6 if self.shape == (4, 4) else 3

    def target_shape(self, robot: Robot) -> Shape:
        return self.shape

    @property
    def default_name(self) -> str:
        return self.frame

    @property
    def frames(self) -> tuple[str, ...]:
        return (self.frame,)


def linear_and_angular(robot: Robot, frame: str, q: Array) -> tuple[Array, Array]:
    """Rows of a frame's Jacobian in world axes at its origin, (3, nv) each."""
    return unpack(robot.frame(frame).jacobian(q), robot.model.spatial_order)


def linear_and_angular_drift(robot: Robot, frame: str, q: Array, v: Array) -> tuple[Array, Array]:
    """J̇ v of these rows, (3,) each."""
    return unpack(robot.frame(frame).bias_acceleration(q, v), robot.model.spatial_order)


def linear_first(robot: Robot, given: Array) -> Array:
    """A 6-vector, in the robot's order, as rows of which the linear ones come first."""
    return np.concatenate(unpack(given, robot.model.spatial_order))
