"""Inverse dynamics for robots that stand: torques that need no effort at the base, and what may be added to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from kinetree.control.controller import Controller
from kinetree.control.gains import spring_and_damper, times
from kinetree.errors import ArgumentTypeError, short
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.robot.constrained import Constrained


@final
class SupportConsistent(Controller):
    """τ = (N_cᵀ Sᵀ)⁺ N_cᵀ (M a + b + g) + (1 - (N_cᵀ Sᵀ)⁺ N_cᵀ Sᵀ) τ₀ with a = a* + k_p (q* ⊖ q) + k_d (v* - v):
    `controller(q, v, (q_des, v_des, a_des, tau_0))`.

    The torques nearest to τ₀ among those that produce the accelerations as far as the contacts allow. Contacts push and
    pull; friction cones are not considered.

    stance      the robot on its contacts: robot.constrained([kt.Contact("left_foot"), …])
    stiffness   k_p [1/s²], damping k_d [1/s]: numbers, one for each entry of v, or matrices; 2 √k_p unless given

    Where v_des, a_des or tau_0 is not given, it is zero. The result has nv entries, zeros where there is no motor.
    """

    def __init__(self, stance: Constrained, stiffness: Any, damping: Any = None) -> None:
        stance = as_stance(stance)
        robot = stance.robot
        gains = spring_and_damper(stiffness, damping, robot.nv)
        self.equations = stance.equations
        arguments = {"q": ("q",), "v": ("v",), "q_des": ("q",), **dict.fromkeys(("v_des", "a_des", "tau_0"), ("v",))}
        still = dict.fromkeys(("v_des", "a_des", "tau_0"), np.zeros(robot.nv))
        self._prepare(robot, arguments, still, gains, (self.equations,))

    def formula(
        self, robot: Robot, q: Array, v: Array, q_des: Array, v_des: Array, a_des: Array, tau_0: Array,
        stiffness: Any, damping: Any,
    ) -> Array:  # fmt: skip
        """τ, (nv,)."""
        a = a_des + times(stiffness, robot.difference(q, q_des)) + times(damping, v_des - v)
        return torques(Constrained(robot, self.equations), q, v, a, tau_0)


def torques(
    stance: Constrained, q: Array, v: Array, a: Array, tau_0: Array, wrenches: Mapping[str, Any] | None = None
) -> Array:
    """Those of the joints; what no torque can give is not asked of the base."""
    tau = stance.nearest_torques(q, v, a, tau_0, wrenches)[0].copy()
    tau[np.setdiff1d(np.arange(stance.robot.nv), stance.equations.actuated)] = 0.0
    return tau


def as_stance(stance: Any) -> Constrained:
    """A robot on contacts, or one sentence."""
    if not isinstance(stance, Constrained):
        raise ArgumentTypeError(f"stance is {short(stance)}; expected a robot on contacts, as robot.constrained gives")
    return stance
