"""Inverse kinematics: tasks and limits, and velocities that meet them."""

from kinetree.ik.differential import DifferentialIK, Step, velocity
from kinetree.ik.limits import Limits
from kinetree.ik.tasks import (
    CenterOfMass,
    CentroidalMomentum,
    JointCoupling,
    LookAt,
    Orientation,
    Pose,
    Position,
    Posture,
    RelativePose,
    Task,
)

__all__ = [
    "CenterOfMass",
    "CentroidalMomentum",
    "DifferentialIK",
    "JointCoupling",
    "Limits",
    "LookAt",
    "Orientation",
    "Pose",
    "Position",
    "Posture",
    "RelativePose",
    "Step",
    "Task",
    "velocity",
]
