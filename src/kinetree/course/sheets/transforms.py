"""Sheet 2: homogeneous transforms, chains of them, Denavit-Hartenberg parameters."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.course.exercise import exercise, turned
from kinetree.course.robots import irb120
from kinetree.ops import Array

T = np.eye(4)
T[:3, :3], T[:3, 3] = turned(0.4, 0.1, -0.6), (0.3, -0.2, 0.5)


@exercise("2.1", "The inverse of a homogeneous transform", T=T)
def inverse(T: Array) -> Array:
    """T is (4, 4), with a rotation R and a position p. Find T⁻¹."""
    return np.linalg.inv(T)


@inverse.mistake("the position of the inverse is not -p: it is seen in the other axes, -Rᵀ p")
def _not_turned(T: Array) -> Array:
    wrong = np.eye(4)
    wrong[:3, :3], wrong[:3, 3] = T[:3, :3].T, -T[:3, 3]
    return wrong


@inverse.mistake("only a rotation is inverted by its transpose")
def _transposed(T: Array) -> Array:
    return T.T


@exercise("2.2", "One row of a Denavit-Hartenberg table", draw=lambda rng: tuple(rng.uniform(-1.5, 1.5, 4)))
def denavit_hartenberg(theta: float, d: float, a: float, alpha: float) -> Array:
    """Write a function that returns the transform (4, 4) of one row of a standard Denavit-Hartenberg table: Rz(theta)
    Tz(d) Tx(a) Rx(alpha)."""
    return _about_z(theta, d) @ _about_x(alpha, a)


def _about_z(angle: float, along: float) -> Array:
    return _placed(kt.rotations.matrix_from_rotation_vector(np.array([0.0, 0.0, angle])), (0.0, 0.0, along))


def _about_x(angle: float, along: float) -> Array:
    return _placed(kt.rotations.matrix_from_rotation_vector(np.array([angle, 0.0, 0.0])), (along, 0.0, 0.0))


def _placed(R: Array, p: tuple[float, float, float]) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


@denavit_hartenberg.mistake("that is the modified convention of Craig, with x before z")
def _modified(theta: float, d: float, a: float, alpha: float) -> Array:
    return _about_x(alpha, a) @ _about_z(theta, d)


@exercise("2.3", "Forward kinematics of the IRB 120", draw=lambda rng: (rng.uniform(-2.0, 2.0, 6),))
def irb_pose(q: Array) -> Array:
    """The axes of an arm like ABB's IRB 120 turn about z, y, y, x, y, x. From each frame to the next the origin moves
    by (0, 0, 0.145), (0, 0, 0.145), (0, 0, 0.27), (0.134, 0, 0.07), (0.168, 0, 0), (0.072, 0, 0) m before the axis
    turns. Write a function that returns the pose (4, 4) of the last frame."""
    return irb120().frame("link6").pose(q)


@irb_pose.mistake("axes turn before the origin moves: translate first, then rotate")
def _turned_first(q: Array) -> Array:
    robot, T = irb120(), np.eye(4)
    home = [np.eye(4), *robot.poses(np.zeros(6))]
    for k in range(6):
        offset = np.eye(4)
        offset[:3, 3] = home[k + 1][:3, 3] - home[k][:3, 3]
        turn = np.eye(4)
        axis = np.array(((0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0))[k])
        turn[:3, :3] = kt.rotations.matrix_from_rotation_vector(q[k] * axis)
        T = T @ turn @ offset
    return T


@irb_pose.mistake("angles are in radians")
def _in_degrees(q: Array) -> Array:
    return irb120().frame("link6").pose(np.deg2rad(q))


@exercise("2.4", "The adjoint of a transform", T=T)
def adjoint(T: Array) -> Array:
    """T is the pose (4, 4) of frame B in frame A. Find the 6×6 matrix that takes a twist (v, ω) from the coordinates of
    B to those of A, linear part first."""
    return kt.se3.adjoint(T)


@adjoint.mistake("that is the way from A to B: invert it")
def _back(T: Array) -> Array:
    return np.linalg.inv(kt.se3.adjoint(T))


@adjoint.mistake("that is the matrix for wrenches, the inverse transpose")
def _for_forces(T: Array) -> Array:
    return np.linalg.inv(kt.se3.adjoint(T)).T
