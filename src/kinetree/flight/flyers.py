"""What controllers of flying robots have in common: the robots they take, and their references."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.ops import Array
from kinetree.robot import Robot, as_robot

REFERENCE: dict[str, Any] = {
    "position": (3,),
    "velocity": (3,),
    "acceleration": (3,),
    "jerk": (3,),
    "snap": (3,),
    "yaw": (),
    "yaw_rate": (),
    "yaw_acceleration": (),
}
"""The parts of a `FlatState`."""
STATE: dict[str, Any] = {"q": ("q",), "v": ("v",)}
STILL: dict[str, Array] = {name: np.zeros(shape) for name, shape in REFERENCE.items() if name != "position"}


def as_flyer(robot: Any, name: str) -> Robot:
    """A robot on a floating base, whose velocity is in body axes, linear first."""
    robot = as_robot(robot)
    base: Any = robot.model.floating_base
    if base is None:
        raise ArgumentError(f"{robot.name!r} has a fixed base; {name} expects kt.load(…, base='floating')")
    if robot.model.spatial_order != "linear-first" or base.frame != "body":
        raise ArgumentError(
            f"{robot.name!r} has a base velocity in other axes or order; {name} expects base_velocity='body' and "
            "spatial_order='linear-first'"
        )
    return robot


def without_joints(robot: Any, name: str) -> Robot:
    """A flying robot without joints."""
    robot = as_flyer(robot, name)
    if robot.nv != 6:
        raise ArgumentError(
            f"{robot.name!r} has joints; {name} expects kt.edit.lock(robot, robot.joint_names): one rigid body"
        )
    return robot
