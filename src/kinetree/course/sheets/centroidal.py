"""Sheet 7: the robot as a whole."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.course.exercise import exercise
from kinetree.course.sheets.floating_base import DOG, Q, V
from kinetree.ops import Array


@exercise("7.1", "The Jacobian of the centre of mass", robot=DOG, q=Q)
def com_jacobian(robot: kt.Robot, q: Array) -> Array:
    """Find J_com, (3, 18), with ċ = J_com v."""
    return robot.center_of_mass_jacobian(q)


@com_jacobian.mistake("that is the linear momentum: divide by the mass")
def _momentum(robot: kt.Robot, q: Array) -> Array:
    return robot.mass * robot.center_of_mass_jacobian(q)


@exercise("7.2", "Centroidal momentum", robot=DOG, q=Q, v=V)
def momentum(robot: kt.Robot, q: Array, v: Array) -> Array:
    """Find linear momentum and angular momentum about the centre of mass, (6,), in world axes, linear part first."""
    return robot.centroidal_momentum(q, v)


@momentum.mistake("the angular part is about the origin of the world: move it to the centre of mass")
def _about_origin(robot: kt.Robot, q: Array, v: Array) -> Array:
    h = robot.centroidal_momentum(q, v)
    return np.concatenate([h[:3], h[3:] + np.cross(robot.center_of_mass(q), h[:3])])


@exercise("7.3", "The average angular velocity", robot=DOG, q=Q, v=V)
def average(robot: kt.Robot, q: Array, v: Array) -> Array:
    """Find the angular velocity (3,) with which the robot, frozen in its posture, would have the angular momentum it
    has."""
    return robot.average_angular_velocity(q, v)


@average.mistake("that is the angular velocity of the base: limbs count as well")
def _of_base(robot: kt.Robot, q: Array, v: Array) -> Array:
    return robot.frame("base_link").velocity(q, v)[3:]


@exercise("7.4", "A falling cat", robot=DOG, q=Q, v_joints=V[6:])
def cat(robot: kt.Robot, q: Array, v_joints: Array) -> Array:
    """The robot falls without momentum and moves its joints with v_joints, (12,). Find velocity and angular velocity
    (6,) of its base, in base axes, with which its centroidal momentum stays zero."""
    A = robot.centroidal_momentum_matrix(q)
    return -np.linalg.solve(A[:, :6], A[:, 6:] @ v_joints)


@exercise("7.5", "The wrench of the ground", robot=DOG, q=Q, v=V, a=np.linspace(1.0, -1.0, 18))
def wrench(robot: kt.Robot, q: Array, v: Array, a: Array) -> Array:
    """Find the sum of all forces of the ground, and their moment about the centre of mass, (6,), for this motion."""
    rate = robot.centroidal_momentum_matrix(q) @ a + robot.centroidal_momentum_bias(q, v)
    return rate + np.array([0.0, 0.0, 9.81 * robot.mass, 0.0, 0.0, 0.0])


@wrench.mistake("gravity is missing: the ground carries the weight, too")
def _weightless(robot: kt.Robot, q: Array, v: Array, a: Array) -> Array:
    return robot.centroidal_momentum_matrix(q) @ a + robot.centroidal_momentum_bias(q, v)
