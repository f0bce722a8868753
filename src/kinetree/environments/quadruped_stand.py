"""A four-legged robot that is to stand at its height, however it was dropped."""

from __future__ import annotations

from typing import Any

import numpy as np

import kinetree as kt
from kinetree.environments.task import Task
from kinetree.ops import Array
from kinetree.simulation.contact import Ground, RigidContact

BEND = {"haa": 0.0, "hfe": 0.6, "kfe": -1.2}
"""The stance, by the last letters of a joint's name [rad]."""
REACH = 0.3
"""How far an action moves the targets of the joints from the stance [rad]."""
STIFFNESS, DAMPING = 150.0, 6.0
LEAST_HEIGHT, LEAST_UPRIGHT = 0.2, 0.6
"""Below that height [m], or with less than that part of the trunk's axis upwards, it has fallen."""


def quadruped_stand() -> Task:
    """Action: targets of twelve joints in -1 … 1 about the stance. Observation: height, upward axis, joints, all
    rates."""
    robot = kt.load("quadruped", base="floating")
    feet = [name for name in robot.frame_names if name.endswith("foot")]
    stance = np.array([BEND[name[-3:]] for name in robot.joint_names])
    standing = robot.neutral()
    standing[7:] = stance
    standing[2] = -min(robot.frame(foot).pose(standing)[2, 3] for foot in feet)
    strength = robot.limits.effort[6:]

    @kt.compile(shapes={"action": (12,)})
    def servo(robot: Any, q: Any, v: Any, action: Any) -> Any:
        wish = STIFFNESS * (stance + REACH * action - q[7:]) - DAMPING * v[6:]
        return np.concatenate([np.zeros(6), kt.clip(wish, -strength, strength)])

    @kt.compile(shapes={"action": (12,), "goal": (0,)})
    def outcome(robot: Any, q: Any, v: Any, action: Any, goal: Any) -> Any:
        pose = robot.frame(robot.body_names[0]).pose(q)
        up, height = pose[2, :3], pose[2, 3]
        low = height - standing[2]
        fallen = kt.logical_or(kt.less(height, LEAST_HEIGHT), kt.less(up[2], LEAST_UPRIGHT))
        reward = up[2] - 20.0 * low * low - 0.02 * (v @ v) - 0.01 * (action @ action)
        seen = np.concatenate([np.array([height]), up, v[:6], q[7:] - stance, v[6:]])
        return {"observation": seen, "reward": reward, "terminated": fallen}

    def start(rng: np.random.Generator, count: int) -> tuple[Array, Array, Array]:
        moved = np.zeros((count, robot.nv))
        moved[:, 2] = rng.uniform(0.01, 0.06, count)
        moved[:, 3:5] = rng.uniform(-0.1, 0.1, (count, 2))
        moved[:, 6:] = rng.uniform(-0.1, 0.1, (count, 12))
        q = robot.integrate(np.broadcast_to(standing, (count, robot.nq)), moved)
        return q, np.zeros((count, robot.nv)), np.zeros((count, 0))

    ones = np.ones(12)
    ground = RigidContact(feet, Ground())
    return Task(robot, servo, outcome, start, -ones, ones, 34, 0.002, 10, 250, contact=ground, made_by=quadruped_stand)
