"""Sheet 4: pseudo-inverses, steps of Algorithm 1, priorities, tracking."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.course.exercise import exercise
from kinetree.ops import Array

ARM = kt.load("arm7")
Q = np.array([0.1, 0.7, 0.1, -1.2, 0.1, 0.9, 0.0])
TOOL = ARM.eager.frame("tool0")  # nothing is compiled before an exercise is asked for
J = TOOL.jacobian(Q)
TWIST = np.array([0.1, -0.2, 0.05, 0.3, 0.0, -0.1])


@exercise("4.1", "A pseudo-inverse", J=J)
def pseudo_inverse(J: Array) -> Array:
    """J is (6, 7) and has full rank. Find J⁺, (7, 6)."""
    return np.linalg.pinv(J)


@exercise("4.2", "Damped", J=J, damping=0.1)
def damped(J: Array, damping: float) -> Array:
    """Find Jᵀ (J Jᵀ + λ² 1)⁻¹, (7, 6), with λ = damping."""
    return J.T @ np.linalg.inv(J @ J.T + damping**2 * np.eye(6))


@damped.mistake("λ enters as its square")
def _not_squared(J: Array, damping: float) -> Array:
    return J.T @ np.linalg.inv(J @ J.T + damping * np.eye(6))


@exercise("4.3", "The null space", J=J)
def null_space(J: Array) -> Array:
    """Find the projector N, (7, 7), onto velocities that do not move the tool: J N = 0, N N = N, N = Nᵀ."""
    return np.eye(7) - np.linalg.pinv(J) @ J


@null_space.mistake("that is the projector onto the other part: subtract it from 1")
def _range(J: Array) -> Array:
    return np.linalg.pinv(J) @ J


def _reaches(q: Array, target: Array) -> bool:
    tip = np.array([np.cos(q[0]) + 0.5 * np.cos(q[0] + q[1]), np.sin(q[0]) + 0.5 * np.sin(q[0] + q[1])])
    return bool(np.abs(tip - target).max() < 1e-6 and q[1] >= -1e-9)


@exercise("4.4", "Two links to a point", draw=lambda rng: (_reachable(rng),), holds=_reaches)
def two_links(target: Array) -> Array:
    """Write a function that returns angles (q_1, q_2) with which the tip of exercise 3.1 is at the point target = (x,
    z), with q_2 ≥ 0."""
    c2 = (target @ target - 1.25) / 1.0
    q2 = np.arccos(np.clip(c2, -1.0, 1.0))
    q1 = np.arctan2(target[1], target[0]) - np.arctan2(0.5 * np.sin(q2), 1.0 + 0.5 * np.cos(q2))
    return np.array([q1, q2])


def _reachable(rng: np.random.Generator) -> Array:
    angle, radius = rng.uniform(-3.0, 3.0), rng.uniform(0.6, 1.4)
    return radius * np.array([np.cos(angle), np.sin(angle)])


@two_links.mistake("the tip is there, but q_2 is negative: the elbow is on the other side")
def _other_elbow(target: Array) -> Array:
    q1, q2 = two_links.answer(target)
    inner = np.arctan2(0.5 * np.sin(q2), 1.0 + 0.5 * np.cos(q2))
    return np.array([q1 + 2.0 * inner, -q2])


@exercise("4.5", "One step of Algorithm 1", robot=ARM, q=Q, target=TOOL.pose(Q + 0.1))
def step(robot: kt.Robot, q: Array, target: Array) -> Array:
    """Find Δq = J⁺ (Δr, Δφ), (7,), of one step of numerical inverse kinematics: Δr from the origin of "tool0" to that
    of the pose target, Δφ the rotation vector of R* Rᵀ, in world axes."""
    pose = robot.frame("tool0").pose(q)
    return np.linalg.pinv(robot.frame("tool0").jacobian(q)) @ _error(pose, target)


def _error(pose: Array, target: Array) -> Array:
    turn = kt.rotations.log(target[:3, :3] @ pose[:3, :3].T)
    return np.concatenate([target[:3, 3] - pose[:3, 3], turn])


@step.mistake("the rotation is in the axes of the tool: R* Rᵀ, not Rᵀ R*")
def _in_tool(robot: kt.Robot, q: Array, target: Array) -> Array:
    pose = robot.frame("tool0").pose(q)
    turn = kt.rotations.log(pose[:3, :3].T @ target[:3, :3])
    error = np.concatenate([target[:3, 3] - pose[:3, 3], turn])
    return np.linalg.pinv(robot.frame("tool0").jacobian(q)) @ error


@exercise("4.6", "Two tasks in strict order", robot=ARM, q=Q, first=TWIST, second=np.array([0.0, 0.2, 0.1]))
def priorities(robot: kt.Robot, q: Array, first: Array, second: Array) -> Array:
    """First "tool0" moves with the twist `first`, (6,), then, as well as that allows, the origin of "forearm_link" with
    the velocity `second`, (3,): q̇ = J_1⁺ w_1 + (J_2 N_1)⁺ (w_2 - J_2 J_1⁺ w_1), (7,)."""
    J1, J2 = robot.frame("tool0").jacobian(q), robot.frame("forearm_link").jacobian(q)[:3]
    start = np.linalg.pinv(J1) @ first
    N1 = np.eye(7) - np.linalg.pinv(J1) @ J1
    return start + np.linalg.pinv(J2 @ N1, rcond=1e-9) @ (second - J2 @ start)


@priorities.mistake("both tasks count the same in it: the second must only use what the first leaves")
def _stacked(robot: kt.Robot, q: Array, first: Array, second: Array) -> Array:
    J1, J2 = robot.frame("tool0").jacobian(q), robot.frame("forearm_link").jacobian(q)[:3]
    return np.linalg.pinv(np.vstack([J1, J2])) @ np.concatenate([first, second])


@exercise("4.7", "Tracking with feedback", robot=ARM, q=Q, target=TOOL.pose(Q + 0.05), twist=TWIST, k_PP=5.0, k_PR=2.0)
def tracking(robot: kt.Robot, q: Array, target: Array, twist: Array, k_PP: float, k_PR: float) -> Array:
    """Find q̇ = J⁺ (v* + k_PP Δr, ω* + k_PR Δφ), (7,), with twist = (v*, ω*) and the errors of exercise 4.5."""
    gains = np.concatenate([np.full(3, k_PP), np.full(3, k_PR)])
    frame = robot.frame("tool0")
    return np.linalg.pinv(frame.jacobian(q)) @ (twist + gains * _error(frame.pose(q), target))


@tracking.mistake("it pushes away from the target: errors go from where the tool is to where it should be")
def _away(robot: kt.Robot, q: Array, target: Array, twist: Array, k_PP: float, k_PR: float) -> Array:
    gains, frame = np.concatenate([np.full(3, k_PP), np.full(3, k_PR)]), robot.frame("tool0")
    return np.linalg.pinv(frame.jacobian(q)) @ (twist - gains * _error(frame.pose(q), target))
