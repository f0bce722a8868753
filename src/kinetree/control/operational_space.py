"""Motion of a frame as if it were a unit mass, whatever hangs on it; what is left over keeps a posture."""

from __future__ import annotations

from typing import Any, final

from kinetree.algorithms.operational_space import TaskInertia
from kinetree.control.frame_controller import FrameController
from kinetree.control.frame_directions import FrameDirections
from kinetree.control.gains import spring_and_damper, times
from kinetree.control.robots import standing
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.robot.constrained import Constrained


@final
class OperationalSpace(FrameController):
    """τ = Jᵀ (Λ ẇ + μ + p) with ẇ = ẇ* + k_p e + k_d ė: `controller(q, v, (pose, velocity, acceleration))`.

    e is the error of the frame in world axes: r* - r, and log(R* Rᵀ). The closed loop is ë + k_d ė + k_p e = 0.

    robot            one with a motor at every joint, or robot.constrained([kt.Contact(…), …]): one on contacts
    task             directions that are controlled: "pose", "position", "orientation", or some of x, y, z, rx, ry, rz
    stiffness        k_p [1/s²], damping k_d [1/s]: numbers, one for each direction, or matrices; 2 √k_p unless given
    posture          to which the rest of the robot goes, with posture_stiffness [1/s²] and posture_damping [1/s],
                     without accelerating the frame: τ₀ = M a₀ in the null space of the task
    regularization   ε: where the robot is nearer to singular than this, Λ is damped, and what accelerates the frame
                     stays below √(1.2/ε) times what it would be in other directions; 0 for never

    The reference is what trajectories give: a pose (4, 4) with 6-vectors, for "position" a point, for "orientation" a
    rotation matrix. Without velocity and acceleration they are zero. Gravity, and what else moves the joints, is
    compensated in the null space too. Khatib 1987. On contacts the rows of the task are J N_c, and torques are those of
    `SupportConsistent`: no effort is asked of a floating base.
    """

    def __init__(
        self,
        robot: Robot | Constrained,
        frame: str,
        stiffness: Any,
        damping: Any = None,
        *,
        task: Any = "pose",
        posture: Any = None,
        posture_stiffness: Any = None,
        posture_damping: Any = None,
        regularization: float = 3e-4,
    ) -> None:
        body, equations = standing(robot, "OperationalSpace")
        chosen = FrameDirections.named(body, frame, task)
        gains = spring_and_damper(stiffness, damping, chosen.size)
        rest = (posture, posture_stiffness, posture_damping)
        self._prepare_frame(body, chosen, gains, rest, regularization, equations)

    def force(self, felt: TaskInertia, error: Array, rate: Array, w: Array, stiffness: Any, damping: Any) -> Array:
        """Λ (w + k_p e + k_d ė)."""
        return felt.force(w + times(stiffness, error) + times(damping, rate))
