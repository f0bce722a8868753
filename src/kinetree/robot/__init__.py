"""A robot, its frames and constraints, and what they compute."""

from kinetree.robot.robot import Robot, as_robot

__all__ = ["Robot", "as_robot"]
