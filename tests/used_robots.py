"""A robot that has been used, for tests of what becomes of its native calls."""

import numpy as np

import kinetree as kt

Q = np.linspace(-1.0, 1.0, 6)


def fresh():
    """A robot that has been used, and right results of it."""
    robot = kt.load("arm6")
    tool = robot.frame("tool0")
    return robot, tool, np.array(robot.mass_matrix(Q)), np.array(tool.jacobian(Q))
