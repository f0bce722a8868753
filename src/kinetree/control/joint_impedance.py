"""Joints as springs and dampers."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinetree.control.gains import as_gain, times
from kinetree.control.step import Step
from kinetree.errors import ArgumentError
from kinetree.ops import Array
from kinetree.robot import Robot, as_robot


@final
class JointImpedance(Step):
    """τ = k_p (q* ⊖ q) + k_d (v* - v), and + G(q) with gravity compensation: `controller(q, v, (q_des, v_des))`.

    stiffness   k_p [N m/rad or N/m], damping k_d [N m s/rad or N s/m]: numbers, one for each joint, or matrices
    gravity     whether gravity is compensated; if not, it is what moves the arm away from q* at rest

    Where v_des is not given, it is zero. A floating base gets no effort, and needs gravity=False; gains are then of the
    joints alone.
    """

    def __init__(self, robot: Robot, stiffness: Any, damping: Any, gravity: bool = True) -> None:
        robot = as_robot(robot)
        base = robot.model.floating_base
        if base is not None and gravity:
            raise ArgumentError(
                f"gravity of {robot.name!r} is carried by contacts, which joints alone know nothing of; expected "
                "gravity=False, or SupportConsistent"
            )
        self.gravity, self.first = bool(gravity), 0 if base is None else base.nv
        gains = {"stiffness": stiffness, "damping": damping}
        settings = {name: as_gain(name, value, robot.nv - self.first) for name, value in gains.items()}
        arguments = {"q": ("q",), "v": ("v",), "q_des": ("q",), "v_des": ("v",)}
        arguments |= {name: gain.shape for name, gain in settings.items()}
        self._prepare(robot, arguments, {"v_des": np.zeros(robot.nv)}, settings, (self.gravity,))

    def formula(self, robot: Robot, q: Array, v: Array, q_des: Array, v_des: Array, *gains: Any) -> Array:
        """τ, (nv,)."""
        joints = slice(self.first, None)
        stiffness, damping = gains
        tau = times(stiffness, robot.difference(q, q_des)[joints]) + times(damping, (v_des - v)[joints])
        if self.gravity:
            return tau + robot.gravity_forces(q)
        return np.concatenate([np.zeros(self.first), tau])
