"""What a robot is asked to do, in differential inverse kinematics and whole-body control; one file for each task."""

from kinetree.tasks.center_of_mass import CenterOfMass
from kinetree.tasks.force import Force
from kinetree.tasks.joint_coupling import JointCoupling
from kinetree.tasks.look_at import LookAt
from kinetree.tasks.momentum import Momentum
from kinetree.tasks.motion import MotionTask
from kinetree.tasks.orientation import Orientation
from kinetree.tasks.pose import Pose
from kinetree.tasks.position import Position
from kinetree.tasks.posture import Posture
from kinetree.tasks.relative_pose import RelativePose
from kinetree.tasks.task import Task
from kinetree.tasks.torque import Torque

__all__ = [
    "CenterOfMass", "Force", "JointCoupling", "LookAt", "Momentum", "MotionTask", "Orientation", "Pose", "Position",
    "Posture", "RelativePose", "Task", "Torque",
]  # fmt: skip
