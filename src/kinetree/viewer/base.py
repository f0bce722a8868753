"""A floating base that can be dragged: a gizmo at its pose."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.model.joints import Joint
from kinetree.ops import Array
from kinetree.rotations import quaternion_from_matrix
from kinetree.viewer.shown import ShownRobot
from kinetree.viewer.stage import pose_of


class BaseGizmo:
    """Moves a floating base with all that hangs on it."""

    def __init__(self, shown: ShownRobot, base: Joint) -> None:
        self.shown, self.base = shown, base
        self.gizmo: Any = None

    def show(self, visible: bool) -> None:
        """Shows or hides the gizmo."""
        if not visible:
            if self.gizmo is not None:
                self.gizmo.visible = False
            return
        if self.gizmo is None:
            stage = self.shown.stage
            self.gizmo = stage.scene.add_transform_controls(
                f"{stage.root}/base_gizmo", scale=0.2 * stage.size, line_width=4.0, depth_test=False
            )
            self.gizmo.on_update(self._dragged)
        self.gizmo.visible = True
        self.update()

    async def _dragged(self, event: Any) -> None:  # a coroutine, so that events come in order
        pose = pose_of(event.target)
        if pose is not None:
            self.move(pose)

    def move(self, pose: Array) -> None:
        """Puts the base somewhere, within its limits."""
        q, limits = self.shown.q, self.shown.robot.limits
        position = slice(self.base.iq, self.base.iq + 3)
        q[position] = np.clip(pose[:3, 3], limits.lower[position], limits.upper[position])
        q[self.base.quaternion] = quaternion_from_matrix(pose[:3, :3])
        self.shown.move_to(q)

    def update(self) -> None:
        """Moves the gizmo to where the base is."""
        if self.gizmo is not None and self.gizmo.visible:
            q = self.shown.stage.state.q
            self.gizmo.position = q[self.base.iq : self.base.iq + 3]
            self.gizmo.wxyz = np.roll(q[self.base.quaternion], 1)
