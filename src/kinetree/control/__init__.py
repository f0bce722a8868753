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
from kinetree.control.whole_body.limits import MotionLimits, TorqueLimits, WholeBodyLimit
from kinetree.control.whole_body.whole_body_step import WholeBodyStep
from kinetree.tasks import (
    CenterOfMass,
    Force,
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
    Torque,
)

__all__ = [
    "Admittance", "CartesianImpedance", "CenterOfMass", "CentroidalMomentum", "ComputedTorque", "Force",
    "GravityCompensation", "GroundContact", "HybridMotionForce", "JointCoupling", "JointImpedance", "LineContact",
    "LookAt", "Momentum", "MotionLimits", "MotionTask", "OperationalSpace", "Orientation", "PointContact", "Pose",
    "Position", "Posture", "RelativePose", "SlidingContact", "SupportConsistent", "SurfaceContact", "Task",
    "Torque", "TorqueLimits", "WholeBody", "WholeBodyLimit", "WholeBodyStep",
]  # fmt: skip
