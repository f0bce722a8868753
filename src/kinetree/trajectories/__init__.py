"""Motions in time: of points, rotations, poses and joints, with velocities and accelerations; and how to track them."""

from kinetree.trajectories.forces import ForceProfile, ForceState
from kinetree.trajectories.fourier import Fourier
from kinetree.trajectories.joints import JointMove
from kinetree.trajectories.landing import Landing
from kinetree.trajectories.points import Arc, Line, Polynomial, spline
from kinetree.trajectories.poses import PoseMotion, PoseState, pose_line
from kinetree.trajectories.profiles import CUBIC, LINEAR, QUINTIC, Profile, Trapezoid, shortest_duration
from kinetree.trajectories.tracking import tracking_twist
from kinetree.trajectories.trajectory import PointState, Sequence, Trajectory, TurnState
from kinetree.trajectories.turns import Turn
from kinetree.trajectories.walk import Footstep, Phase, SlowWalk, Swing, footsteps

__all__ = [
    "CUBIC", "LINEAR", "QUINTIC", "Arc", "Footstep", "ForceProfile", "ForceState", "Fourier", "JointMove",
    "Landing", "Line", "Phase", "PointState", "Polynomial", "PoseMotion", "PoseState", "Profile", "Sequence",
    "SlowWalk", "Swing", "Trajectory", "Trapezoid", "Turn", "TurnState", "footsteps", "pose_line",
    "shortest_duration", "spline", "tracking_twist",
]  # fmt: skip
