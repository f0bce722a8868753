"""A pole on a cart, to be kept upright by pushing the cart."""

from __future__ import annotations

from typing import Any

import numpy as np

import kinetree as kt
from kinetree.environments.task import Task
from kinetree.ops import Array

FORCE = 20.0
"""The strongest push [N]."""
RAIL, TILT = 1.0, 0.4
"""How far the cart may go [m] and the pole may lean [rad]."""


def cart_pole() -> Task:
    """Action: a push in -1 … 1. Observation: cart position, cos and sin of the pole angle, both rates. Reward: 1 per
    upright step."""
    robot = kt.load("cartpole")

    @kt.compile(shapes={"action": (1,)})
    def push(robot: Any, q: Any, v: Any, action: Any) -> Any:
        return np.array([FORCE * action[0], 0.0])

    @kt.compile(shapes={"action": (1,), "goal": (0,)})
    def outcome(robot: Any, q: Any, v: Any, action: Any, goal: Any) -> Any:
        lean = kt.atan2(kt.sin(q[1]), kt.cos(q[1]))
        lost = kt.logical_or(kt.less(RAIL, kt.absolute(q[0])), kt.less(TILT, kt.absolute(lean)))
        seen = np.array([q[0], kt.cos(q[1]), kt.sin(q[1]), v[0], v[1]])
        return {"observation": seen, "reward": 1.0 - 0.01 * action[0] * action[0], "terminated": lost}

    def start(rng: np.random.Generator, count: int) -> tuple[Array, Array, Array]:
        return rng.uniform(-0.05, 0.05, (count, 2)), rng.uniform(-0.05, 0.05, (count, 2)), np.zeros((count, 0))

    one = np.ones(1)
    return Task(robot, push, outcome, start, -one, one, 5, dt=0.01, substeps=2, horizon=500, made_by=cart_pole)
