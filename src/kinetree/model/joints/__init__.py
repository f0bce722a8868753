"""The joints, one file each."""

from kinetree.model.joints.axis import AxisJoint
from kinetree.model.joints.dynamics import JointDynamics
from kinetree.model.joints.fixed import Fixed
from kinetree.model.joints.free import BaseVelocity, Free
from kinetree.model.joints.helical import Helical
from kinetree.model.joints.joint import Joint
from kinetree.model.joints.kinds import JOINTS, register, unregister
from kinetree.model.joints.planar import Planar
from kinetree.model.joints.prismatic import Prismatic
from kinetree.model.joints.revolute import Continuous, Revolute
from kinetree.model.joints.spherical import Spherical
from kinetree.model.joints.universal import Universal

__all__ = [
    "JOINTS",
    "AxisJoint",
    "BaseVelocity",
    "Continuous",
    "Fixed",
    "Free",
    "Helical",
    "Joint",
    "JointDynamics",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Universal",
    "register",
    "unregister",
]
