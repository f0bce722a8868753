"""Geometric tracking control on SE(3): attitude errors as rotations, without angles that could be singular."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinetree import ops
from kinetree.control.controller import Controller
from kinetree.control.gains import as_gain, times
from kinetree.flight.flatness import FlatState, attitude
from kinetree.flight.flyers import REFERENCE, STATE, STILL, as_flyer
from kinetree.ops import Array
from kinetree.robot import Robot


@final
class GeometricControl(Controller):
    """τ = (0, 0, f, m, τ_j) of a flying robot: `controller(q, v, path(t))` (Lee, Leok, McClamroch 2010).

        A = a* - g - k_x (x - x*) - k_v (ẋ - ẋ*),     f = m A·b₃            thrust, of the centre of mass x
        R* = [b₁ b₂ b₃] with b₃ along A and the heading ψ*                  `kinetree.flight.flatness.attitude`
        e_R = ½ (R*ᵀR - RᵀR*)^∨,   e_ω = ω - RᵀR* ω*
        ω̇ = -k_R e_R - k_ω e_ω - ω × RᵀR*ω* + RᵀR* ω̇*
        M a + C v + G = τ   with this f and ω̇, and a linear acceleration that follows from f

    Gains are those of accelerations, so that they do not depend on mass and inertia: [1/s²] and [1/s]. Joints, if the
    robot has some, go to `joints` with joint_stiffness and joint_damping; what they do to the base is part of the
    equation. References after the position are zero if they are not given.
    """

    def __init__(
        self,
        robot: Robot,
        position_gain: Any = 6.0,
        velocity_gain: Any = 4.5,
        attitude_gain: Any = 200.0,
        rate_gain: Any = 25.0,
        joint_stiffness: Any = 100.0,
        joint_damping: Any = 20.0,
    ) -> None:
        robot = as_flyer(robot, "GeometricControl")
        nj = robot.nv - 6
        given = {
            "position_gain": (position_gain, 3),
            "velocity_gain": (velocity_gain, 3),
            "attitude_gain": (attitude_gain, 3),
            "rate_gain": (rate_gain, 3),
            "joint_stiffness": (joint_stiffness, nj),
            "joint_damping": (joint_damping, nj),
        }
        settings = {name: as_gain(name, value, size) for name, (value, size) in given.items()}
        still = {**STILL, "joints": robot.neutral()[7:]}
        self._prepare(robot, {**STATE, **REFERENCE, "joints": (nj,)}, still, settings)

    def formula(self, robot: Robot, q: Array, v: Array, *given: Any) -> Array:
        """τ, (nv,)."""
        path, (joints, k_x, k_v, k_R, k_w, stiffness, damping) = FlatState(*given[:8]), given[8:]
        R = robot.frame(robot.body_names[0]).pose(q)[:3, :3]
        w = v[3:6]
        away = robot.center_of_mass(q) - path.position
        drift = robot.center_of_mass_velocity(q, v) - path.velocity
        A = path.acceleration - robot.gravity - times(k_x, away) - times(k_v, drift)
        thrust = robot.mass * (A @ R[:, 2])
        wanted = attitude(A, *path[3:])
        back = R.T @ wanted.rotation
        rate = back @ wanted.rate
        turned = -0.5 * ops.axial(back)
        spin = -times(k_R, turned) - times(k_w, w - rate) - ops.cross(w, rate)
        spin = spin + back @ wanted.acceleration
        bent = times(stiffness, joints - q[7:]) - times(damping, v[6:])
        return with_thrust(robot, q, v, thrust, spin, bent)


def with_thrust(robot: Robot, q: Array, v: Array, thrust: Any, spin: Array, bent: Array) -> Array:
    """τ = (0, 0, f, m, τ_j) (nv,) that gives a thrust f and the accelerations ω̇ of the base and q̈ of the joints.

    Of M a + C v + G = τ, the rows of the force are m v̇ + (the rest) = (0, 0, f), since the upper left block of M is
    m 1: they give v̇, and the other rows then m and τ_j.
    """
    still = robot.inverse_dynamics(q, v, np.concatenate([np.zeros(3), spin, bent]))
    force = np.array([0.0 * thrust, 0.0 * thrust, thrust])
    linear = (force - still[:3]) / robot.mass
    tau = robot.inverse_dynamics(q, v, np.concatenate([linear, spin, bent]))
    return np.concatenate([force, tau[3:]])
