"""Static stability: which way an aircraft turns when it is disturbed, and the neutral point."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from kinetree import ops
from kinetree.flight.aerospace import robot_state
from kinetree.flight.flyers import without_joints
from kinetree.flight.part import Aircraft, placement
from kinetree.flight.trim import Trim, required
from kinetree.functions.derivatives import jacobian
from kinetree.functions.law import Law, compile
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.spatial import Force


class StaticStability(NamedTuple):
    """Derivatives of the moments about the centre of mass at a trim, by angles [N m/rad]."""

    pitch_stiffness: float
    """∂m/∂α: negative is stable."""
    yaw_stiffness: float
    """∂n/∂β: positive is stable, a weathercock."""
    roll_stiffness: float
    """∂l/∂β: negative is stable, dihedral."""
    lift_slope: float
    """∂L/∂α [N/rad]."""
    neutral_point: float
    """How far behind the centre of mass the lift of a disturbance acts [m]: -(∂m/∂α)/(∂L/∂α)."""

    def margin(self, chord: float) -> float:
        """The static margin: the neutral point by the chord, positive if stable."""
        return self.neutral_point / chord

    @property
    def is_stable(self) -> bool:
        """In pitch, yaw and roll."""
        return self.pitch_stiffness < 0.0 < self.yaw_stiffness and self.roll_stiffness < 0.0


def static_stability(robot: Robot, aircraft: Aircraft, about: Trim) -> StaticStability:
    """By exact derivatives of the forces on the aircraft, at a trim with its inputs held."""
    robot = without_joints(robot, "static_stability")
    required(about)
    slope = _slope(aircraft.in_still_air, about.frame)(robot, np.zeros(2), about.x, about.u)
    force, moment = slope[:3], slope[3:]
    a = about.alpha
    lift = float(force[0, 0] * np.sin(a) - force[2, 0] * np.cos(a))
    pitch = float(moment[1, 0])
    return StaticStability(pitch, float(moment[2, 1]), float(moment[0, 1]), lift, -pitch / lift)


@lru_cache(maxsize=64)
def _slope(aircraft: Aircraft, frame: str) -> Law:
    def wrench(robot: Any, angles: Any, x: Any, u: Any) -> Array:
        V = ops.sqrt(x[6] * x[6] + x[7] * x[7] + x[8] * x[8])
        alpha = ops.atan2(x[8], x[6]) + angles[0]
        beta = ops.atan2(x[7], ops.sqrt(x[6] * x[6] + x[8] * x[8])) + angles[1]
        along = V * ops.cos(beta)
        velocity = np.array([along * ops.cos(alpha), V * ops.sin(beta), along * ops.sin(alpha)])
        q, v = robot_state(robot, frame, np.concatenate([x[:6], velocity, x[9:]]))
        tau = aircraft.efforts(robot, q, v, 0.0, u)
        X = placement(robot, frame)
        center = robot.model.inertias[1].com
        on_frame = X * Force.from_vector(tau)  # of the base, at its origin; then in the frame's axes
        return on_frame.moved(X.R @ (center - X.p)).vector()

    law = compile(wrench, shapes={"angles": (2,), "x": (12,), "u": (len(aircraft.inputs),)})
    return jacobian(law, wrt="angles")
