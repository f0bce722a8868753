"""Motions of a frame: that of its origin together with that of its axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from kinetree.base.arguments import as_constant
from kinetree.errors import ArgumentError, ArgumentTypeError, one_of, short
from kinetree.ops import Array, is_scalar_array, zeros
from kinetree.spatial.packing import SPATIAL_ORDERS, SpatialOrder, pack_last
from kinetree.trajectories.points import Line
from kinetree.trajectories.profiles import Profile
from kinetree.trajectories.trajectory import PointState, Trajectory, TurnState
from kinetree.trajectories.turns import Turn


class PoseState(NamedTuple):
    """A pose (…, 4, 4), its world-aligned velocity and classical acceleration (…, 6) [m/s, rad/s, m/s², rad/s²]."""

    pose: Any
    velocity: Any
    acceleration: Any


@final
@dataclass(frozen=True, eq=False)
class PoseMotion(Trajectory):
    """A motion of a point combined with a rotation; the shorter one rests at its end."""

    position: Trajectory
    rotation: Trajectory
    spatial_order: SpatialOrder = "linear-first"

    def __post_init__(self) -> None:
        one_of("spatial_order", self.spatial_order, SPATIAL_ORDERS)
        for name, kind in (("position", PointState), ("rotation", TurnState)):
            part = getattr(self, name)
            if not isinstance(part, Trajectory) or not isinstance(part.at(0.0), kind):
                raise ArgumentTypeError(f"{name} is {short(part)}; expected a trajectory of {name}s")
        object.__setattr__(self, "duration", max(self.position.duration, self.rotation.duration))

    def at(self, t: Any) -> PoseState:
        """The pose and its rates."""
        point, turn = self.position(t), self.rotation(t)
        pose = zeros((*np.shape(point.position)[:-1], 4, 4), point.position, turn.rotation)
        pose[..., :3, :3], pose[..., :3, 3], pose[..., 3, 3] = turn.rotation, point.position, 1.0
        rates = zip(point[1:], turn[1:], strict=True)
        return PoseState(pose, *(pack_last(linear, angular, self.spatial_order) for linear, angular in rates))


def pose_line(
    start: Any,
    end: Any,
    duration: float,
    profile: Profile | str = "quintic",
    spatial_order: SpatialOrder = "linear-first",
) -> PoseMotion:
    """A motion from pose to pose, (4, 4): the origin along a line, the axes about one axis (slerp)."""
    T0, T1 = as_pose("start", start), as_pose("end", end)
    line, turn = Line(T0[:3, 3], T1[:3, 3], duration, profile), Turn(T0[:3, :3], T1[:3, :3], duration, profile)
    return PoseMotion(line, turn, spatial_order)


def as_pose(name: str, value: Any) -> Array:
    """A homogeneous matrix; its rotation is looked at by those who use it."""
    pose = np.asarray(value) if is_scalar_array(value) else as_constant(name, value, (4, 4))
    if pose.shape != (4, 4):
        raise ArgumentError(f"{name} has shape {pose.shape}; expected a pose, (4, 4)")
    return pose
