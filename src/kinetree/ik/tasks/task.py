"""What all tasks have in common: a quantity x(q) with ẋ = J v, and how fast its error is to vanish."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.base.arguments import as_flag, as_number, as_numbers
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.spatial.exponential import log_quaternion
from kinetree.spatial.packing import unpack
from kinetree.spatial.rotation import quaternion_from_matrix


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """A task asks for J v = gain · error, with error = target - x where x is a vector; of rotations, the rotation
    vector that takes the one to the other.

    weight        of the residual J v - gain · error, a number or one for every row, among tasks of one priority
    gain          with which the error decays [1/s]
    priority      tasks with a smaller number come first, and are not touched by those that come after
    feedforward   whether the target's own velocity is also given, right after the target; it is added to gain · error.
                  Those of poses and of momentum are 6-vectors, in the robot's order
    """

    weight: float | tuple[float, ...] = 1.0
    gain: float = 10.0
    priority: int = 0
    feedforward: bool = False

    def __post_init__(self) -> None:
        weight = as_numbers("weight", self.weight)
        object.__setattr__(self, "weight", weight)
        object.__setattr__(self, "gain", as_number("gain", self.gain))
        object.__setattr__(self, "feedforward", as_flag("feedforward", self.feedforward))
        if not np.size(weight) or np.min(weight) < 0.0 or not np.isfinite(weight).all():
            raise ArgumentError(f"weight is {short(self.weight)}; expected positive numbers, or zero")
        if not math.isfinite(self.gain) or self.gain < 0.0:
            raise ArgumentError(f"gain is {self.gain:g}; expected a positive number [1/s], or zero")
        if isinstance(self.priority, bool) or not isinstance(self.priority, (int, np.integer)):
            raise ArgumentTypeError(f"priority is {short(self.priority)}; expected an integer, smaller ones first")
        object.__setattr__(self, "priority", int(self.priority))

    @abstractmethod
    def size(self, robot: Robot) -> int:
        """How many rows it has."""

    @abstractmethod
    def target_shape(self, robot: Robot) -> tuple[int, ...] | None:
        """Of the target; None for a task that needs none."""

    @abstractmethod
    def evaluate(self, robot: Robot, q: Array, target: Any) -> tuple[Array, Array]:
        """The error, (size,), and J, (size, nv)."""

    def rates(self, robot: Robot, given: Array) -> Array:
        """The velocity of a target, in the order of rows."""
        return given

    def weights(self, robot: Robot) -> Array:
        """Of every row."""
        size = self.size(robot)
        if isinstance(self.weight, tuple) and len(self.weight) != size:
            raise ArgumentError(
                f"weight of {self} has {len(self.weight)} numbers; expected one, or {size} for its rows"
            )
        return np.broadcast_to(np.asarray(self.weight, dtype=float), (size,))

    def check(self, robot: Robot) -> None:
        """Raise where names or sizes do not fit the robot."""
        self.weights(robot)


def linear_and_angular(robot: Robot, frame: str, q: Array) -> tuple[Array, Array]:
    """Rows of a frame's Jacobian in world axes at its origin, (3, nv) each."""
    J = robot.frame(frame).jacobian(q)
    return (J[:3], J[3:]) if robot.model.spatial_order == "linear-first" else (J[3:], J[:3])


def rotation_error(R_target: Array, R: Array) -> Array:
    """log(R_target Rᵀ), (3,) [rad]: the rotation vector in world axes that takes R to the target."""
    return log_quaternion(quaternion_from_matrix(R_target @ R.T))


def linear_first(robot: Robot, given: Array) -> Array:
    """A 6-vector, in the robot's order, as rows of which the linear ones come first."""
    return np.concatenate(unpack(given, robot.model.spatial_order))
