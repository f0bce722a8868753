"""Sheet 6: floating bases and contacts."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.course.exercise import exercise
from kinetree.ops import Array

DOG = kt.load("quadruped", base="floating")
FEET = tuple(name for name in DOG.frame_names if name.endswith("_foot"))
Q = DOG.neutral()
for _k, _name in enumerate(DOG.joint_names):
    Q[7 + _k] = {"haa": 0.0, "hfe": 0.6, "kfe": -1.2}[_name[-3:]]
V = np.linspace(-0.5, 0.5, DOG.nv)


def _contact_jacobian(robot: kt.Robot, q: Array) -> Array:
    return np.vstack([robot.frame(foot).jacobian(q)[:3] for foot in FEET])


@exercise("6.1", "What motors move", robot=DOG)
def selection(robot: kt.Robot) -> Array:
    """Find S, (12, 18), with S v the velocities of the joints that have motors; Sᵀ τ_j are then the generalized
    forces."""
    return np.hstack([np.zeros((12, 6)), np.eye(12)])


@exercise("6.2", "The Jacobian of four feet", robot=DOG, q=Q, feet=FEET)
def contact_jacobian(robot: kt.Robot, q: Array, feet: tuple[str, ...]) -> Array:
    """Find J_c, (12, 18), of the velocities of the feet in world axes, three rows for each foot in the order of
    `feet`."""
    return _contact_jacobian(robot, q)


@contact_jacobian.mistake("the base moves the feet as well: the first six columns are not zero")
def _fixed_base(robot: kt.Robot, q: Array, feet: tuple[str, ...]) -> Array:
    return np.hstack([np.zeros((12, 6)), _contact_jacobian(robot, q)[:, 6:]])


@exercise("6.3", "Motions that keep the feet", robot=DOG, q=Q, feet=FEET)
def support_projector(robot: kt.Robot, q: Array, feet: tuple[str, ...]) -> Array:
    """Find the support-consistent projector N_c = 1 - M⁻¹ J_cᵀ (J_c M⁻¹ J_cᵀ)⁻¹ J_c, (18, 18)."""
    J, W = _contact_jacobian(robot, q), robot.inverse_mass_matrix(q)
    return np.eye(18) - W @ J.T @ np.linalg.solve(J @ W @ J.T, J)


@support_projector.mistake("that is the projector of the Moore-Penrose inverse; this one is weighted by M⁻¹")
def _euclidean(robot: kt.Robot, q: Array, feet: tuple[str, ...]) -> Array:
    J = _contact_jacobian(robot, q)
    return np.eye(18) - np.linalg.pinv(J) @ J


@exercise("6.4", "Forces of the ground", robot=DOG, q=Q, v=np.zeros(18), tau=np.zeros(12), feet=FEET)
def contact_forces(robot: kt.Robot, q: Array, v: Array, tau: Array, feet: tuple[str, ...]) -> Array:
    """The feet stand still and the motors have the torques tau, (12,). Find the forces of the ground on the feet,
    (12,), in the order of `feet`, in world axes."""
    system = robot.constrained([kt.Contact(foot) for foot in feet])
    return system.forward_dynamics(q, v, np.concatenate([np.zeros(6), tau]))[1]


@contact_forces.mistake("these are the forces of the feet on the ground; expected those of the ground on the feet")
def _reaction(robot: kt.Robot, q: Array, v: Array, tau: Array, feet: tuple[str, ...]) -> Array:
    return -contact_forces.answer(robot, q, v, tau, feet)


@exercise("6.5", "What is not actuated", robot=DOG, q=Q, feet=FEET)
def free_motions(robot: kt.Robot, q: Array, feet: tuple[str, ...]) -> Array:
    """How many independent motions keep all four feet where they are? A number."""
    return np.asarray(float(robot.nv - np.linalg.matrix_rank(_contact_jacobian(robot, q))))


@free_motions.mistake("that is the number of equations; it is subtracted from the number of velocities")
def _equations(robot: kt.Robot, q: Array, feet: tuple[str, ...]) -> Array:
    return np.asarray(12.0)


@exercise("6.6", "Touch down", robot=DOG, q=Q, v=V, feet=FEET)
def impact(robot: kt.Robot, q: Array, v: Array, feet: tuple[str, ...]) -> Array:
    """The robot lands on all feet with the velocity v, and they stay on the ground. Find its velocity after the impact,
    (18,)."""
    J, W = _contact_jacobian(robot, q), robot.inverse_mass_matrix(q)
    return v - W @ J.T @ np.linalg.solve(J @ W @ J.T, J @ v)


@impact.mistake("that is the closest velocity without masses; the impulse acts through M⁻¹")
def _without_mass(robot: kt.Robot, q: Array, v: Array, feet: tuple[str, ...]) -> Array:
    J = _contact_jacobian(robot, q)
    return v - np.linalg.pinv(J) @ J @ v
