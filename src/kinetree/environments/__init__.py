"""Environments for learning, by Gymnasium's interface, over compiled rollouts: `pip install 'kinetree[gymnasium]'`.

Importing this registers `kinetree/CartPole-v0`, `kinetree/Reacher-v0`, `kinetree/QuadrupedStand-v0`,
`kinetree/Hover-v0` and `kinetree/Waypoints-v0`.
"""

from kinetree.environments.cart_pole import cart_pole
from kinetree.environments.quadrotor import hover, waypoints
from kinetree.environments.quadruped_stand import quadruped_stand
from kinetree.environments.reacher import reacher
from kinetree.environments.registered import TASKS
from kinetree.environments.single import RobotEnv
from kinetree.environments.task import Task
from kinetree.environments.vector import RobotVectorEnv

__all__ = [
    "TASKS", "RobotEnv", "RobotVectorEnv", "Task", "cart_pole", "hover", "quadruped_stand", "reacher", "waypoints",
]  # fmt: skip
