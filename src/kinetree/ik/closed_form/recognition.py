"""The kind of arm that moves a frame, judged by the axes of its joints at zero angles."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.ik.closed_form.lines import MEETING, PARALLEL, Line, are_parallel, distance, meeting_point
from kinetree.ik.closed_form.parallel import ParallelAxes
from kinetree.ik.closed_form.spherical import SphericalWrist
from kinetree.model.joints import AxisJoint, Revolute
from kinetree.model.tree import Model
from kinetree.ops import Array
from kinetree.robot import Robot

EXACT = 1e-12
"""Axes that are off by less [m, rad] are as the closed form takes them, but for rounding."""


class Family(Protocol):
    """A kind of arm with its closed form."""

    def branches(self, R: Array, p: Array) -> Array:
        """Eight q, (8, 6), for which E1(q1) … E6(q6) = (R, p), as far as they exist."""

    def shortfall(self, R: Array, p: Array) -> float:
        """The distance [m] that the position is out of reach, whatever the limits."""


@dataclass(frozen=True, eq=False)
class Backwards:
    """The closed form of an arm solved from the hand to the base, (E1 … E6)⁻¹ = E6⁻¹ … E1⁻¹: its lines are given from
    the last to the first, with directions turned round."""

    arm: SphericalWrist | ParallelAxes

    def branches(self, R: Array, p: Array) -> Array:
        """All eight q, (8, 6)."""
        return self.arm.branches(R.T, -(R.T @ p))[:, ::-1]

    def shortfall(self, R: Array, p: Array) -> float:
        """The distance by which a position is out of reach [m]."""
        return self.arm.shortfall(R.T, -(R.T @ p))


@dataclass(frozen=True, eq=False)
class Arm:
    """Six joints and their axes, where all joints of the robot are at neutral."""

    frame: str
    names: tuple[str, ...]
    iq: tuple[int, ...]
    iv: tuple[int, ...]
    lines: tuple[Line, ...]
    zero: Array
    """Pose of the frame there, (4, 4)."""

    def named(self, *numbers: int) -> str:
        return ", ".join(repr(self.names[k - 1]) for k in numbers)


def arm_of(robot: Robot, frame: str) -> Arm:
    """The arm that moves a frame, if that is six revolute joints."""
    model = robot.model
    place = model.frame(frame)
    path = [i for i in model.support(place.body) if model.joints[i].nv]
    names = ", ".join(repr(model.joints[i].name) for i in path)
    if len(path) != 6:
        hint = "; kt.edit.lock holds one of them" if len(path) == 7 else ""
        raise ArgumentError(
            f"frame {frame!r} is moved by {len(path)} joints{': ' * bool(path)}{names}; a closed form needs six{hint}"
        )
    for i in path:
        joint = model.joints[i]
        if not isinstance(joint, Revolute):
            raise ArgumentError(f"joint {joint.name!r} is {joint.kind}; a closed form needs six revolute joints")
        if joint.leader is not None:
            raise ArgumentError(f"joint {joint.name!r} follows {joint.leader!r}; a closed form needs six free joints")
    neutral, eager = robot.neutral(), robot.eager
    poses = eager.poses(neutral)
    lines = tuple(_line(model, i, poses[i - 1]) for i in path)
    joints = [model.joints[i] for i in path]
    return Arm(
        frame,
        tuple(joint.name for joint in joints),
        tuple(joint.iq for joint in joints),
        tuple(joint.iv for joint in joints),
        lines,
        eager.frame(frame).pose(neutral),
    )


def _line(model: Model, body: int, pose: Array) -> Line:
    joint = model.joints[body]
    assert isinstance(joint, AxisJoint)
    return Line(pose[:3, :3] @ joint.axis, pose[:3, 3])


def family_of(arm: Arm, free: Array) -> tuple[Family, bool]:
    """The closed form for an arm, and whether its axes are exactly as that takes them. `free` are the angles of joints
    that can be chosen where two turn alike."""
    lines = arm.lines
    backwards = tuple(line.reversed() for line in reversed(lines))
    for order, reverse in ((lines, False), (backwards, True)):
        center, gap = meeting_point(*order[3:])
        if gap < MEETING:
            wrist = SphericalWrist(order, center, float(free[2 if reverse else 3]))
            misfit = [gap, *_misfits(order[0], order[1]), *_misfits(order[1], order[2])]
            return (Backwards(wrist) if reverse else wrist), max(misfit) < EXACT
    for order, reverse in ((lines, False), (backwards, True)):
        center, gap = meeting_point(*order[4:])
        if are_parallel(*order[1:4]) and gap < MEETING:
            planar = ParallelAxes(order, center, float(free[0 if reverse else 5]))
            misfit = [gap, *_misfits(order[1], order[2]), *_misfits(order[2], order[3])]
            return (Backwards(planar) if reverse else planar), max(misfit) < EXACT
    raise ArgumentError(
        f"axes of joints {arm.named(4, 5, 6)} do not meet: {_apart(lines[3:])}; nor do those of "
        f"{arm.named(1, 2, 3)}: {_apart(lines[:3])}; nor are three in the middle parallel and the two beyond them meet"
    )


def _misfits(a: Line, b: Line) -> tuple[float, float]:
    """The deviations of two lines from being parallel [rad] or from meeting [m], where they are taken to be."""
    sine, gap = float(np.linalg.norm(np.cross(a.h, b.h))), distance(a, b)
    return sine if sine < PARALLEL else 0.0, gap if gap < MEETING and sine >= PARALLEL else 0.0


def _apart(lines: tuple[Line, ...]) -> str:
    most = max(meeting_point(*lines)[1], *(distance(a, b) for a, b in combinations(lines, 2)))
    return f"{most:.2g} m apart"


def check_freedom(robot: Robot, arm: Arm) -> None:
    """Raises for six joints that cannot move a frame in six ways anywhere."""
    q = np.tile(robot.neutral(), (8, 1))
    q[:, arm.iq] = np.random.default_rng(0).uniform(-np.pi, np.pi, size=(8, 6))
    frame = robot.eager.frame(arm.frame)
    least = [np.linalg.svd(frame.jacobian(each)[:, arm.iv], compute_uv=False)[-1] for each in q]
    if max(least) < 1e-6:
        raise ArgumentError(
            f"joints {arm.named(1, 2, 3, 4, 5, 6)} move frame {arm.frame!r} in fewer than six ways, at any angles"
        )
