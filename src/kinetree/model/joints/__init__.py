"""The joints, one file each."""

from kinetree.model.joints.axis import AxisJoint
from kinetree.model.joints.dynamics import JointDynamics
from kinetree.model.joints.fixed import Fixed
from kinetree.model.joints.free import BaseVelocity, Free
from kinetree.model.joints.joint import Joint
from kinetree.model.joints.prismatic import Prismatic
from kinetree.model.joints.revolute import Continuous, Revolute

__all__ = [
    "AxisJoint",
    "BaseVelocity",
    "Continuous",
    "Fixed",
    "Free",
    "Joint",
    "JointDynamics",
    "Prismatic",
    "Revolute",
]
