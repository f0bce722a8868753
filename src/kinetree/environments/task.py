"""What an environment asks of a robot: how it starts, what actions do, what is seen, rewarded and given up."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from kinetree.base.arguments import as_constant, as_count, as_real
from kinetree.errors import (
    ArgumentError,
    ArgumentTypeError,
    DivergenceError,
    DivergenceWarning,
    SingularMassMatrixError,
    short,
)
from kinetree.functions.law import Law
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.simulation.efforts import finite

Start = Callable[[np.random.Generator, int], tuple[Array, Array, Array]]
"""From a generator and a number of states: q (count, nq), v (count, nv) and goals (count, goal_size)."""


@cache
def made(make: Callable[[], Task]) -> Task:
    """What a function makes, once for all: tasks are compiled when they are first used."""
    return make()


@dataclass(frozen=True, eq=False)
class Task:
    """One robot and its task. An action is constant for `substeps` steps of `dt` seconds."""

    robot: Robot
    efforts: Law
    """(robot, q, v, action) to efforts (nv,), asked in every step of the simulation."""
    outcome: Law
    """(robot, q, v, action, goal) to {"observation": (n,), "reward": (), "terminated": ()}, after every action; with a
    "goal" in it, that is the goal from then on."""
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
    made_by: Callable[[], Task] | None = None
    """A function of a module that makes this task anew, by which it is pickled; without, its laws and `start` are."""

    def __post_init__(self) -> None:
        for name, kind, expected in (
            ("robot", Robot, "a robot"),
            ("efforts", Law, "a function from kt.compile"),
            ("outcome", Law, "a function from kt.compile"),
        ):
            if not isinstance(getattr(self, name), kind):
                raise ArgumentTypeError(f"{name} is {short(getattr(self, name))}; expected {expected}")
        if not callable(self.start):
            raise ArgumentTypeError(f"start is {short(self.start)}; expected a function of a generator and a count")
        for name in ("observation_size", "substeps", "horizon"):
            as_count(name, getattr(self, name), 1)
        low = as_real("action_low", self.action_low, "an array of shape (n,)")
        high = as_constant("action_high", self.action_high, low.shape)
        if low.ndim != 1 or not (low <= high).all():
            raise ArgumentError(f"action_low is {short(low)} and action_high {short(high)}; expected (n,), low first")
        goal = self._goal
        if len(goal) != 1:
            raise ArgumentError(f"goal of outcome has shape {goal}; expected one axis, (0,) where there is no goal")
        object.__setattr__(self, "action_low", low)
        object.__setattr__(self, "action_high", high)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return super().__reduce_ex__(protocol) if self.made_by is None else (made, (self.made_by,))

    def begin(self, rng: np.random.Generator, count: int) -> tuple[Array, Array, Array]:
        """What `start` gives: q (count, nq), v (count, nv) and goals (count, size)."""
        begun: Any = self.start(rng, count)
        if not isinstance(begun, (tuple, list)) or len(begun) != 3:
            raise ArgumentError(f"start gives {short(begun)}; expected (q, v, goals)")
        sizes = {"q of start": self.robot.nq, "v of start": self.robot.nv, "goals of start": self._goal[0]}
        q, v, goal = (
            finite(name, as_constant(name, array, (count, size)))
            for (name, size), array in zip(sizes.items(), begun, strict=True)
        )
        return q, v, goal

    @property
    def _goal(self) -> tuple[int, ...]:
        """The shape of what is to be reached, for one state."""
        return self.outcome.definition.shape_of("goal", {"robot": self.robot})

    def advance(self, q: Array, v: Array, action: Array) -> tuple[Array, Array, Array]:
        """The states (…, nq), (…, nv) after one action (…, size), and which of them could not be computed."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DivergenceWarning)  # it is told as a result
            try:
                after = self.robot.rollout(
                    q, v, self.efforts, self.dt, self.substeps, contact=self.contact, parameters={"action": action},
                    every=self.substeps,
                )  # fmt: skip
            except (DivergenceError, SingularMassMatrixError):  # none of them can move
                return q, v, np.ones(q.shape[:-1], dtype=bool)
        return after.q[..., -1, :], after.v[..., -1, :], np.array(after.diverged)

    def judge(self, q: Array, v: Array, action: Array, goal: Array) -> tuple[Array, Array, Array, Array]:
        """Observation, reward, whether it is over, and the goal from then on, for states or a batch of them."""
        found: Any = self.outcome(self.robot, q, v, action, goal)
        batch = q.shape[:-1]
        shapes = {"observation": (self.observation_size,), "reward": (), "terminated": ()}
        if isinstance(found, dict) and "goal" in found:
            shapes["goal"] = self._goal
        for name, shape in shapes.items():
            if not isinstance(found, dict) or name not in found:
                raise ArgumentError(f"outcome gives no {name!r}; expected a dict with observation, reward, terminated")
            if found[name].shape != batch + shape:
                raise ArgumentError(f"{name} of outcome has shape {found[name].shape[len(batch) :]}; expected {shape}")
        over = np.asarray(found["terminated"], dtype=bool)
        return found["observation"], found["reward"], over, found.get("goal", goal)

    def checked(self, action: Any, batch: tuple[int, ...] = ()) -> Array:
        """Actions as floats within bounds; NaN and other shapes are refused."""
        array = as_constant("action", action, (*batch, len(self.action_low)))
        if not np.isfinite(array).all():
            raise ArgumentError(f"action has {array[~np.isfinite(array)][0]}; expected finite numbers")
        return np.clip(array, self.action_low, self.action_high)
