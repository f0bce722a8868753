"""Sheet 3: velocities, Jacobians, accelerations, statics."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.course.exercise import exercise
from kinetree.course.robots import irb120
from kinetree.ops import Array

Q = np.array([0.3, -0.6, 1.1, -0.5, 0.4, 0.2])
V = np.array([0.5, -0.3, 0.2, 0.4, -0.1, 0.3])


def _angles(rng: np.random.Generator) -> tuple[Array]:
    return (rng.uniform(-3.0, 3.0, 2),)


@exercise("3.1", "The tip of two links", draw=_angles)
def tip(q: Array) -> Array:
    """Two links of 1 m and 0.5 m turn in the vertical plane of x and z, the first by q_1 from the x axis up, the second
    by q_2 from the direction of the first. Write a function that returns the position (x, z) of the tip."""
    return np.array([np.cos(q[0]) + 0.5 * np.cos(q[0] + q[1]), np.sin(q[0]) + 0.5 * np.sin(q[0] + q[1])])


@tip.mistake("the second angle is measured from the first link, not from the x axis")
def _absolute(q: Array) -> Array:
    return np.array([np.cos(q[0]) + 0.5 * np.cos(q[1]), np.sin(q[0]) + 0.5 * np.sin(q[1])])


@exercise("3.2", "The Jacobian of two links by hand", draw=_angles)
def two_link_jacobian(q: Array) -> Array:
    """Write a function that returns the Jacobian (2, 2) of the tip of exercise 3.1."""
    s1, c1, s12, c12 = np.sin(q[0]), np.cos(q[0]), np.sin(q.sum()), np.cos(q.sum())
    return np.array([[-s1 - 0.5 * s12, -0.5 * s12], [c1 + 0.5 * c12, 0.5 * c12]])


@two_link_jacobian.mistake("the first joint moves the second link too: its column has two terms")
def _only_own_link(q: Array) -> Array:
    s1, c1, s12, c12 = np.sin(q[0]), np.cos(q[0]), np.sin(q.sum()), np.cos(q.sum())
    return np.array([[-s1, -0.5 * s12], [c1, 0.5 * c12]])


@exercise("3.3", "The geometric Jacobian of the IRB 120", draw=lambda rng: (rng.uniform(-2.0, 2.0, 6),))
def geometric_jacobian(q: Array) -> Array:
    """Write a function that returns the geometric Jacobian (6, 6) of the last frame of exercise 2.3: velocity of its
    origin and angular velocity, both in the axes of the base, linear part first."""
    return irb120().frame("link6").jacobian(q)


@geometric_jacobian.mistake("it is in the axes of the last frame; expected those of the base")
def _local(q: Array) -> Array:
    return irb120().frame("link6").jacobian(q, "local")


@geometric_jacobian.mistake(
    "the linear part is that of the point at the base's origin: take n × (r - r_i), with the tool's r"
)
def _spatial(q: Array) -> Array:
    return irb120().frame("link6").jacobian(q, "world")


@exercise("3.4", "The velocity of a tool", robot=kt.load("arm6"), q=Q, v=V)
def tool_velocity(robot: kt.Robot, q: Array, v: Array) -> Array:
    """Find velocity and angular velocity (6,) of the frame "tool0", at its origin in world axes, linear part first."""
    return robot.frame("tool0").velocity(q, v)


@exercise("3.5", "The analytic Jacobian", robot=kt.load("arm6"), q=Q)
def analytic_jacobian(robot: kt.Robot, q: Array) -> Array:
    """Find the analytic Jacobian (6, 6) of "tool0" for the position and ZYX Euler angles (z, y, x)."""
    return robot.frame("tool0").analytic_jacobian(q, rotation="ZYX")


@analytic_jacobian.mistake("that is the geometric Jacobian: its last rows are ω, not rates of angles")
def _geometric(robot: kt.Robot, q: Array) -> Array:
    return robot.frame("tool0").jacobian(q)


@analytic_jacobian.mistake("E_R has to be inverted: rates of angles are E_R⁻¹ ω")
def _not_inverted(robot: kt.Robot, q: Array) -> Array:
    J, angles = (
        robot.frame("tool0").jacobian(q),
        kt.rotations.euler_from_matrix(robot.frame("tool0").pose(q)[:3, :3], "ZYX"),
    )
    return np.concatenate([J[:3], kt.rotations.E_R(angles, "ZYX") @ J[3:]])


@exercise("3.6", "What is left of an acceleration", robot=kt.load("arm6"), q=Q, v=V)
def bias_acceleration(robot: kt.Robot, q: Array, v: Array) -> Array:
    """Find J̇ v, (6,), of "tool0": its acceleration where q̈ = 0, in world axes."""
    return robot.frame("tool0").bias_acceleration(q, v)


@exercise(
    "3.7", "Torques that hold a force", robot=kt.load("arm6"), q=Q, F=np.array([10.0, -5.0, 20.0, 0.5, 1.0, -0.3])
)
def static_torques(robot: kt.Robot, q: Array, F: Array) -> Array:
    """The tool presses on the world with the wrench F, (6,), at "tool0" in world axes. Find the torques for that,
    without gravity."""
    return robot.frame("tool0").jacobian(q).T @ F


@static_torques.mistake("forces map by the transpose of the Jacobian")
def _not_transposed(robot: kt.Robot, q: Array, F: Array) -> Array:
    return robot.frame("tool0").jacobian(q) @ F
