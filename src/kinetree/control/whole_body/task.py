"""What all tasks of whole-body control have in common: rows A x = b of accelerations, contact forces or torques."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.base.arguments import as_flag, as_number, as_numbers
from kinetree.control.whole_body.dynamics import Dynamics
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.ops import Array
from kinetree.robot import Robot

Shape = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class WholeBodyTask(ABC):
    """A task is met where A x = b; residuals A x - b are weighed against those of other tasks.

    weight     of the residual, a number or one for every row, among tasks of one priority
    priority   tasks with a smaller number come first, and are not touched by those that come after
    hard       whether it must be met: there is then no solution if it cannot be
    name       in references, weights and errors
    """

    weight: float | tuple[float, ...] = 1.0
    priority: int = 0
    hard: bool = False
    name: str | None = None

    def __post_init__(self) -> None:
        weight = as_numbers("weight", self.weight)
        object.__setattr__(self, "weight", weight)
        if not np.size(weight) or not np.isfinite(weight).all() or np.min(weight) < 0.0:
            raise ArgumentError(f"weight is {short(self.weight)}; expected positive numbers, or zero")
        if isinstance(self.priority, bool) or not isinstance(self.priority, (int, np.integer)):
            raise ArgumentTypeError(f"priority is {short(self.priority)}; expected an integer, smaller ones first")
        object.__setattr__(self, "priority", int(self.priority))
        object.__setattr__(self, "hard", as_flag("hard", self.hard))
        object.__setattr__(self, "name", self.default_name if self.name is None else str(self.name))

    @property
    @abstractmethod
    def default_name(self) -> str:
        """Unless another is given."""

    @abstractmethod
    def size(self, dynamics: Dynamics) -> int:
        """How many rows it has."""

    @abstractmethod
    def references(self, dynamics: Dynamics) -> dict[str, Shape]:
        """What a step is given for it, and in which shapes."""

    @abstractmethod
    def rows(self, dynamics: Dynamics, state: Any, given: list[Array]) -> tuple[Array, Array]:
        """A, (size, n), and b, (size,), for what `references` says."""

    def entries(self, dynamics: Dynamics) -> list[int] | None:
        """If every row is one variable alone, which; A is then not needed in full."""
        return None

    def check(self, dynamics: Dynamics) -> None:
        """Raise where names or sizes do not fit."""
        size = self.size(dynamics)
        if isinstance(self.weight, tuple) and len(self.weight) != size:
            raise ArgumentError(
                f"weight of task {self.name!r} has {len(self.weight)} numbers; expected one, or {size} for its rows"
            )

    def weights(self, dynamics: Dynamics) -> Array:
        """Of every row."""
        return np.broadcast_to(np.asarray(self.weight, dtype=float), (self.size(dynamics),))


@dataclass(frozen=True, kw_only=True)
class MotionTask(WholeBodyTask):
    """A quantity x(q) with ẋ = J v that is to move like a mass on a spring and a damper:

        J a + J̇ v = ẍ* + stiffness · (x* - x) + damping · (ẋ* - J v)

    stiffness     [1/s²]
    damping       [1/s]; 2 √stiffness, without overshoot, unless it is given
    feedforward   whether references also have ẋ* and ẍ*, (size,) each, in world axes; else they are zero. Those of
                  poses are 6-vectors, in the robot's order
    """

    stiffness: float = 100.0
    damping: float | None = None
    feedforward: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        stiffness = as_number("stiffness", self.stiffness)
        damping = 2.0 * math.sqrt(max(stiffness, 0.0)) if self.damping is None else as_number("damping", self.damping)
        for name, number in (("stiffness", stiffness), ("damping", damping)):
            if not 0.0 <= number < math.inf:
                raise ArgumentError(f"{name} of task {self.name!r} is {number:g}; expected a positive number, or zero")
            object.__setattr__(self, name, number)
        object.__setattr__(self, "feedforward", as_flag("feedforward", self.feedforward))

    @abstractmethod
    def target_shape(self, robot: Robot) -> Shape:
        """Of x*."""

    @abstractmethod
    def evaluate(self, robot: Robot, q: Array, v: Array, target: Any) -> tuple[Array, Array, Array]:
        """x* - x and J̇ v, (size,), and J, (size, nv)."""

    def references(self, dynamics: Dynamics) -> dict[str, Shape]:
        shapes = {"target": self.target_shape(dynamics.robot)}
        if self.feedforward:
            size = self.size(dynamics)
            shapes |= {"velocity": (size,), "acceleration": (size,)}
        return shapes

    def rates(self, robot: Robot, given: Array) -> Array:
        """A velocity or acceleration of a reference, in the order of rows."""
        return given

    def rows(self, dynamics: Dynamics, state: Any, given: list[Array]) -> tuple[Array, Array]:
        error, drift, J = self.evaluate(state.robot, state.q, state.v, given[0])
        speed = J @ state.v
        wanted = self.stiffness * error
        if self.feedforward:
            velocity, acceleration = (self.rates(state.robot, part) for part in given[1:])
            wanted, speed = wanted + acceleration, speed - velocity
        return dynamics.of_accelerations(J, state.q), wanted - self.damping * speed - drift
