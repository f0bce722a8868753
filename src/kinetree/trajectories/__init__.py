"""Motions in time: of points, rotations, poses and joints, with velocities and accelerations; and how to track them."""

from kinetree.trajectories.joints import JointMove
from kinetree.trajectories.points import Arc, Line, Polynomial, spline
from kinetree.trajectories.poses import PoseMotion, PoseState, pose_line
from kinetree.trajectories.profiles import CUBIC, LINEAR, QUINTIC, Profile, Trapezoid, shortest_duration
from kinetree.trajectories.tracking import tracking_twist
from kinetree.trajectories.trajectory import PointState, Sequence, Trajectory, TurnState
from kinetree.trajectories.turns import Turn

__all__ = [
    "CUBIC",
    "LINEAR",
    "QUINTIC",
    "Arc",
    "JointMove",
    "Line",
    "PointState",
    "Polynomial",
    "PoseMotion",
    "PoseState",
    "Profile",
    "Sequence",
    "Trajectory",
    "Trapezoid",
    "Turn",
    "TurnState",
    "pose_line",
    "shortest_duration",
    "spline",
    "tracking_twist",
]
