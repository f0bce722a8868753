"""The momentum of the whole robot about its centre of mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np

from kinetree.errors import ArgumentError, one_of
from kinetree.ops import Array, equal, where
from kinetree.robot import Robot
from kinetree.spatial.packing import unpack
from kinetree.tasks.motion import MotionTask, Shape

Part = Literal["both", "linear", "angular"]


@final
@dataclass(frozen=True)
class Momentum(MotionTask):
    """Momentum about the centre of mass, h = A_G v, in world axes: linear [N s] and angular [N m s], in the robot's
    order, as `robot.centroidal_momentum` has them.

        A_G v          = h*
        A_G a + Ȧ_G v  = ḣ* + gain · (h* - h)

    part          "both", (6,), or "linear" or "angular" alone, (3,)
    gain          [1/s]; a momentum is a velocity already, so that it has no stiffness and no damping, and differential
                  inverse kinematics needs no gain
    feedforward   whether ḣ* is also given, in whole-body control

    In whole-body control residuals are divided by the robot's mass, so that the linear ones are accelerations of the
    centre of mass.
    """

    part: Part = "both"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "part", one_of("part", self.part, ("both", "linear", "angular")))
        for setting in ("stiffness", "damping"):
            if getattr(self, setting) is not None:
                raise ArgumentError(f"{setting} of task {self.name!r} is given; a momentum has only a gain= [1/s]")

    def size(self, robot: Robot) -> int:
        return 6 if self.part == "both" else 3

    def target_shape(self, robot: Robot) -> Shape:
        return (self.size(robot),)

    def references(self, robot: Robot) -> dict[str, Shape]:
        shape = self.target_shape(robot)
        return {"target": shape, "rate": shape} if self.feedforward else {"target": shape}

    def evaluate(self, robot: Robot, q: Array, target: Any) -> tuple[Array, Array]:
        """The target, as rows, and A_G."""
        return self.rates(robot, target), self._chosen(robot, robot.centroidal_momentum_matrix(q))

    def drift(self, robot: Robot, q: Array, v: Array, target: Any) -> Array:
        return self._chosen(robot, robot.centroidal_momentum_bias(q, v))

    def rates(self, robot: Robot, given: Array) -> Array:
        return self._chosen(robot, given) if self.part == "both" else given

    def velocity_rows(self, robot: Robot, q: Array, given: Sequence[Any]) -> tuple[Array, Array, Array]:
        target, A = self.evaluate(robot, q, given[0])
        return A, target, target

    def acceleration_rows(self, robot: Robot, q: Array, v: Array, given: Sequence[Any]) -> tuple[Array, Array]:
        target, A = self.evaluate(robot, q, given[0])
        drift = self.drift(robot, q, v, target)
        error = target - self._chosen(robot, robot.centroidal_momentum(q, v))
        rate = self.per_row("gain", len(error)) * error - drift
        if self.feedforward:
            rate = rate + self.rates(robot, given[1])
        share = 1.0 / mass_or_one(robot)
        return A * share, rate * share

    def _chosen(self, robot: Robot, six: Array) -> Array:
        """The rows of its part."""
        parts = unpack(six, robot.model.spatial_order)
        return np.concatenate(parts) if self.part == "both" else parts[self.part == "angular"]


def mass_or_one(robot: Robot) -> Any:
    """The robot's mass [kg], a number or a traced value, by which forces are divided; 1 if it has none."""
    return where(equal(robot.mass, 0.0), 1.0, robot.mass)
