"""Sheet 8: joint and task space control, quadratic programs."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.course.exercise import exercise, turned
from kinetree.ops import Array

ARM = kt.load("arm6")
Q, V = np.array([0.3, -1.2, 1.5, 0.4, 0.8, 0.2]), np.linspace(-0.4, 0.4, 6)
TARGET = Q + np.linspace(0.1, -0.1, 6)


@exercise("8.1", "How far it sags", robot=ARM, q=Q, stiffness=400.0)
def sag(robot: kt.Robot, q: Array, stiffness: float) -> Array:
    """Springs and dampers at the joints, τ = k (q* - q) - d q̇, hold the arm at rest at q without anything that
    compensates gravity. Find q* - q, (6,)."""
    return robot.gravity_forces(q) / stiffness


@exercise("8.2", "Joint impedance with gravity", robot=ARM, q=Q, v=V, target=TARGET, stiffness=100.0, damping=20.0)
def impedance(robot: kt.Robot, q: Array, v: Array, target: Array, stiffness: float, damping: float) -> Array:
    """Find the torques (6,) of k (q* - q) - d q̇ + G(q), with q* = target."""
    return stiffness * (target - q) - damping * v + robot.gravity_forces(q)


@impedance.mistake("gravity is missing")
def _without_gravity(robot: kt.Robot, q: Array, v: Array, target: Array, stiffness: float, damping: float) -> Array:
    return stiffness * (target - q) - damping * v


@exercise("8.3", "Computed torque", robot=ARM, q=Q, v=V, target=TARGET, stiffness=100.0, damping=20.0)
def computed_torque(robot: kt.Robot, q: Array, v: Array, target: Array, stiffness: float, damping: float) -> Array:
    """Find the torques (6,) with which q̈ = k (q* - q) - d q̇, with q* = target."""
    return robot.inverse_dynamics(q, v, stiffness * (target - q) - damping * v)


@computed_torque.mistake("gains are accelerations here: multiply by the mass matrix")
def _not_weighted(robot: kt.Robot, q: Array, v: Array, target: Array, stiffness: float, damping: float) -> Array:
    return stiffness * (target - q) - damping * v + robot.bias_forces(q, v)


@computed_torque.mistake("Coriolis and gravity forces are missing")
def _without_bias(robot: kt.Robot, q: Array, v: Array, target: Array, stiffness: float, damping: float) -> Array:
    return robot.mass_matrix(q) @ (stiffness * (target - q) - damping * v)


@exercise("8.4", "A damping that is critical", stiffness=np.array([25.0, 100.0, 400.0]))
def critical(stiffness: Array) -> Array:
    """Find the damping d, (3,), of q̈ = -k q - d q̇ for each k with which q comes back as fast as it can without
    passing by."""
    return 2.0 * np.sqrt(stiffness)


@critical.mistake("√k is the frequency; the damping is twice that")
def _frequency(stiffness: Array) -> Array:
    return np.sqrt(stiffness)


@exercise("8.5", "Inertia at the tool", robot=ARM, q=Q)
def task_inertia(robot: kt.Robot, q: Array) -> Array:
    """Find Λ = (J M⁻¹ Jᵀ)⁻¹, (6, 6), of "tool0"."""
    J = robot.frame("tool0").jacobian(q)
    return np.linalg.inv(J @ robot.inverse_mass_matrix(q) @ J.T)


@task_inertia.mistake("that is Λ⁻¹: invert it")
def _mobility(robot: kt.Robot, q: Array) -> Array:
    J = robot.frame("tool0").jacobian(q)
    return J @ robot.inverse_mass_matrix(q) @ J.T


@exercise(
    "8.6", "Operational space control", robot=ARM, q=Q, v=V, acceleration=np.array([0.5, 0.0, -0.5, 0.2, 0.1, 0.0])
)
def operational_space(robot: kt.Robot, q: Array, v: Array, acceleration: Array) -> Array:
    """Find torques (6,) with which "tool0" accelerates as asked, (6,): τ = Jᵀ (Λ ẇ* + μ + p)."""
    frame = robot.frame("tool0")
    F = frame.operational_space_inertia(q) @ acceleration
    F = F + frame.operational_space_bias(q, v) + frame.operational_space_gravity(q)
    return frame.jacobian(q).T @ F


@operational_space.mistake("the velocity is missing: μ = Λ (J M⁻¹ C q̇ - J̇ q̇)")
def _without_velocity(robot: kt.Robot, q: Array, v: Array, acceleration: Array) -> Array:
    frame = robot.frame("tool0")
    F = frame.operational_space_inertia(q) @ acceleration + frame.operational_space_gravity(q)
    return frame.jacobian(q).T @ F


@exercise("8.7", "Directions of motion and of force", R=turned(0.4, -0.3, 0.2))
def hybrid(R: Array) -> Array:
    """The tool presses along z of a table whose axes are the columns of R, in world axes, and moves in its plane. Find
    the matrix (3, 3) that takes the part of a velocity that is controlled as motion."""
    return R @ np.diag([1.0, 1.0, 0.0]) @ R.T


@hybrid.mistake("that is the part along which it presses")
def _normal(R: Array) -> Array:
    return R @ np.diag([0.0, 0.0, 1.0]) @ R.T


@hybrid.mistake("turn into the axes of the table first, and back last: R Σ Rᵀ, not Rᵀ Σ R")
def _other_way(R: Array) -> Array:
    return R.T @ np.diag([1.0, 1.0, 0.0]) @ R


@exercise(
    "8.8",
    "A quadratic program by hand",
    H=np.diag([2.0, 4.0, 1.0]),
    g=np.array([-2.0, 1.0, 0.5]),
    A=np.array([[1.0, 1.0, 1.0]]),
    b=np.array([1.0]),
)
def program(H: Array, g: Array, A: Array, b: Array) -> Array:
    """Find the x, (3,), that minimizes ½ xᵀ H x + gᵀ x where A x = b."""
    KKT = np.block([[H, A.T], [A, np.zeros((1, 1))]])
    return np.linalg.solve(KKT, np.concatenate([-g, b]))[:3]


@program.mistake("the equation A x = b does not hold")
def _unconstrained(H: Array, g: Array, A: Array, b: Array) -> Array:
    return -np.linalg.solve(H, g)


@program.mistake("the gradient is H x + g: g changes its sign on the right side")
def _sign(H: Array, g: Array, A: Array, b: Array) -> Array:
    KKT = np.block([[H, A.T], [A, np.zeros((1, 1))]])
    return np.linalg.solve(KKT, np.concatenate([g, b]))[:3]
