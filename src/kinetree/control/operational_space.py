"""Motion of a frame as if it were a unit mass, whatever hangs on it; what is left over keeps a posture."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinetree.control.frame_task import FrameTask
from kinetree.control.gains import as_gain, critical, times
from kinetree.control.posture import Posture, at_rest
from kinetree.control.robots import as_regularization, with_motors
from kinetree.control.step import Step
from kinetree.ops import Array
from kinetree.robot import Robot


@final
class OperationalSpace(Step):
    """τ = Jᵀ (Λ ẇ + μ + p) with ẇ = ẇ* + k_p e + k_d ė: `controller(q, v, (pose, velocity, acceleration))`.

    e is the error of the frame in world axes: r* - r, and log(R* Rᵀ). The closed loop is ë + k_d ė + k_p e = 0.

    task             directions that are controlled: "pose", "position", "orientation", or some of x, y, z, rx, ry, rz
    stiffness        k_p [1/s²], damping k_d [1/s]: numbers, one for each direction, or matrices; 2 √k_p unless given
    posture          to which the rest of the robot goes, with posture_stiffness [1/s²] and posture_damping [1/s],
                     without accelerating the frame: τ₀ = M a₀ in the null space of the task
    regularization   where the robot is nearer to singular than this, Λ is damped and torques stay bounded; 0 for never

    The reference is what trajectories give: a pose (4, 4) with 6-vectors, for "position" a point, for "orientation" a
    rotation matrix. Without velocity and acceleration they are zero. Gravity, and what else moves the joints, is
    compensated in the null space too. Khatib 1987.
    """

    def __init__(
        self,
        robot: Robot,
        frame: str,
        stiffness: Any,
        damping: Any = None,
        *,
        task: Any = "pose",
        posture: Any = None,
        posture_stiffness: Any = None,
        posture_damping: Any = None,
        regularization: float = 1e-4,
    ) -> None:
        robot = with_motors(robot, "OperationalSpace")
        self.task = FrameTask.named(robot, frame, task)
        k_p = as_gain("stiffness", stiffness, self.task.size)
        k_d = critical(k_p) if damping is None else as_gain("damping", damping, self.task.size)
        self.rest, settings = Posture.of(robot, posture, posture_stiffness, posture_damping)
        self.regularization = as_regularization(regularization)
        still = {name: np.zeros(shape) for name, shape in list(self.task.references.items())[1:]}
        arguments: dict[str, Any] = {"q": ("q",), "v": ("v",), **self.task.references}
        arguments |= {"stiffness": k_p.shape, "damping": k_d.shape, **Posture.shapes(settings)}
        presets = {**still, "stiffness": k_p, "damping": k_d, **settings}
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
        """With h = C v + G, τ = Jᵀ Λ (ẇ - J̇ v - J a₀) + M a₀ + h, (nv,)."""
        task = self.task
        J = task.jacobian(robot, q)
        error, rate = task.error(robot, q, target), task.rate(robot, velocity) - J @ v
        w = task.rate(robot, acceleration) + times(stiffness, error) + times(damping, rate) - task.drift(robot, q, v)
        a_0 = self.rest.acceleration(robot, q, v, posture)
        if a_0 is not None:
            w = w - J @ a_0
        force = task.inertia(robot, q, J, self.regularization).force(w)
        return J.T @ force + robot.inverse_dynamics(q, v, at_rest(robot, a_0))
