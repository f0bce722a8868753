"""A target that can be dragged: a gizmo in the scene, and the robot that goes after it."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.base.arguments import as_constant
from kinetree.errors import ArgumentError, short
from kinetree.ops import Array
from kinetree.spatial.rotation import is_rotation_matrix
from kinetree.viewer.follow import Follower, Gap
from kinetree.viewer.stage import Stage, pose_of, wxyz

PROGRESS = 0.999
"""A round of steps that leaves more than this part of the gap has come as far as it can."""
GLIDE = 15
"""Rounds to move to what a search has found."""


def as_pose(pose: ArrayLike) -> Array:
    """A 4×4 homogeneous matrix, or one sentence."""
    read = as_constant("pose", pose, (4, 4))
    if not np.isfinite(read).all() or not is_rotation_matrix(read[:3, :3]):
        raise ArgumentError(f"pose is {short(read)}; expected [[R, p], [0, 1]] with a rotation matrix R")
    return read


class Target:
    """The target pose of a frame. `pose` can be read and set; `gap` is the distance of the robot from it."""

    def __init__(self, stage: Stage, follower: Follower, wake: threading.Event) -> None:
        self.stage, self.follower, self._wake = stage, follower, wake
        self.frame = frame = follower.frame.name
        self._goal = stage.robot.frame(frame).pose(stage.state.q)
        self._done, self._searched = threading.Event(), True
        self._done.set()
        self._way: list[Array] = []
        self._ends: Array | None = None
        self._left = stage.state.q
        self._places = self.follower.places(stage.state.q)
        path = f"{stage.root}/target"
        self.gizmo = stage.scene.add_transform_controls(
            path, scale=0.14 * stage.size, line_width=4.0, depth_test=False,
            disable_rotations=not self.follower.turns, position=self._goal[:3, 3], wxyz=wxyz(self._goal[:3, :3]),
        )  # fmt: skip
        self.label = stage.scene.add_label(f"{path}/gap", "", visible=False, anchor="bottom-center")
        self.gizmo.on_update(self._dragged)

    async def _dragged(self, event: Any) -> None:  # a coroutine, so that events come in order
        goal = pose_of(event.target)
        if goal is not None:
            self._aim(goal)

    @property
    def pose(self) -> Array:
        """The target in the robot's world, (4, 4)."""
        return self._goal.copy()

    @pose.setter
    def pose(self, pose: ArrayLike) -> None:
        goal = as_pose(pose).copy()
        self.gizmo.position, self.gizmo.wxyz = goal[:3, 3], wxyz(goal[:3, :3])
        self._aim(goal)

    @property
    def gap(self) -> Gap:
        """Between the frame as it is shown and the target."""
        return self.follower.gap(self.stage.state.q, self._goal)

    @property
    def settled(self) -> bool:
        """Whether the robot has come as far as it can."""
        return self._done.is_set()

    @property
    def status(self) -> str:
        """The status in words: reached, not reached and by how much, on the way, or moved away by somebody else."""
        return self._distance() if self.settled else "on the way"

    def _distance(self) -> str:
        gap = self.gap
        if gap.closed:
            return str(gap)
        return f"{'not reached' if self.stage.state.q is self._left else 'moved away'}: {gap}"

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until the robot has come as far as it can, or so many seconds; whether it has."""
        return self._done.wait(timeout)

    def _aim(self, goal: Array) -> None:
        self._goal, self._searched, self._way = goal, False, []
        self._done.clear()
        self._wake.set()

    def advance(self, q: Array) -> Array | None:
        """The next configuration on the way, or None if there is nothing to do."""
        if self.settled:
            return None
        if q is not self._left:  # somebody else has moved the robot
            self._places, self._way = self.follower.places(q), []
        self._left = self._next(q)
        return self._left

    def _next(self, q: Array) -> Array:
        goal = self._goal
        if self._way:
            return self._way.pop(0)
        before = self.follower.gap(q, goal)
        q = self.follower.steps(q, goal, self._places)
        gap = self.follower.gap(q, goal)
        stuck = gap.closed or gap.length > PROGRESS * before.length - 1e-6
        if stuck and not gap.closed and not self._searched:
            self._searched = True
            found = self.follower.search(q, goal)
            if found is not None and goal is self._goal:
                change = self.stage.robot.difference(q, found)
                self._way = [self.stage.robot.integrate(q, (k + 1) / GLIDE * change) for k in range(GLIDE)]
                stuck = False
        self._ends = goal if stuck else None
        return q

    def conclude(self) -> None:
        """Called after a configuration is shown: says so if it is the last, unless the target was moved meanwhile."""
        over = self._ends is self._goal
        self._label(over)
        if over:
            self._done.set()

    def moved(self) -> None:
        """Called after a configuration is shown that this target did not ask for."""
        self._label(self.settled)

    def _label(self, settled: bool) -> None:
        """Says how far the frame stays from the target, unless it is on the way."""
        self.label.visible = settled and not self.gap.closed
        if self.label.visible:
            self.label.text = self._distance()

    def remove(self) -> None:
        """Takes the gizmo away."""
        self.label.remove()
        self.gizmo.remove()
