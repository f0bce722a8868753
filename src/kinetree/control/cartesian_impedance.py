"""A frame on a spring: soft to touch, without a force sensor."""

from __future__ import annotations

from typing import Any, final

from kinetree.algorithms.operational_space import TaskInertia
from kinetree.control.frame_controller import FrameController
from kinetree.control.frame_directions import FrameDirections
from kinetree.control.gains import as_gain, times
from kinetree.control.robots import standing
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.robot.constrained import Constrained


@final
class CartesianImpedance(FrameController):
    """τ = Jᵀ (K e + D ė + Λ ẇ* + μ + p): `controller(q, v, (pose, velocity, acceleration))`.

    The robot keeps its natural inertia Λ: pushed by f, it obeys Λ (ẇ - ẇ*) = K e + D ė + f, and at rest f = -K e (Ott
    2008). Gravity and Coriolis forces are compensated.

    robot            one with a motor at every joint, or robot.constrained([kt.Contact(…), …]): one on contacts
    task             directions that are controlled: "pose", "position", "orientation", or some of x, y, z, rx, ry, rz
    stiffness        K [N/m, N m/rad] and damping D [N s/m, N m s/rad]: numbers, one for each direction, or matrices
    posture          to which the rest of the robot goes, with posture_stiffness [1/s²] and posture_damping [1/s]: in
                     the null space of the task
    regularization   where the robot is nearer to singular than this, Λ is damped; 0 for never
    """

    def __init__(
        self,
        robot: Robot | Constrained,
        frame: str,
        stiffness: Any,
        damping: Any,
        *,
        task: Any = "pose",
        posture: Any = None,
        posture_stiffness: Any = None,
        posture_damping: Any = None,
        regularization: float = 3e-4,
    ) -> None:
        body, equations = standing(robot, "CartesianImpedance")
        chosen = FrameDirections.named(body, frame, task)
        gains = {"stiffness": stiffness, "damping": damping}
        read = {name: as_gain(name, value, chosen.size) for name, value in gains.items()}
        rest = (posture, posture_stiffness, posture_damping)
        self._prepare_frame(body, chosen, read, rest, regularization, equations)

    def force(self, felt: TaskInertia, error: Array, rate: Array, w: Array, stiffness: Any, damping: Any) -> Array:
        """K e + D ė + Λ w."""
        return times(stiffness, error) + times(damping, rate) + felt.force(w)
