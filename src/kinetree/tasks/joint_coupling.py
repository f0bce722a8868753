"""Joints that move together: a sum of joint positions that stays what it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.base.arguments import as_number
from kinetree.errors import ArgumentError, ArgumentTypeError, known, short
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.tasks.motion import MotionTask


@final
@dataclass(frozen=True)
class JointCoupling(MotionTask):
    """Σ c q = offset of joints with one coordinate, by pairs or a dict, {"left": 1, "right": -1}: one row."""

    terms: tuple[tuple[str, float], ...]
    offset: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        given = tuple(self.terms.items()) if isinstance(self.terms, dict) else self.terms
        pairs = given if isinstance(given, (list, tuple)) else ()
        if not pairs or not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs):
            expected = "joints and their factors, {'a': 1, 'b': -1}"
            raise ArgumentTypeError(f"terms is {short(self.terms)}; expected {expected}")
        object.__setattr__(self, "terms", tuple((name, as_number("a factor of terms", c)) for name, c in pairs))
        object.__setattr__(self, "offset", as_number("offset", self.offset))
        for name, number in (*self.terms, ("offset", self.offset)):
            if not math.isfinite(number):
                raise ArgumentError(f"{name!r} of a coupling has {number:g}; expected a finite number")

    def check(self, robot: Robot) -> None:
        super().check(robot)
        owners = {joint.name: joint for joint in robot.model.owners if joint is not robot.model.floating_base}
        for name, _ in self.terms:
            if owners[known("joint", name, owners)].nq != 1:
                raise ArgumentError(f"joint {name!r} has {owners[name].nq} positions; expected joints that have one")

    def size(self, robot: Robot) -> int:
        return 1

    def target_shape(self, robot: Robot) -> None:
        return None

    def evaluate(self, robot: Robot, q: Array, target: Any) -> tuple[Array, Array]:
        owners = {joint.name: joint for joint in robot.model.owners}
        J = np.zeros((1, robot.nv))
        total: Any = 0.0
        for name, c in self.terms:
            joint = owners[name]
            total = total + c * q[joint.iq]
            J[0, joint.iv] += c
        return np.array([self.offset - total]), J
