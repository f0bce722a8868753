"""What controllers ask of a robot."""

from __future__ import annotations

from typing import Any

from kinetree.arguments import as_number
from kinetree.errors import ArgumentError
from kinetree.robot import Robot, as_robot


def with_motors(robot: Any, controller: str) -> Robot:
    """A robot all of whose joints have motors."""
    robot = as_robot(robot)
    loose = without_motor(robot)
    if loose is not None:
        raise ArgumentError(
            f"{controller} needs a motor for every entry of v, and {loose} of {robot.name!r} has none; "
            "what stands on contacts is for SupportConsistent"
        )
    return robot


def without_motor(robot: Robot) -> str | None:
    """The first joint without a motor in words, if there is one."""
    for joint in robot.model.owners:
        if not joint.has_motor:
            return "the floating base" if joint is robot.model.floating_base else f"the free joint {joint.name!r}"
    return None


def as_regularization(value: Any) -> float:
    """How near to singular, from 0 to 1."""
    number = as_number("regularization", value)
    if not 0.0 <= number < 1.0:
        raise ArgumentError(f"regularization is {number:g}; expected a number from 0, for none, to below 1")
    return number
