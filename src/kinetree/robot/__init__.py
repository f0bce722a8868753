"""Robots, frames and constraints, and the quantities that they compute."""

from kinetree.robot.robot import Robot, as_robot

__all__ = ["Robot", "as_robot"]
