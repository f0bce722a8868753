"""Differential flatness of multicopters: attitude, rates and wrench from the path of the centre of mass and the heading
(Mellinger, Kumar 2011; Faessler, Franchi, Scaramuzza 2018).

The thrust is along the body's z, so that its direction is that of a - g; the heading ψ turns the body about it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinetree import ops
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.spatial.rotation import quaternion_from_matrix

LEAST_THRUST = 1e-6
"""[m/s²], below which the direction of the thrust is not known."""


class FlatState(NamedTuple):
    """Derivatives of the centre of mass in the world, (…, 3) [m, s], and of the heading (…) [rad, s]."""

    position: Any
    velocity: Any
    acceleration: Any
    jerk: Any
    snap: Any
    yaw: Any
    yaw_rate: Any
    yaw_acceleration: Any


class AttitudeMotion(NamedTuple):
    """A rotation from body to world (3, 3), and angular velocity and acceleration in body axes (3,) [rad/s, rad/s²]."""

    rotation: Any
    rate: Any
    acceleration: Any


def direction(n: Array, n1: Array, n2: Array) -> tuple[Array, Array, Array]:
    """b = n/|n| with its first and second rate, from those of n.

    Of n = N b:  ṅ = Ṅ b + N ḃ  with  Ṅ = b·ṅ,  and  n̈ = N̈ b + 2 Ṅ ḃ + N b̈  with  N̈ = ḃ·ṅ + b·n̈.
    """
    N = ops.maximum(ops.sqrt(n @ n + LEAST_THRUST**4), LEAST_THRUST)
    b = n / N
    N1 = b @ n1
    b1 = (n1 - N1 * b) / N
    N2 = b1 @ n1 + b @ n2
    b2 = (n2 - N2 * b - 2.0 * N1 * b1) / N
    return b, b1, b2


def attitude(thrust: Array, thrust_rate: Array, thrust_acceleration: Array, yaw: Any, rate: Any, acc: Any) -> Any:
    """The `AttitudeMotion` whose z is along a thrust (3,) with these rates, at a heading ψ [rad] with these rates:

        b₃ = A/|A|,   c = (cosψ, sinψ, 0),   b₂ = b₃ × c/|b₃ × c|,   b₁ = b₂ × b₃,   R = [b₁ b₂ b₃]
        ω = (b₃·ḃ₂, b₁·ḃ₃, b₂·ḃ₁),   ω̇ = (b₃·b̈₂ - ω_y ω_z, b₁·b̈₃ - ω_x ω_z, b₂·b̈₁ - ω_x ω_y)

    from Ṙ = R [ω]× and R̈ = R ([ω̇]× + [ω]×²). It is singular where the thrust is along c: at a pitch of 90°.
    """
    b3, d3, e3 = direction(thrust, thrust_rate, thrust_acceleration)
    cos, sin = ops.cos(yaw), ops.sin(yaw)
    c = np.array([cos, sin, 0.0 * cos])
    across = np.array([-sin, cos, 0.0 * cos])
    c1 = rate * across
    c2 = acc * across - rate * rate * c
    n = ops.cross(b3, c)
    n1 = ops.cross(d3, c) + ops.cross(b3, c1)
    n2 = ops.cross(e3, c) + 2.0 * ops.cross(d3, c1) + ops.cross(b3, c2)
    b2, d2, e2 = direction(n, n1, n2)
    b1 = ops.cross(b2, b3)
    d1 = ops.cross(d2, b3) + ops.cross(b2, d3)
    e1 = ops.cross(e2, b3) + 2.0 * ops.cross(d2, d3) + ops.cross(b2, e3)
    x, y, z = b3 @ d2, b1 @ d3, b2 @ d1
    turned = np.array([b3 @ e2 - y * z, b1 @ e3 - x * z, b2 @ e1 - x * y])
    return AttitudeMotion(np.stack([b1, b2, b3], axis=1), np.array([x, y, z]), turned)


class FlatMotion(NamedTuple):
    """The motion of a multicopter on a flat path, and the wrench that produces it."""

    q: Any
    v: Any
    a: Any
    wrench: Any
    """Collective thrust [N] and moments about x, y, z [N m] in body axes, (4,)."""


def flat_motion(robot: Robot, flat: FlatState) -> FlatMotion:
    """q, v, a and wrench of a robot without joints, whose centre of mass is at the origin of its base.

    M a + C v + G = τ with τ = (0, 0, f, m): the force is along z by the choice of the attitude.
    """
    R, w, w1 = attitude(
        flat.acceleration - robot.gravity, flat.jerk, flat.snap, flat.yaw, flat.yaw_rate, flat.yaw_acceleration
    )
    velocity = R.T @ flat.velocity
    q = np.concatenate([np.asarray(flat.position), quaternion_from_matrix(R)])
    v = np.concatenate([velocity, w])
    a = np.concatenate([R.T @ flat.acceleration - ops.cross(w, velocity), w1])
    tau = robot.inverse_dynamics(q, v, a)
    return FlatMotion(q, v, a, tau[2:6])
