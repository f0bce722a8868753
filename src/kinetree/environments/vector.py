"""Many environments at once: one compiled rollout moves them all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from kinetree.base.arguments import as_count
from kinetree.environments.task import Task
from kinetree.errors import ArgumentError, ArgumentTypeError, one_of, short, unknown
from kinetree.ops import Array


def spaces_of(task: Task) -> tuple[spaces.Box, spaces.Box]:
    """Observations and actions of one environment."""
    seen = spaces.Box(-np.inf, np.inf, (task.observation_size,), np.float64)
    return seen, spaces.Box(task.action_low, task.action_high, dtype=np.float64)


def check_render_mode(render_mode: str | None) -> None:
    """Raises where pictures are asked for: environments make none."""
    if render_mode is not None:
        raise ArgumentError(
            f"render_mode is {short(render_mode)}; expected None: environments draw nothing, robot.view(q=env.q) does"
        )


def check_options(options: Any, known: tuple[str, ...] = ()) -> Mapping[str, Any]:
    """The options of a reset, if all of them are known."""
    if options is not None and not isinstance(options, Mapping):
        raise ArgumentTypeError(f"options is {short(options)}; expected a dict")
    for name in options or ():
        if name not in known:
            raise unknown("option", name, known)
    return options or {}


class RobotVectorEnv(VectorEnv[Array, Array, Array]):
    """`num_envs` robots with one task, in SIMD lanes over threads.

    Random numbers of all of them come from one generator, so the seed determines the results for any number of threads.
    A diverging state ends its episode; `info["diverged"]` marks it.
    """

    def __init__(
        self,
        task: Task,
        num_envs: int,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
    ) -> None:
        check_render_mode(render_mode)
        self.task, self.num_envs = task, as_count("num_envs", num_envs, 1)
        words = {mode.value: mode for mode in AutoresetMode}
        self.mode = words[one_of("autoreset_mode", getattr(autoreset_mode, "value", autoreset_mode), words)]
        self.metadata = {"render_modes": [], "autoreset_mode": self.mode}
        self.single_observation_space, self.single_action_space = spaces_of(task)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._q = np.zeros((0, task.robot.nq))
        self._v = np.zeros((0, task.robot.nv))
        self._goal = np.zeros((0, 0))
        self._age = np.zeros(self.num_envs, dtype=int)
        self._over = np.zeros(self.num_envs, dtype=bool)

    @property
    def q(self) -> Array:
        """Configurations of all robots, (num_envs, nq); empty before the first reset. A copy, like v and goal."""
        return self._q.copy()

    @property
    def v(self) -> Array:
        """Velocities of all robots, (num_envs, nv)."""
        return self._v.copy()

    @property
    def goal(self) -> Array:
        """The goals, a row for each."""
        return self._goal.copy()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Start all of them, or those of `options={"reset_mask": (num_envs,)}`."""
        chosen = check_options(options, ("reset_mask",))
        mask = np.asarray(chosen.get("reset_mask", np.ones(self.num_envs, dtype=bool)))
        if mask.shape != (self.num_envs,):
            raise ArgumentError(f"reset_mask has shape {mask.shape}; expected ({self.num_envs},)")
        if mask.dtype != bool:
            raise ArgumentError(f"reset_mask has elements of type {mask.dtype}; expected truth values")
        super().reset(seed=seed)
        if not len(self._q):
            self._q, self._v, self._goal = self.task.begin(self.np_random, self.num_envs)
            self._age[:], self._over[:] = 0, False
        else:
            self._start(mask)
        return self._seen()[0], {}

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Observations, rewards, terminations, truncations and info, after one action each."""
        if not len(self._q):
            raise ArgumentError("step was called before reset; call reset first")
        action = self.task.checked(actions, (self.num_envs,))
        fresh = self._over.copy()
        if self.mode is AutoresetMode.DISABLED and fresh.any():
            raise ArgumentError(
                f"environment {int(np.argmax(fresh))} is over; reset it first, by options={{'reset_mask': …}}"
            )
        if fresh.any():  # their action is not used: they show how they start
            self._start(fresh)
        q, v, diverged = self.task.advance(self._q, self._v, action)
        self._q, self._v = np.where(fresh[:, None], self._q, q), np.where(fresh[:, None], self._v, v)
        diverged &= ~fresh
        self._age += ~fresh
        seen, reward, ended, goal = self._seen(action)
        self._goal = np.where(fresh[:, None], self._goal, goal)
        reward, ended = np.where(fresh, 0.0, reward), (ended | diverged) & ~fresh
        cut = (self._age >= self.task.horizon) & ~ended
        self._over = ended | cut
        info: dict[str, Any] = {"diverged": diverged} if diverged.any() else {}
        if self.mode is AutoresetMode.SAME_STEP and self._over.any():
            info |= {"final_obs": seen.copy(), "_final_obs": self._over.copy()}
            self._start(self._over.copy())
            seen = self._seen()[0]
        return seen, reward, ended, cut, info

    def _start(self, mask: Array) -> None:
        """New states for some of them."""
        q, v, goal = self.task.begin(self.np_random, self.num_envs)
        rows = mask[:, None]
        self._q, self._v = np.where(rows, q, self._q), np.where(rows, v, self._v)
        self._goal = np.where(rows, goal, self._goal)
        self._age[mask], self._over[mask] = 0, False

    def _seen(self, action: Array | None = None) -> tuple[Array, Array, Array, Array]:
        taken = np.zeros((self.num_envs, len(self.task.action_low))) if action is None else action
        return self.task.judge(self._q, self._v, taken, self._goal)
