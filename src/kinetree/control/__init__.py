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

__all__ = [
    "Admittance",
    "CartesianImpedance",
    "CentroidalMomentum",
    "ComputedTorque",
    "GravityCompensation",
    "HybridMotionForce",
    "JointImpedance",
    "OperationalSpace",
    "SupportConsistent",
]
