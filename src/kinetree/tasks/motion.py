"""Tasks of motion: a quantity x(q) with ẋ = J v, and how its error is to vanish."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.base.arguments import as_flag
from kinetree.functions.derivatives import rate_of_change
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.tasks.task import Numbers, Task

Shape = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class MotionTask(Task, ABC):
    """A quantity x with ẋ = J v is brought to a target x*, by velocities in differential inverse kinematics and by
    accelerations in whole-body control:

        J v        = ẋ* + gain · (x* - x)
        J a + J̇ v  = ẍ* + stiffness · (x* - x) + damping · (ẋ* - J v)

    The error x* - x is that of vectors; of rotations, it is the rotation vector that takes the one to the other.

    gain          [1/s], a number or one for every row, as all of these
    stiffness     [1/s²]; gain² unless it is given
    damping       [1/s]; 2 √stiffness, without overshoot, unless it is given
    feedforward   whether ẋ* is also given, right after the target, and in whole-body control ẍ*, (size,) each; else
                  they are zero. Those of poses are 6-vectors, in the robot's order

    A task of your own has `size`, `target_shape` and `evaluate`; all else follows from them.
    """

    gain: Numbers = 10.0
    stiffness: Numbers | None = None
    damping: Numbers | None = None
    feedforward: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for setting in ("gain", "stiffness", "damping"):
            if getattr(self, setting) is not None:
                self._read_numbers(setting)
        object.__setattr__(self, "feedforward", as_flag("feedforward", self.feedforward))

    # -- what it is about --------------------------------------------------------------------------------------

    @abstractmethod
    def size(self, robot: Robot) -> int:
        """How many rows it has."""

    @abstractmethod
    def target_shape(self, robot: Robot) -> Shape | None:
        """Of the target; None for a task that needs none."""

    @abstractmethod
    def evaluate(self, robot: Robot, q: Array, target: Any) -> tuple[Array, Array]:
        """The error, (size,), and J, (size, nv)."""

    def drift(self, robot: Robot, q: Array, v: Array, target: Any) -> Array:
        """J̇ v, (size,), at a target that stays: J is differentiated along v."""
        return rate_of_change(self._speed, robot, q, v, target)

    def rates(self, robot: Robot, given: Array) -> Array:
        """A velocity or acceleration of the target, in the order of rows."""
        return given

    def entries(self, robot: Robot) -> list[int] | None:
        """If every row of J is one entry of v alone, which; J is then not needed in full."""
        return None

    @property
    def frames(self) -> tuple[str, ...]:
        """Names of the frames it is about: rows of J that are tiny beside those of its frames are rounding."""
        return ()

    # -- what is asked for -------------------------------------------------------------------------------------

    def references(self, robot: Robot) -> dict[str, Shape]:
        """What it is given, and in which shapes: target, velocity, acceleration, as far as it has them."""
        shape, rows = self.target_shape(robot), (self.size(robot),)
        shapes = {} if shape is None else {"target": shape}
        return shapes | ({"velocity": rows, "acceleration": rows} if self.feedforward else {})

    def velocity_rows(self, robot: Robot, q: Array, given: Sequence[Any]) -> tuple[Array, Array, Array]:
        """J, (size, nv), the velocity ẋ* + gain · error that J v is to be, and the error, (size,) each; for a target
        and its velocity, as far as `references` has them."""
        target, *rates = self._with_target(robot, given)
        error, J = self.evaluate(robot, q, target)
        wanted = error * self.per_row("gain", len(error))
        return J, wanted + self.rates(robot, rates[0]) if self.feedforward else wanted, error

    def acceleration_rows(self, robot: Robot, q: Array, v: Array, given: Sequence[Any]) -> tuple[Array, Array]:
        """J, (size, nv), and the acceleration less J̇ v that J a is to be, (size,), for what `references` has."""
        target, *rates = self._with_target(robot, given)
        error, J = self.evaluate(robot, q, target)
        drift = self.drift(robot, q, v, target)
        speed, size = J @ v, len(error)
        stiffness = self.per_row("gain", size) ** 2 if self.stiffness is None else self.per_row("stiffness", size)
        damping = 2.0 * np.sqrt(stiffness) if self.damping is None else self.per_row("damping", size)
        wanted = stiffness * error
        if self.feedforward:
            velocity, acceleration = (self.rates(robot, part) for part in rates)
            wanted, speed = wanted + acceleration, speed - velocity
        return J, wanted - damping * speed - drift

    def weights(self, robot: Robot) -> Array:
        """Of every row."""
        return self.per_row("weight", self.size(robot))

    def check(self, robot: Robot) -> None:
        """Raise where names or sizes do not fit the robot."""
        for frame in self.frames:
            robot.frame(frame)
        for setting in ("weight", "gain", "stiffness", "damping"):
            if getattr(self, setting) is not None:
                self.per_row(setting, self.size(robot))

    def _with_target(self, robot: Robot, given: Sequence[Any]) -> Sequence[Any]:
        """What is given, None before it for a task without a target."""
        return given if self.target_shape(robot) is not None else (None, *given)

    def _speed(self, robot: Robot, q: Array, v: Array, target: Any) -> Array:
        return self.evaluate(robot, q, target)[1] @ v
