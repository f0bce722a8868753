"""What files for other viewers hold of a trajectory: times, poses of bodies, shapes, and series of numbers."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError, ArgumentTypeError, KinetreeError, ModelWarning, short
from kinetree.geometry import Surface, surfaces
from kinetree.geometry.ground import placed_shapes
from kinetree.model.geometry import Color
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.rotations import quaternion_from_matrix
from kinetree.simulation.trajectory import Trajectory
from kinetree.simulation.trajectory_files import column_labels
from kinetree.viewer.layers import GREY
from kinetree.viewer.motion import as_motion

WORLD = "world"


def checked_path(path: Any, suffix: str) -> Path:
    """The path of a file with this ending."""
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentTypeError(f"path is {short(path)}; expected the name of a file")
    named = Path(path)
    if named.suffix.lower() != suffix:
        raise ArgumentError(f"path is {str(named)!r}; expected a name that ends with {suffix}")
    return named


@dataclass(frozen=True, eq=False)
class Series:
    """Numbers over time: times (n,) [s], labels of the columns, values (n, k)."""

    name: str
    t: Array
    labels: tuple[str, ...]
    values: Array


class RecordedScene:
    """A trajectory of one state, and the robot that made it if there is one."""

    def __init__(self, trajectory: Trajectory, robot: Robot | None) -> None:
        if trajectory.batch:
            raise ArgumentError(
                f"the trajectory is a batch of shape {trajectory.batch}; expected one: trajectory.state(0) takes one"
            )
        if robot is not None and not isinstance(robot, Robot):
            raise ArgumentTypeError(f"robot is {short(robot)}; expected a robot, such as kt.load gives")
        t = trajectory.t
        rises = np.isfinite(t) & (np.diff(t, prepend=-np.inf) > 0.0) & (t >= 0.0)
        if not len(t) or not rises.all():
            found = f"t[{int(np.argmin(rises))}] is {t[np.argmin(rises)]:g}" if len(t) else "t is empty"
            raise ArgumentError(f"{found}; expected finite times from 0 s on that rise")
        self.trajectory, self.robot, self.t = trajectory, robot, t
        self.poses = None if robot is None else robot.poses(as_motion(robot, (t, trajectory.q)).q)
        """Of every body at every time, (n, nbodies, 4, 4)."""

    def series(self) -> Iterator[Series]:
        """All that was recorded. What belongs to a step has the time at which the step ends."""
        for name, array in self.trajectory.series.items():
            shape = array.shape[1:]
            labels = column_labels(shape, self.trajectory.names.get(name))
            repeated = next((label for k, label in enumerate(labels) if label in labels[:k]), None)
            if repeated is not None:
                raise ArgumentError(f"two entries of {name!r} are called {repeated!r}; expected names that differ")
            yield Series(name, self.t[len(self.t) - len(array) :], labels, array.reshape(len(array), prod(shape)))

    def bodies(self) -> Iterator[tuple[str, Array, Array]]:
        """Name, positions (n, 3) and quaternions (n, 4), xyzw, of every body in the world."""
        if self.robot is not None and self.poses is not None:
            for k, name in enumerate(self.robot.body_names):
                yield name, self.poses[:, k, :3, 3], quaternion_from_matrix(self.poses[:, k, :3, :3])

    def fixed_frames(self) -> Iterator[tuple[str, str, Array, Array]]:
        """The body of every other frame, or the world, its name, and its position (3,) and quaternion (4,) there."""
        if self.robot is not None:
            names = self.robot.model.names
            for frame in self.robot.model.frames:
                if frame.name not in self.robot.body_names and frame.name != WORLD:
                    parent = names[frame.body] if frame.body else WORLD
                    yield parent, frame.name, frame.X.p, quaternion_from_matrix(frame.X.R.T)

    def shapes(self) -> Iterator[tuple[str, str, Surface, Color]]:
        """Of every visual surface its body or the world, a name, its vertices in the body's frame, and a colour."""
        if self.robot is None:
            return
        model, problems = self.robot.model, []
        for k, (frame, pose, geometry) in enumerate(placed_shapes(model, "visual")):
            try:
                parts = surfaces(geometry.shape)
            except KinetreeError as problem:
                problems.append(str(problem))
                continue
            for i, part in enumerate(parts):
                placed = Surface(part.vertices @ pose[:3, :3].T + pose[:3, 3], part.triangles)
                body = model.names[frame.body] if frame.body else WORLD
                yield body, f"{frame.name} {k}.{i}", placed, part.color or geometry.color or GREY
        if problems:
            warnings.warn(f"{problems[0]}; the file has the rest", ModelWarning, stacklevel=2)
