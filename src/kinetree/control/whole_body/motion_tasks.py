"""Tasks of motion: frames, the centre of mass, joints, momentum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np

from kinetree.base.arguments import as_flag, as_number
from kinetree.control.whole_body.dynamics import Dynamics
from kinetree.control.whole_body.task import MotionTask, Shape, WholeBodyTask
from kinetree.errors import ArgumentError, one_of
from kinetree.ik import CenterOfMass, Orientation, Pose, Position, Posture
from kinetree.ik.tasks.posture import as_joints
from kinetree.ik.tasks.task import linear_first
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.spatial.packing import unpack


@dataclass(frozen=True)
class _FrameTask(MotionTask):
    """Of one frame."""

    frame: str

    @property
    def default_name(self) -> str:
        return self.frame

    def check(self, dynamics: Dynamics) -> None:
        dynamics.robot.frame(self.frame)
        super().check(dynamics)

    def drifts(self, robot: Robot, q: Array, v: Array) -> tuple[Array, Array]:
        """J̇ v, linear and angular."""
        return unpack(robot.frame(self.frame).bias_acceleration(q, v), robot.model.spatial_order)


@final
@dataclass(frozen=True)
class PoseTask(_FrameTask):
    """A frame at a pose of the world, (4, 4); six rows in world axes: its origin [m], then its axes [rad]."""

    def size(self, dynamics: Dynamics) -> int:
        return 6

    def target_shape(self, robot: Robot) -> Shape:
        return (4, 4)

    def evaluate(self, robot: Robot, q: Array, v: Array, target: Any) -> tuple[Array, Array, Array]:
        error, J = Pose(self.frame).evaluate(robot, q, target)
        return error, np.concatenate(self.drifts(robot, q, v)), J

    def rates(self, robot: Robot, given: Array) -> Array:
        return linear_first(robot, given)


@final
@dataclass(frozen=True)
class PositionTask(_FrameTask):
    """A frame's origin at a point of the world, (3,) [m]."""

    def size(self, dynamics: Dynamics) -> int:
        return 3

    def target_shape(self, robot: Robot) -> Shape:
        return (3,)

    def evaluate(self, robot: Robot, q: Array, v: Array, target: Any) -> tuple[Array, Array, Array]:
        error, J = Position(self.frame).evaluate(robot, q, target)
        return error, self.drifts(robot, q, v)[0], J


@final
@dataclass(frozen=True)
class OrientationTask(_FrameTask):
    """A frame's axes as a rotation matrix has them, (3, 3); rows are about the world's axes [rad]."""

    def size(self, dynamics: Dynamics) -> int:
        return 3

    def target_shape(self, robot: Robot) -> Shape:
        return (3, 3)

    def evaluate(self, robot: Robot, q: Array, v: Array, target: Any) -> tuple[Array, Array, Array]:
        error, J = Orientation(self.frame).evaluate(robot, q, target)
        return error, self.drifts(robot, q, v)[1], J


@final
@dataclass(frozen=True)
class CenterOfMassTask(MotionTask):
    """The centre of mass at a point of the world, (3,) [m]."""

    @property
    def default_name(self) -> str:
        return "center_of_mass"

    def size(self, dynamics: Dynamics) -> int:
        return 3

    def target_shape(self, robot: Robot) -> Shape:
        return (3,)

    def evaluate(self, robot: Robot, q: Array, v: Array, target: Any) -> tuple[Array, Array, Array]:
        error, J = CenterOfMass().evaluate(robot, q, target)
        return error, robot.center_of_mass_acceleration(q, v, np.zeros(robot.nv)), J


@final
@dataclass(frozen=True)
class PostureTask(MotionTask):
    """Joints as in a configuration, (nq,): the named ones, or all but a floating base; one row for each velocity."""

    joints: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "joints", as_joints(self.joints))

    @property
    def default_name(self) -> str:
        return "posture"

    def size(self, dynamics: Dynamics) -> int:
        return Posture(self.joints).size(dynamics.robot)

    def entries(self, dynamics: Dynamics) -> list[int]:
        return Posture(self.joints).entries(dynamics.robot)

    def target_shape(self, robot: Robot) -> Shape:
        return (robot.nq,)

    def evaluate(self, robot: Robot, q: Array, v: Array, target: Any) -> tuple[Array, Array, Array]:
        error, J = Posture(self.joints).evaluate(robot, q, target)
        return error, np.zeros(len(J)), J


Part = Literal["both", "linear", "angular"]


@final
@dataclass(frozen=True)
class MomentumTask(WholeBodyTask):
    """Momentum about the centre of mass, h = A_G v, in world axes: linear [N s] and angular [N m s], in the robot's
    order, as `robot.centroidal_momentum` has them.

        A_G a + Ȧ_G v = ḣ* + gain · (h* - h)

    part          "both", (6,), or "linear" or "angular" alone, (3,)
    gain          [1/s]
    feedforward   whether references also have ḣ*

    Residuals are divided by the robot's mass, so that the linear ones are accelerations of the centre of mass.
    """

    part: Part = "both"
    gain: float = 10.0
    feedforward: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "part", one_of("part", self.part, ("both", "linear", "angular")))
        object.__setattr__(self, "gain", as_number("gain", self.gain))
        object.__setattr__(self, "feedforward", as_flag("feedforward", self.feedforward))
        if not 0.0 <= self.gain < np.inf:
            raise ArgumentError(f"gain of task {self.name!r} is {self.gain:g}; expected a positive number, or zero")

    @property
    def default_name(self) -> str:
        return "momentum"

    def size(self, dynamics: Dynamics) -> int:
        return 6 if self.part == "both" else 3

    def references(self, dynamics: Dynamics) -> dict[str, Shape]:
        shape = (self.size(dynamics),)
        return {"target": shape, "rate": shape} if self.feedforward else {"target": shape}

    def rows(self, dynamics: Dynamics, state: Any, given: list[Array]) -> tuple[Array, Array]:
        robot, q, v = state.robot, state.q, state.v
        A = self._chosen(robot, robot.centroidal_momentum_matrix(q))
        drift = self._chosen(robot, robot.centroidal_momentum_bias(q, v))
        wanted = [linear_first(robot, part) if self.part == "both" else part for part in given]
        rate = self.gain * (wanted[0] - self._chosen(robot, robot.centroidal_momentum(q, v))) - drift
        if self.feedforward:
            rate = rate + wanted[1]
        scale = 1.0 / dynamics.scale
        return dynamics.of_accelerations(A * scale, q), rate * scale

    def _chosen(self, robot: Robot, six: Array) -> Array:
        parts = unpack(six, robot.model.spatial_order)
        return np.concatenate(parts) if self.part == "both" else parts[self.part == "angular"]
