"""Inverse kinematics: configurations for poses, tasks and limits, and velocities that meet them."""

from kinetree.ik.closed_form import ClosedForm, closed_form, out_of_reach
from kinetree.ik.differential import DifferentialIK, Step, velocity
from kinetree.ik.limits import Limits
from kinetree.tasks import (
    CenterOfMass,
    JointCoupling,
    LookAt,
    Momentum,
    MotionTask,
    Orientation,
    Pose,
    Position,
    Posture,
    RelativePose,
    Task,
)

__all__ = [
    "CenterOfMass", "ClosedForm", "DifferentialIK", "JointCoupling", "Limits", "LookAt", "Momentum", "MotionTask",
    "Orientation", "Pose", "Position", "Posture", "RelativePose", "Step", "Task", "closed_form", "out_of_reach",
    "velocity",
]  # fmt: skip
