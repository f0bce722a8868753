"""Joints as springs and dampers."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinetree.control.controller import Controller
from kinetree.control.gains import as_gain, times
from kinetree.control.robots import without_motor
from kinetree.errors import ArgumentError
from kinetree.ops import Array, zeros
from kinetree.robot import Robot, as_robot


@final
class JointImpedance(Controller):
    """τ = k_p (q* ⊖ q) + k_d (v* - v), and + G(q) with gravity compensation: `controller(q, v, (q_des, v_des))`.

    stiffness   k_p [N m/rad or N/m], damping k_d [N m s/rad or N s/m]: numbers, one for each joint, or matrices
    gravity     whether gravity is compensated; if not, it is what moves the arm away from q* at rest

    Where v_des is not given, it is zero. A floating base, as any free joint, has no motor: it gets no effort, and needs
    gravity=False; gains are then of the joints that have one.
    """

    def __init__(self, robot: Robot, stiffness: Any, damping: Any, gravity: bool = True) -> None:
        robot = as_robot(robot)
        loose = without_motor(robot)
        if loose is not None and gravity:
            raise ArgumentError(
                f"{loose} of {robot.name!r} has no motor: its gravity is carried by contacts, which joints alone know "
                "nothing of; expected gravity=False, or SupportConsistent"
            )
        self.gravity = bool(gravity)
        gains = {"stiffness": stiffness, "damping": damping}
        settings = {name: as_gain(name, value, len(robot.model.actuated)) for name, value in gains.items()}
        arguments = {"q": ("q",), "v": ("v",), "q_des": ("q",), "v_des": ("v",)}
        self._prepare(robot, arguments, {"v_des": np.zeros(robot.nv)}, settings, (self.gravity,))

    def formula(self, robot: Robot, q: Array, v: Array, q_des: Array, v_des: Array, *gains: Any) -> Array:
        """τ, (nv,)."""
        motors = list(robot.model.actuated)
        stiffness, damping = gains
        tau = zeros(robot.nv, q)
        tau[motors] = times(stiffness, robot.difference(q, q_des)[motors]) + times(damping, (v_des - v)[motors])
        return tau + robot.gravity_forces(q) if self.gravity else tau
