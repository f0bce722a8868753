"""An arm that floats: gravity and friction are carried, so that a hand can lead it."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinetree.base.arguments import as_number
from kinetree.control.controller import Controller
from kinetree.control.gains import as_gain
from kinetree.control.robots import with_motors
from kinetree.errors import ArgumentError
from kinetree.ops import Array, sqrt
from kinetree.robot import Robot


@final
class GravityCompensation(Controller):
    """τ = G(q) + d v + f v / √(v² + w²): `controller(q, v)`.

    viscous   d [N m s/rad or N s/m], and coulomb f [N m or N]: numbers, or one for each joint; those of the model
              unless given, also where they are not part of its dynamics (`passive=False`). Less than what there is
              leaves the arm some friction to come to rest by; more makes it run away
    width     w, the speed at which Coulomb friction is compensated by 70 % [rad/s or m/s]; the model's unless given
    """

    def __init__(self, robot: Robot, viscous: Any = None, coulomb: Any = None, width: float | None = None) -> None:
        robot = with_motors(robot, "GravityCompensation")
        own = _of_joints(robot)
        given = {"viscous": own[0] if viscous is None else viscous, "coulomb": own[1] if coulomb is None else coulomb}
        settings = {}
        for name, value in given.items():
            if np.ndim(value) == 2:
                raise ArgumentError(f"{name} has shape {np.shape(value)}; expected a number or {robot.nv} numbers")
            settings[name] = as_gain(name, value, robot.nv)
        w = as_number("width", robot.model.friction_width if width is None else width)
        if not 0.0 < w < np.inf:
            raise ArgumentError(f"width is {w:g}; expected a speed above zero")
        settings["width"] = np.array(w)
        self._prepare(robot, {"q": ("q",), "v": ("v",)}, {}, settings)

    def formula(self, robot: Robot, q: Array, v: Array, viscous: Any, coulomb: Any, width: Any) -> Array:
        """τ, (nv,)."""
        return robot.gravity_forces(q) + viscous * v + coulomb * v / sqrt(v * v + width * width)


def _of_joints(robot: Robot) -> tuple[Array, Array]:
    """Damping and friction of the joints, as their leaders feel them, (nv,) each."""
    damping, friction = np.zeros((2, robot.nv))
    for joint in robot.model.joints:
        if joint.nv:
            damping[joint.v_slice] += joint.lever**2 * np.asarray(joint.dynamics.damping)
            friction[joint.v_slice] += abs(joint.lever) * np.asarray(joint.dynamics.friction)
    return damping, friction
