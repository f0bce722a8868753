"""The momentum of the whole robot about its centre of mass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from kinetree.ik.tasks.task import Task, linear_first
from kinetree.ops import Array
from kinetree.robot import Robot


@final
@dataclass(frozen=True)
class CentroidalMomentum(Task):
    """A_G v = h: linear [kg m/s] and angular momentum about the centre of mass [kg m²/s] as given, (6,), in world axes
    and in the robot's order, as `robot.centroidal_momentum` has them.

    It is about velocities already, so that the target counts as it is, and `gain` does not.
    """

    gain: float = 1.0

    def size(self, robot: Robot) -> int:
        return 6

    def target_shape(self, robot: Robot) -> tuple[int, ...]:
        return (6,)

    def evaluate(self, robot: Robot, q: Array, target: Any) -> tuple[Array, Array]:
        return linear_first(robot, target) * 1.0, linear_first(robot, robot.centroidal_momentum_matrix(q))

    def rates(self, robot: Robot, given: Array) -> Array:
        return linear_first(robot, given)
