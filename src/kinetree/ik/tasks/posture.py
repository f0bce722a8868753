"""All joints, or some of them, at given positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.errors import unknown
from kinetree.ik.tasks.task import Task
from kinetree.ops import Array
from kinetree.robot import Robot


@final
@dataclass(frozen=True)
class Posture(Task):
    """Joints as in a configuration, (nq,): the named ones, or all but a floating base; one row for each velocity."""

    joints: tuple[str, ...] | None = None

    def entries(self, robot: Robot) -> list[int]:
        """The velocities it is about."""
        owners = {joint.name: joint for joint in robot.model.owners if joint is not robot.model.floating_base}
        names = tuple(owners) if self.joints is None else self.joints
        for name in names:
            if name not in owners:
                raise unknown("joint", name, owners)
        return [k for name in names for k in range(owners[name].iv, owners[name].iv + owners[name].nv)]

    def size(self, robot: Robot) -> int:
        return len(self.entries(robot))

    def target_shape(self, robot: Robot) -> tuple[int, ...]:
        return (robot.nq,)

    def evaluate(self, robot: Robot, q: Array, target: Any) -> tuple[Array, Array]:
        entries = self.entries(robot)
        return robot.difference(q, target)[entries], np.eye(robot.nv)[entries]
