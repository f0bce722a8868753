"""The centre of mass at a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.tasks.motion import MotionTask


@final
@dataclass(frozen=True)
class CenterOfMass(MotionTask):
    """The robot's centre of mass at a point of the world, (3,) [m]; a weight of zero leaves a direction free."""

    def size(self, robot: Robot) -> int:
        return 3

    def target_shape(self, robot: Robot) -> tuple[int, ...]:
        return (3,)

    def evaluate(self, robot: Robot, q: Array, target: Any) -> tuple[Array, Array]:
        return target - robot.center_of_mass(q), robot.center_of_mass_jacobian(q)

    def drift(self, robot: Robot, q: Array, v: Array, target: Any) -> Array:
        return robot.center_of_mass_acceleration(q, v, np.zeros(robot.nv))
