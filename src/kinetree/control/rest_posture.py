"""What a robot does with the freedom that a task leaves: it goes to a posture, and comes to rest there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.control.gains import as_gain, as_posture, spring_and_damper, times
from kinetree.errors import ArgumentError
from kinetree.ops import Array
from kinetree.robot import Robot


@dataclass(frozen=True)
class RestPosture:
    """Accelerations a₀ = k_p (q* ⊖ q) - k_d v, or -k_d v alone, or zero."""

    has_spring: bool
    has_damper: bool

    @staticmethod
    def of(robot: Robot, posture: Any, stiffness: Any, damping: Any) -> tuple[RestPosture, dict[str, Array]]:
        """With its settings by name; gains are [1/s²] and [1/s]."""
        settings: dict[str, Array] = {}
        if (posture is None) != (stiffness is None):
            missing, given = ("posture", "posture_stiffness") if posture is None else ("posture_stiffness", "posture")
            raise ArgumentError(f"{given} is given and {missing} is not; expected both or none")
        if posture is not None:
            settings["posture"] = as_posture(posture, robot.nq)
            settings |= spring_and_damper(stiffness, damping, robot.nv, "posture_")
        elif damping is not None:
            settings["posture_damping"] = as_gain("posture_damping", damping, robot.nv)
        return RestPosture("posture" in settings, "posture_damping" in settings), settings

    @staticmethod
    def shapes(settings: dict[str, Array]) -> dict[str, Any]:
        """Of the arguments that the settings are."""
        return {name: ("q",) if name == "posture" else value.shape for name, value in settings.items()}

    def acceleration(self, robot: Robot, q: Array, v: Array, settings: Any) -> Array | None:
        """a₀, (nv,), or None if there is nothing to do."""
        given = list(settings)
        if not self.has_damper:
            return None
        a = -times(given[-1], v)
        return a + times(given[1], robot.difference(q, given[0])) if self.has_spring else a


def at_rest(robot: Robot, a: Array | None) -> Array:
    """a₀, or zeros."""
    return np.zeros(robot.nv) if a is None else a
