"""The state of an aircraft as flight dynamics writes it: body axes x forward, y right, z down; Euler angles φ, θ, ψ.

    x = (N, E, h, φ, θ, ψ, u, v, w, p, q, r)

N and E are the world's x and -y, h is its z: the heading ψ is positive to the right, clockwise seen from above.
The twelve numbers and the q, v of a robot tell the same; what is fixed to the base is found by its frame.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinetree import ops
from kinetree.flight.flyers import without_joints
from kinetree.flight.part import Aircraft, placement
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.spatial import Motion, Transform
from kinetree.spatial.rotation import quaternion_from_matrix

STATES = ("N", "E", "h", "φ", "θ", "ψ", "u", "v", "w", "p", "q", "r")
LONGITUDINAL, LATERAL = ("u", "w", "q", "θ"), ("v", "p", "r", "φ")
"""The states of the two motions that a symmetric aircraft in level flight has apart from each other."""
TO_NED = np.diag([1.0, -1.0, -1.0])
"""Between the axes of the world, z up, and north, east, down: its own inverse."""


def euler_matrix(phi: Any, theta: Any, psi: Any) -> Array:
    """R from body axes to north, east, down: R_z(ψ) R_y(θ) R_x(φ), (3, 3)."""
    cf, sf, ct, st, cp, sp = (f(x) for x in (phi, theta, psi) for f in (ops.cos, ops.sin))
    return np.array(
        [
            [ct * cp, sf * st * cp - cf * sp, cf * st * cp + sf * sp],
            [ct * sp, sf * st * sp + cf * cp, cf * st * sp - sf * cp],
            [-st, sf * ct, cf * ct],
        ]
    )


def euler_rates(phi: Any, theta: Any, rates: Array) -> Array:
    """φ̇, θ̇, ψ̇ (3,) of the rates p, q, r: φ̇ = p + (q sinφ + r cosφ) tanθ, θ̇ = q cosφ - r sinφ,
    ψ̇ = (q sinφ + r cosφ)/cosθ."""
    p, q, r = rates
    s, c = ops.sin(phi), ops.cos(phi)
    turn = (q * s + r * c) / ops.cos(theta)
    return np.array([p + turn * ops.sin(theta), q * c - r * s, turn])


def body_rates(phi: Any, theta: Any, rates: Array) -> Array:
    """p, q, r (3,) of φ̇, θ̇, ψ̇: the inverse of `euler_rates`, which is never singular."""
    roll, pitch, yaw = rates
    s, c, ct = ops.sin(phi), ops.cos(phi), ops.cos(theta)
    return np.array([roll - yaw * ops.sin(theta), pitch * c + yaw * ct * s, -pitch * s + yaw * ct * c])


class EulerAngles(NamedTuple):
    """[rad]"""

    phi: Any
    theta: Any
    psi: Any


def euler_angles(R: Array) -> EulerAngles:
    """φ, θ, ψ of a matrix from body axes to north, east, down; |θ| < 90°."""
    level = ops.sqrt(R[0, 0] * R[0, 0] + R[1, 0] * R[1, 0])
    return EulerAngles(ops.atan2(R[2, 1], R[2, 2]), ops.atan2(-R[2, 0], level), ops.atan2(R[1, 0], R[0, 0]))


def flight_attitude(robot: Robot, frame: str, q: Array) -> EulerAngles:
    """φ, θ, ψ of a frame with x forward, y right, z down, for one state or traced."""
    return euler_angles(TO_NED @ robot.frame(frame).pose(q)[:3, :3])


def speed_through_air(robot: Robot, frame: str, q: Array, velocity: Array, wind: Array) -> Any:
    """V [m/s] of a frame with this velocity (6,) in its own axes, in a wind (3,) in world axes."""
    through = velocity[:3] - robot.frame(frame).pose(q)[:3, :3].T @ wind
    return ops.sqrt(through @ through)


def robot_state(robot: Robot, frame: str, x: Array) -> tuple[Array, Array]:
    """q and v of a robot without joints, from the twelve numbers of its frame."""
    X = _placement(robot, frame)
    R = TO_NED @ euler_matrix(*x[3:6])  # from the frame to the world
    R_base = R @ X.R
    origin = np.array([x[0], -x[1], x[2]]) - R_base @ X.p
    V = X.inverse() * Motion(np.asarray(x[6:9]), np.asarray(x[9:12]))
    return np.concatenate([origin, quaternion_from_matrix(R_base)]), V.vector()


def flight_state(robot: Robot, frame: str, q: Array, v: Array) -> Array:
    """The twelve numbers of a frame, from q and v."""
    pose = robot.frame(frame).pose(q)
    x, y, z = pose[:3, 3]
    return np.concatenate(
        [
            np.array([x, -y, z]),
            np.array(euler_angles(TO_NED @ pose[:3, :3])),
            robot.frame(frame).velocity(q, v, "local"),
        ]
    )


def state_rates(robot: Robot, aircraft: Aircraft, frame: str, x: Array, u: Array) -> Array:
    """ẋ (12,) of the twelve numbers under inputs u: Euler's kinematics, and the forward dynamics of the robot."""
    q, v = robot_state(robot, frame, x)
    a = robot.forward_dynamics(q, v, aircraft.efforts(robot, q, v, 0.0, u))
    X = _placement(robot, frame)
    rates = X * Motion.from_vector(a)
    north, east, down = euler_matrix(*x[3:6]) @ x[6:9]
    return np.concatenate(
        [np.array([north, east, -down]), euler_rates(x[3], x[4], x[9:12]), rates.linear, rates.angular]
    )


def _placement(robot: Robot, frame: str) -> Transform:
    return placement(without_joints(robot, "the state of an aircraft"), frame)
