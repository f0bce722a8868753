"""A robot that follows a target: steps of differential inverse kinematics, and a search where these get stuck."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.errors import QuadraticProgramError
from kinetree.ik import DifferentialIK, Limits, Pose, Position, Posture
from kinetree.model.constraints import Contact
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.rotations import rotation_vector_from_matrix
from kinetree.tasks import MotionTask

STEP = 0.05
"""Of the steps [s], each of which takes away up to half of the error."""
NEAR, ALIGNED = 1e-3, 1e-2
"""A target is reached within this distance [m] and angle [rad]."""
STARTS = 60
"""Of the search."""


@dataclass(frozen=True)
class Gap:
    """What is between a frame and its target: a distance [m] and an angle [rad]."""

    distance: float
    angle: float

    @property
    def closed(self) -> bool:
        return self.distance < NEAR and self.angle < ALIGNED

    @property
    def length(self) -> float:
        """Distance and angle as one number."""
        return float(np.hypot(self.distance, 0.2 * self.angle))

    def __str__(self) -> str:
        if self.closed:
            return "reached"
        return f"{100.0 * self.distance:.1f} cm and {np.degrees(self.angle):.0f}° away"


class Follower:
    """Brings a frame to poses, or to positions where fewer than six coordinates move it.

    What it stands on comes first and stays where it is; a floating base without contacts stays too.
    """

    def __init__(self, robot: Robot, frame: str, contacts: tuple[Contact, ...] = ()) -> None:
        self.robot, self.frame = robot, robot.frame(frame)
        model = robot.model
        body = model.frame(frame).body
        held = tuple(contact for contact in contacts if contact.frame != frame)
        if model.floating_base is not None and not held and body != 1:
            held = (Contact(model.frames[0].name, "surface"),)
        self.held = held
        self.turns = sum(model.joints[i].nv for i in model.support(body) if i != 1 or model.floating_base is None) >= 6
        self.turns |= body == 1 and model.floating_base is not None
        feet = [_task(contact.frame, contact.kind == "surface", 1.0 / STEP, 0) for contact in held]
        rank = 1 if feet else 0
        tasks = [_task(frame, self.turns, 0.5 / STEP, rank), Posture(weight=0.01, gain=0.05 / STEP, priority=rank)]
        limits = Limits(position=True, velocity=False)
        self.ik = DifferentialIK(robot, [*feet, *tasks], limits, dt=STEP, damping=1e-3, levenberg=1e-2)

    def prepare(self, q: Array) -> None:
        """Compiles what it needs."""
        pose = self.frame.pose(q)
        self.gap(self.steps(q, pose, self.places(q), 1), pose)

    def places(self, q: Array) -> list[Array]:
        """Where what stays is at q: the first targets of a step."""
        poses = [self.robot.frame(contact.frame).pose(q) for contact in self.held]
        return [pose if c.kind == "surface" else pose[:3, 3] for c, pose in zip(self.held, poses, strict=True)]

    def gap(self, q: Array, target: Array) -> Gap:
        """Between the frame at q and a target pose, (4, 4)."""
        pose = self.frame.pose(q)
        distance = float(np.linalg.norm(target[:3, 3] - pose[:3, 3]))
        if not self.turns:
            return Gap(distance, 0.0)
        return Gap(distance, float(np.linalg.norm(rotation_vector_from_matrix(pose[:3, :3].T @ target[:3, :3]))))

    def steps(self, q: Array, target: Array, places: list[Array], count: int = 10) -> Array:
        """The configuration after some steps from q towards a target pose, (4, 4)."""
        goal = target if self.turns else target[:3, 3]
        for _ in range(count):
            try:
                v = self.ik.velocity(q, *places, goal, q)
            except QuadraticProgramError:  # limits and contacts leave no way
                return q
            q = self.robot.integrate(q, STEP * v)
        return q

    def search(self, q: Array, target: Array) -> Array | None:
        """A configuration that reaches the target after all, or None; only for robots on a fixed base."""
        if self.robot.model.floating_base is not None:
            return None
        solution = self.robot.ik(self.frame.name, target if self.turns else target[:3, 3], q, attempts=STARTS)
        return solution.q if solution.success else None


def _task(frame: str, turns: bool, gain: float, priority: int) -> MotionTask:
    return Pose(frame, gain=gain, priority=priority) if turns else Position(frame, gain=gain, priority=priority)
