"""What a robot is asked to do, one file for each kind of task."""

from kinetree.ik.tasks.center_of_mass import CenterOfMass
from kinetree.ik.tasks.coupling import JointCoupling
from kinetree.ik.tasks.look_at import LookAt
from kinetree.ik.tasks.momentum import CentroidalMomentum
from kinetree.ik.tasks.orientation import Orientation
from kinetree.ik.tasks.pose import Pose
from kinetree.ik.tasks.position import Position
from kinetree.ik.tasks.posture import Posture
from kinetree.ik.tasks.relative import RelativePose
from kinetree.ik.tasks.task import Task

__all__ = [
    "CenterOfMass",
    "CentroidalMomentum",
    "JointCoupling",
    "LookAt",
    "Orientation",
    "Pose",
    "Position",
    "Posture",
    "RelativePose",
    "Task",
]
