"""The names by which `gymnasium.make` and `gymnasium.make_vec` know our environments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

try:
    import gymnasium
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        "environments are made for the package gymnasium: pip install 'kinetree[gymnasium]'", name="gymnasium"
    ) from None

from kinetree.environments.cart_pole import cart_pole
from kinetree.environments.quadrotor import hover, waypoints
from kinetree.environments.quadruped_stand import quadruped_stand
from kinetree.environments.reacher import reacher
from kinetree.environments.single import RobotEnv
from kinetree.environments.task import Task, made
from kinetree.environments.vector import RobotVectorEnv

TASKS: Mapping[str, Callable[[], Task]] = {
    "kinetree/CartPole-v0": cart_pole,
    "kinetree/Reacher-v0": reacher,
    "kinetree/QuadrupedStand-v0": quadruped_stand,
    "kinetree/Hover-v0": hover,
    "kinetree/Waypoints-v0": waypoints,
}
"""What makes a task, by the name of its environment."""


def make_one(task: str, **options: Any) -> RobotEnv:
    """The environment for `gymnasium.make`."""
    return RobotEnv(made(TASKS[task]), **options)


def make_many(task: str, num_envs: int = 1, **options: Any) -> RobotVectorEnv:
    """The environments for `gymnasium.make_vec`."""
    return RobotVectorEnv(made(TASKS[task]), num_envs, **options)


for _name in TASKS:
    gymnasium.register(
        _name,
        entry_point=f"{__name__}:make_one",
        vector_entry_point=f"{__name__}:make_many",
        kwargs={"task": _name},
        order_enforce=False,
    )
