"""Inverse dynamics in a loop: joints that behave like unit masses on springs, whatever the robot weighs."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinetree.control.controller import Controller
from kinetree.control.gains import spring_and_damper, times
from kinetree.control.robots import with_motors
from kinetree.ops import Array
from kinetree.robot import Robot


@final
class ComputedTorque(Controller):
    """τ = M a + C v + G with a = a* + k_p (q* ⊖ q) + k_d (v* - v): `controller(q, v, (q_des, v_des, a_des))`.

    The closed loop is ë + k_d ė + k_p e = 0 for the error e = q* - q.

    stiffness   k_p [1/s²], damping k_d [1/s]: numbers, one for each joint, or matrices; damping is 2 √k_p unless given

    v_des and a_des are zero by default. Damping, friction and springs of the model are compensated.
    """

    def __init__(self, robot: Robot, stiffness: Any, damping: Any = None) -> None:
        robot = with_motors(robot, "ComputedTorque")
        gains = spring_and_damper(stiffness, damping, robot.nv)
        arguments: dict[str, Any] = {"q": ("q",), "v": ("v",), "q_des": ("q",), "v_des": ("v",), "a_des": ("v",)}
        rest = np.zeros(robot.nv)
        self._prepare(robot, arguments, {"v_des": rest, "a_des": rest}, gains)

    def formula(
        self, robot: Robot, q: Array, v: Array, q_des: Array, v_des: Array, a_des: Array, stiffness: Any, damping: Any
    ) -> Array:
        """τ, (nv,)."""
        a = a_des + times(stiffness, robot.difference(q, q_des)) + times(damping, v_des - v)
        return robot.inverse_dynamics(q, v, a)
