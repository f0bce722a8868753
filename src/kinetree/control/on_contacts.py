"""A robot that stands on contacts, for controllers of a frame: how it accelerates, and with which torques."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinetree.algorithms.constraints import DelassusOperator
from kinetree.control.support_consistent import torques
from kinetree.model.constraints import ConstraintSet
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.robot.constrained import Constrained


class OnContacts:
    """a = a₀ + M⁻¹ N_cᵀ Jᵀ F, the accelerations that contacts allow of a₀ and of a force F at a task with rows J.

    J N_c is what is left of the task when contacts are held: A = J N_c M⁻¹ Jᵀ of it (Sentis and Khatib 2005), and the
    torques are those of `SupportConsistent` (Righetti et al. 2011).
    """

    def __init__(self, robot: Robot, equations: ConstraintSet, q: Array, v: Array, a_0: Array, J: Array) -> None:
        self.stance, self.q, self.v = Constrained(robot, equations), q, v
        J_c, gamma = self.stance.jacobian(q), self.stance.bias(q, v)
        self.felt = DelassusOperator(robot.mass_matrix(q), J_c, equations.damping, equations.blocks)
        self.a = a_0 + self.felt.answer(np.zeros(robot.nv), gamma + J_c @ a_0)[0]
        """Nearest to a₀ in kinetic energy."""
        removed, _ = self.felt.answer(J.T, np.zeros((len(J_c), len(J))))  # M⁻¹ N_cᵀ Jᵀ
        self.moved = removed
        self.J = J @ self.stance.projector(q)

    def torques(self, force: Array, wrenches: Mapping[str, Any] | None = None) -> Array:
        """Those of the motors for the accelerations that a force at the task gives, against wrenches on the robot."""
        return torques(self.stance, self.q, self.v, self.a + self.moved @ force, np.zeros(len(self.a)), wrenches)
