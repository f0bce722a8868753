"""Where one robot is shown: a node of the scene for every body, moved to where the body is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinetree.geometry import Ground
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.rotations import matrix_from_quaternion, quaternion_from_matrix

SMALLEST = 0.1
"""A robot counts as at least this large [m]."""
FARTHEST = 1e5
"""Where a page may drag something to, along each axis [m]."""


@dataclass(frozen=True, eq=False)
class State:
    """A configuration, its velocity, and the forces of the environment on frames, (6,) or (3,), in world axes."""

    q: Array
    v: Array
    wrenches: Mapping[str, Array] = field(default_factory=dict)


class Stage:
    """The nodes of one robot below /name, and what all that is shown with it needs to know."""

    def __init__(self, server: Any, robot: Robot, name: str, ground: Ground, state: State, offset: Array) -> None:
        self.server, self.scene, self.robot, self.name, self.ground = server, server.scene, robot, name, ground
        self.root = f"/{_plain(name)}"
        self.state = state
        self.base = self.scene.add_frame(self.root, show_axes=False, position=tuple(offset))
        self.paths = [f"{self.root}/{k}_{_plain(body)}" for k, body in enumerate(robot.model.names)]
        self.bodies = [self.scene.add_frame(path, show_axes=False) for path in self.paths]
        low, high = self.extent()
        self.size = max(float(np.linalg.norm(high - low)), SMALLEST)
        self.place(state)

    @property
    def offset(self) -> Array:
        """Where its world is in the scene, (3,) [m]."""
        return np.asarray(self.base.position)

    def place(self, state: State) -> None:
        """Moves every body to where it is at a state."""
        self.state = state
        poses = self.robot.poses(state.q)
        if not len(poses):
            return
        turns = np.roll(quaternion_from_matrix(poses[:, :3, :3]), 1, axis=1)  # wxyz
        for node, turn, pose in zip(self.bodies[1:], turns, poses, strict=True):
            node.wxyz, node.position = turn, pose[:3, 3]

    def extent(self) -> tuple[Array, Array]:
        """The lowest and highest coordinates of its corners and frames in its world, (3,) each [m]."""
        q, model = self.state.q, self.robot.model
        poses = np.concatenate([np.eye(4)[None], self.robot.poses(q)])
        frames = [poses[frame.body] @ [*frame.X.p, 1.0] for frame in model.frames]
        points = np.vstack([np.array(frames)[:, :3], self.ground.lowest(q)])
        points = points[np.isfinite(points).all(axis=1)]
        if not len(points):
            return np.zeros(3), np.zeros(3)
        return points.min(axis=0), points.max(axis=0)


def pose_of(gizmo: Any) -> Array | None:
    """The pose of a gizmo that a page dragged, (4, 4); None where the page sent numbers that are no pose near by."""
    pose, turn = np.eye(4), np.roll(np.asarray(gizmo.wxyz, dtype=float), -1)
    size = np.linalg.norm(turn)
    pose[:3, 3] = gizmo.position
    if not (np.abs(pose) <= FARTHEST).all() or not 1e-6 < size < np.inf:
        return None
    pose[:3, :3] = matrix_from_quaternion(turn / size)
    return pose


def wxyz(R: Array) -> Array:
    """The quaternion of a rotation matrix in viser's order."""
    return np.roll(quaternion_from_matrix(R), 1)


def titled(parent: str, title: str, key: object) -> str:
    """The path of a node that `hover.js` calls by this title; the key tells it from others."""
    return f"{parent}/{_plain(title)} #{key}"


def _plain(name: str) -> str:
    """The name as a node of the scene may have it."""
    return name.replace("/", "_") or "robot"
