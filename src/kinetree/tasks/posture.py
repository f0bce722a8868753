"""All joints, or some of them, at given positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinetree.errors import ArgumentError, ArgumentTypeError, known, short
from kinetree.ops import Array, zeros
from kinetree.robot import Robot
from kinetree.tasks.motion import MotionTask


@final
@dataclass(frozen=True)
class Posture(MotionTask):
    """Joints as in a configuration, (nq,): the named ones, or all but a floating base; one row for each velocity."""

    joints: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "joints", _as_joints(self.joints))

    def entries(self, robot: Robot) -> list[int]:
        """The velocities it is about."""
        owners = {joint.name: joint for joint in robot.model.owners if joint is not robot.model.floating_base}
        names = tuple(owners) if self.joints is None else self.joints
        chosen = [owners[known("joint", name, owners)] for name in names]
        return [k for joint in chosen for k in range(joint.iv, joint.iv + joint.nv)]

    def size(self, robot: Robot) -> int:
        return len(self.entries(robot))

    def target_shape(self, robot: Robot) -> tuple[int, ...]:
        return (robot.nq,)

    def evaluate(self, robot: Robot, q: Array, target: Any) -> tuple[Array, Array]:
        entries = self.entries(robot)
        goal = zeros(robot.nq, q, target)
        for joint in robot.model.owners:  # joints it is not about are where they are, whatever the target says of them
            given = target if joint.iv in entries and joint.nv else q
            goal[joint.iq : joint.iq + joint.nq] = given[joint.iq : joint.iq + joint.nq]
        return robot.difference(q, goal)[entries], np.eye(robot.nv)[entries]

    def drift(self, robot: Robot, q: Array, v: Array, target: Any) -> Array:
        return np.zeros(self.size(robot))


def _as_joints(names: object) -> tuple[str, ...] | None:
    """Names of joints, each once, or None for all."""
    listed = tuple(names) if isinstance(names, (list, tuple)) else ()
    if names is not None and not (listed and all(isinstance(name, str) for name in listed)):
        raise ArgumentTypeError(f"joints is {short(names)}; expected a list of names, or None for all")
    if len(set(listed)) < len(listed):
        raise ArgumentError(f"joints is {short(names)}; expected each joint once")
    return listed or None
