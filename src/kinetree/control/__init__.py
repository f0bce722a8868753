"""Controllers: gains in the constructor, controller(q, v, reference) → torques; each one native call a step."""

from kinetree.control.admittance import Admittance
from kinetree.control.cartesian_impedance import CartesianImpedance
from kinetree.control.centroidal_momentum import CentroidalMomentum
from kinetree.control.computed_torque import ComputedTorque
from kinetree.control.gravity import GravityCompensation
from kinetree.control.hybrid import HybridMotionForce
from kinetree.control.joint_impedance import JointImpedance
from kinetree.control.operational_space import OperationalSpace
from kinetree.control.support_consistent import SupportConsistent
from kinetree.control.whole_body.contacts import (
    GroundContact,
    LineContact,
    PointContact,
    SlidingContact,
    SurfaceContact,
)
from kinetree.control.whole_body.controller import WholeBody
from kinetree.control.whole_body.effort_tasks import ForceTask, TorqueTask
from kinetree.control.whole_body.limits import MotionLimits, TorqueLimits, WholeBodyLimit
from kinetree.control.whole_body.motion_tasks import (
    CenterOfMassTask,
    MomentumTask,
    OrientationTask,
    PoseTask,
    PositionTask,
    PostureTask,
)
from kinetree.control.whole_body.step import Step as WholeBodyStep
from kinetree.control.whole_body.task import MotionTask, WholeBodyTask

__all__ = [
    "Admittance",
    "CartesianImpedance",
    "CenterOfMassTask",
    "CentroidalMomentum",
    "ComputedTorque",
    "ForceTask",
    "GravityCompensation",
    "GroundContact",
    "HybridMotionForce",
    "JointImpedance",
    "LineContact",
    "MomentumTask",
    "MotionLimits",
    "MotionTask",
    "OperationalSpace",
    "OrientationTask",
    "PointContact",
    "PoseTask",
    "PositionTask",
    "PostureTask",
    "SlidingContact",
    "SupportConsistent",
    "SurfaceContact",
    "TorqueLimits",
    "TorqueTask",
    "WholeBody",
    "WholeBodyLimit",
    "WholeBodyStep",
    "WholeBodyTask",
]
