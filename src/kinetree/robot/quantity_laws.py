"""Quantities as laws, for `kt.compile`, `kt.jacobian` and exporters."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from kinetree.errors import ArgumentError
from kinetree.functions.definition import Definition
from kinetree.functions.law import Found, Law


def law_of_one(owner: Any, name: str, is_declared: bool) -> Found:
    """The law of a quantity of one robot or frame."""
    robot, frame = owner._subject
    if not is_declared:
        kind = "robot" if frame is None else "frame"
        raise ArgumentError(
            f"{name} of a {kind} is not a quantity; compile a function of the robot that calls it instead"
        )
    law = quantity_law(name, frame)
    return Found(law, {"robot": robot}, dict(law.definition.defaults))


def law_of_all(name: str, of_robots: bool) -> Found:
    """The law of a quantity of any robot."""
    if not of_robots:
        raise ArgumentError(f"{name} is a method of frames; use that of one frame, robot.frame(name).{name}")
    return Found(quantity_law(name))


@cache
def quantity_law(name: str, frame: str | None = None) -> Law:
    """The law of a quantity of robots, or of their frames of this name, without wrenches."""
    return Law(_definition(name, frame))


def _definition(name: str, frame: str | None) -> Definition:
    from kinetree.robot.frame import Frame  # noqa: PLC0415 - it imports this module
    from kinetree.robot.robot import Robot  # noqa: PLC0415 - it imports this module

    method = getattr(Robot if frame is None else Frame, name)
    given = inspect.signature(method).parameters.values()
    parameters = [parameter for parameter in given if parameter.name not in ("self", "wrenches", "parameters", "out")]

    def quantity(robot: Any, *values: Any) -> Any:
        return getattr(robot if frame is None else robot.frame(frame), name)(*values)

    quantity.__name__ = quantity.__qualname__ = name
    quantity.__doc__ = method.__doc__
    robot = inspect.Parameter("robot", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    quantity.__signature__ = inspect.Signature([robot, *parameters])  # type: ignore[attr-defined]
    return Definition(quantity, {}, (_definition, (name, frame)))
