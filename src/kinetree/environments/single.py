"""One environment, for those who want one."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from kinetree.environments.task import Task
from kinetree.environments.vector import check_options, check_render_mode, spaces_of
from kinetree.errors import ArgumentError
from kinetree.ops import Array


class RobotEnv(gymnasium.Env[Array, Array]):
    """One robot with a task. For learning, use `RobotVectorEnv`, which has many."""

    def __init__(self, task: Task, render_mode: str | None = None) -> None:
        check_render_mode(render_mode)
        self.task = task
        self.metadata: dict[str, Any] = {"render_modes": []}
        self.observation_space, self.action_space = spaces_of(task)
        self._state: tuple[Array, Array, Array] | None = None
        self._age = 0

    @property
    def q(self) -> Array:
        """The robot's configuration, (nq,); a copy."""
        return self._running()[0].copy()

    @property
    def v(self) -> Array:
        """Its velocity, (nv,); a copy."""
        return self._running()[1].copy()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """A new episode; there are no options."""
        check_options(options)
        super().reset(seed=seed)
        q, v, goal = (array[0] for array in self.task.begin(self.np_random, 1))
        self._state, self._age = (q, v, goal), 0
        return self.task.judge(q, v, np.zeros(len(self.task.action_low)), goal)[0], {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Observation, reward, terminated, truncated and info."""
        q, v, goal = self._running()
        taken = self.task.checked(action)
        q, v, diverged = self.task.advance(q, v, taken)
        seen, reward, ended, goal = self.task.judge(q, v, taken, goal)
        self._state, self._age = (q, v, goal), self._age + 1
        over = bool(ended) or bool(diverged)
        info = {"diverged": True} if diverged else {}
        return seen, float(reward), over, self._age >= self.task.horizon and not over, info

    def _running(self) -> tuple[Array, Array, Array]:
        if self._state is None:
            raise ArgumentError("step was called before reset; call reset first")
        return self._state
