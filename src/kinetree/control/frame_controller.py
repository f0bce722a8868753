"""What controllers of a frame's motion have in common: errors in world axes, Λ, and a posture in the null space."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from kinetree.algorithms.operational_space import TaskInertia
from kinetree.control.controller import Controller
from kinetree.control.frame_directions import FrameDirections
from kinetree.control.on_contacts import OnContacts
from kinetree.control.rest_posture import RestPosture, at_rest
from kinetree.control.robots import as_regularization
from kinetree.model.constraints import ConstraintSet
from kinetree.ops import Array
from kinetree.robot import Robot


class FrameController(Controller):
    """Forces at a frame from its errors; the rest of the robot goes to a posture without moving it."""

    task: FrameDirections
    rest: RestPosture
    regularization: float
    equations: ConstraintSet | None
    """What the robot stands on."""

    def _prepare_frame(
        self, robot: Robot, task: FrameDirections, gains: dict[str, Array], posture: tuple[Any, Any, Any],
        regularization: Any, equations: ConstraintSet | None,
    ) -> None:  # fmt: skip
        """With the gains by name, posture, its stiffness and its damping as they were given, and what the robot stands
        on."""
        self.equations = equations
        self.task, self.regularization = task, as_regularization(regularization)
        self.rest, settings = RestPosture.of(robot, *posture)
        references = task.references(robot)
        still = {name: np.zeros(shape) for name, shape in list(references.items())[1:]}
        arguments: dict[str, Any] = {"q": ("q",), "v": ("v",), **references}
        arguments |= {name: value.shape for name, value in gains.items()} | RestPosture.shapes(settings)
        self._prepare(robot, arguments, still, {**gains, **settings}, (task, self.rest, self.regularization, equations))

    @abstractmethod
    def force(self, felt: TaskInertia, error: Array, rate: Array, w: Array, stiffness: Any, damping: Any) -> Array:
        """F at the frame, for errors e and ė and the acceleration w = ẇ* - J̇ v - J a₀ that Λ is to give."""

    def formula(
        self, robot: Robot, q: Array, v: Array, target: Any, velocity: Any, acceleration: Any, stiffness: Any,
        damping: Any, *posture: Any,
    ) -> Array:  # fmt: skip
        """τ = Jᵀ F + M a₀ + C v + G, (nv,); on contacts, the torques that give M⁻¹ N_cᵀ Jᵀ F + a₀ as they allow."""
        task = self.task
        error, J = task.evaluate(robot, q, target)
        rate = task.rate(robot, velocity) - J @ v
        w = task.rate(robot, acceleration) - task.drift(robot, q, v)
        a_0 = self.rest.acceleration(robot, q, v, posture)
        if self.equations is not None:
            body = OnContacts(robot, self.equations, q, v, at_rest(robot, a_0), J)
            felt = task.inertia(robot, q, body.J, self.regularization)
            return body.torques(self.force(felt, error, rate, w - J @ body.a, stiffness, damping))
        if a_0 is not None:
            w = w - J @ a_0
        felt = task.inertia(robot, q, J, self.regularization)
        force = self.force(felt, error, rate, w, stiffness, damping)
        return J.T @ force + robot.inverse_dynamics(q, v, at_rest(robot, a_0))
