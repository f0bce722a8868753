"""Inverse kinematics: configurations for poses, tasks and limits, and velocities that meet them."""

from kinetree.ik.closed_form import ClosedForm, closed_form, out_of_reach
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
    "ClosedForm",
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
    "closed_form",
    "out_of_reach",
    "velocity",
]
