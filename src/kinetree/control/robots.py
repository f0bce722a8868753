"""What controllers ask of a robot."""

from __future__ import annotations

from typing import Any

from kinetree.base.arguments import as_number
from kinetree.errors import ArgumentError
from kinetree.model.constraints import ConstraintSet
from kinetree.robot import Robot, as_robot
from kinetree.robot.constrained import Constrained


def standing(robot: Any, controller: str) -> tuple[Robot, ConstraintSet | None]:
    """A robot all of whose joints have motors, or one on contacts with what holds it."""
    if isinstance(robot, Constrained):
        return robot.robot, robot.equations
    return with_motors(robot, controller, "robot.constrained([kt.Contact(…)]) in its place is what it stands on"), None


def with_motors(
    robot: Any, controller: str, instead: str = "what stands on contacts is for SupportConsistent"
) -> Robot:
    """A robot all of whose joints have motors."""
    robot = as_robot(robot)
    loose = without_motor(robot)
    if loose is not None:
        raise ArgumentError(
            f"{controller} needs a motor for every entry of v, and {loose} of {robot.name!r} has none; {instead}"
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
