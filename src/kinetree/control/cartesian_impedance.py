"""A frame on a spring: soft to touch, without a force sensor."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinetree.control.frame_task import FrameTask
from kinetree.control.gains import as_gain, times
from kinetree.control.posture import Posture, at_rest
from kinetree.control.robots import as_regularization, with_motors
from kinetree.control.step import Step
from kinetree.ops import Array
from kinetree.robot import Robot


@final
class CartesianImpedance(Step):
    """τ = Jᵀ (K e + D ė + Λ ẇ* + μ + p): `controller(q, v, (pose, velocity, acceleration))`.

    The robot keeps the inertia Λ that it has: pushed by f, it gives way as Λ (ẇ - ẇ*) = K e + D ė + f says, and at rest
    f = -K e (Ott 2008). Gravity and Coriolis forces are compensated.

    task             directions that are controlled: "pose", "position", "orientation", or some of x, y, z, rx, ry, rz
    stiffness        K [N/m, N m/rad] and damping D [N s/m, N m s/rad]: numbers, one for each direction, or matrices
    posture          to which the rest of the robot goes, with posture_stiffness [1/s²] and posture_damping [1/s]: in
                     the null space of the task
    regularization   where the robot is nearer to singular than this, Λ is damped; 0 for never
    """

    def __init__(
        self,
        robot: Robot,
        frame: str,
        stiffness: Any,
        damping: Any,
        *,
        task: Any = "pose",
        posture: Any = None,
        posture_stiffness: Any = None,
        posture_damping: Any = None,
        regularization: float = 1e-4,
    ) -> None:
        robot = with_motors(robot, "CartesianImpedance")
        self.task = FrameTask.named(robot, frame, task)
        K, D = (as_gain(n, x, self.task.size) for n, x in (("stiffness", stiffness), ("damping", damping)))
        self.rest, settings = Posture.of(robot, posture, posture_stiffness, posture_damping)
        self.regularization = as_regularization(regularization)
        still = {name: np.zeros(shape) for name, shape in list(self.task.references.items())[1:]}
        arguments: dict[str, Any] = {"q": ("q",), "v": ("v",), **self.task.references}
        arguments |= {"stiffness": K.shape, "damping": D.shape, **Posture.shapes(settings)}
        presets = {**still, "stiffness": K, "damping": D, **settings}
        self._prepare(robot, arguments, presets, (self.task, self.rest, self.regularization))

    def formula(
        self,
        robot: Robot,
        q: Array,
        v: Array,
        target: Any,
        velocity: Any,
        acceleration: Any,
        stiffness: Any,
        damping: Any,
        *posture: Any,
    ) -> Array:
        """With h = C v + G, τ = Jᵀ (K e + D ė + Λ (ẇ* - J̇ v - J a₀)) + M a₀ + h, (nv,)."""
        task = self.task
        J = task.jacobian(robot, q)
        spring = times(stiffness, task.error(robot, q, target))
        damper = times(damping, task.rate(robot, velocity) - J @ v)
        w = task.rate(robot, acceleration) - task.drift(robot, q, v)
        a_0 = self.rest.acceleration(robot, q, v, posture)
        if a_0 is not None:
            w = w - J @ a_0
        force = spring + damper + task.inertia(robot, q, J, self.regularization).force(w)
        return J.T @ force + robot.inverse_dynamics(q, v, at_rest(robot, a_0))
