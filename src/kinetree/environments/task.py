"""What an environment asks of a robot: how it starts, what actions do, what is seen, rewarded and given up."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError, DivergenceError, DivergenceWarning, SingularMassMatrixError
from kinetree.law import Law
from kinetree.ops import Array
from kinetree.robot import Robot

Start = Callable[[np.random.Generator, int], tuple[Array, Array, Array]]
"""From a generator and a number of states: q (count, nq), v (count, nv) and goals (count, goal_size)."""


@dataclass(frozen=True, eq=False)
class Task:
    """One robot and what it is to do. An action is held for `substeps` steps of `dt` seconds."""

    robot: Robot
    efforts: Law
    """(robot, q, v, action) to efforts (nv,), asked in every step of the simulation."""
    outcome: Law
    """(robot, q, v, action, goal) to {"observation": (n,), "reward": (), "terminated": ()}, after every action."""
    start: Start
    action_low: Array
    action_high: Array
    observation_size: int
    dt: float
    substeps: int
    horizon: int
    """Actions until an episode is cut off."""
    contact: Any = None
    """What the robot meets, as `Robot.rollout` takes it."""

    def advance(self, q: Array, v: Array, action: Array) -> tuple[Array, Array, Array]:
        """The states (…, nq), (…, nv) after one action (…, size), and which of them could not be computed."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DivergenceWarning)  # it is told as a result
            try:
                after = self.robot.rollout(
                    q,
                    v,
                    self.efforts,
                    self.dt,
                    self.substeps,
                    contact=self.contact,
                    parameters={"action": action},
                    every=self.substeps,
                )
            except (DivergenceError, SingularMassMatrixError):  # none of them can move
                return q, v, np.ones(q.shape[:-1], dtype=bool)
        return after.q[..., -1, :], after.v[..., -1, :], np.array(after.diverged)

    def judge(self, q: Array, v: Array, action: Array, goal: Array) -> tuple[Array, Array, Array]:
        """Observation, reward and whether it is over, for states or a batch of them."""
        found = self.outcome(self.robot, q, v, action, goal)
        return found["observation"], found["reward"], np.asarray(found["terminated"], dtype=bool)

    def checked(self, action: Any, batch: tuple[int, ...] = ()) -> Array:
        """Actions as floats within bounds; NaN and other shapes are refused."""
        array = np.asarray(action, dtype=float)
        wanted = (*batch, len(self.action_low))
        if array.shape != wanted:
            raise ArgumentError(f"action has shape {array.shape}; expected {wanted}")
        if not np.isfinite(array).all():
            raise ArgumentError(f"action has {array[~np.isfinite(array)][0]}; expected finite numbers")
        return np.clip(array, self.action_low, self.action_high)
