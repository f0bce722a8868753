"""The quantities of robots, frames and constraints, by name."""

from kinetree.robot import Robot
from kinetree.robot.constrained import Constrained
from kinetree.robot.frame import Frame
from kinetree.robot.quantity import quantities_of

OF_ROBOT = {name: each for name, each in quantities_of(Robot).items() if not each.needs_floating_base}
OF_FRAME = {name: each for name, each in quantities_of(Frame).items() if "position" not in each.select}
OF_CONSTRAINTS = quantities_of(Constrained)


def kernels_of(robot):
    """What was specialized for a robot: names and keys."""
    functions = [function for function in robot._functions.values() if hasattr(function, "declared")]
    return {(function.name, key) for function in functions for key in function._specializations}
