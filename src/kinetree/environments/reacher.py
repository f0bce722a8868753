"""A planar arm of two joints that is to bring its tip to a goal."""

from __future__ import annotations

from typing import Any

import numpy as np

import kinetree as kt
from kinetree.environments.task import Task
from kinetree.ops import Array

EFFORT = 0.5
"""The part of each motor's effort that actions may use, beside what carries the weight."""


def reacher() -> Task:
    """Action: efforts of the motors in -1 … 1. Observation: joints, their rates, the goal and the vector to it."""
    robot = kt.load("planar2")
    strength = EFFORT * robot.limits.effort
    plane = np.flatnonzero(np.ptp(robot.frame("tip").pose(robot.random(rng=0, size=32))[:, :3, 3], axis=0) > 1e-9)

    @kt.compile(shapes={"action": (2,)})
    def drive(robot: Any, q: Any, v: Any, action: Any) -> Any:
        return strength * action + robot.gravity_forces(q) - v

    @kt.compile(shapes={"action": (2,), "goal": (2,)})
    def outcome(robot: Any, q: Any, v: Any, action: Any, goal: Any) -> Any:
        away = goal - robot.frame("tip").pose(q)[:3, 3][plane]
        seen = [kt.cos(q[0]), kt.cos(q[1]), kt.sin(q[0]), kt.sin(q[1]), v[0], v[1], goal[0], goal[1], away[0], away[1]]
        effort = action @ action
        return {"observation": np.array(seen), "reward": -kt.sqrt(away @ away) - 0.05 * effort, "terminated": False}

    def start(rng: np.random.Generator, count: int) -> tuple[Array, Array, Array]:
        reached = robot.frame("tip").pose(rng.uniform(-np.pi, np.pi, (count, 2)))[:, :3, 3][:, plane]
        return rng.uniform(-0.1, 0.1, (count, 2)), np.zeros((count, 2)), reached

    ones = np.ones(2)
    return Task(robot, drive, outcome, start, -ones, ones, 10, dt=0.005, substeps=4, horizon=100, made_by=reacher)
