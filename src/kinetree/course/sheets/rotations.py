"""Sheet 1: positions and rotations, their parameters and rates."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.course.exercise import exercise, turned
from kinetree.ops import Array

R = turned(0.4, -0.7, 1.1)


@exercise("1.1", "Cylindrical coordinates", draw=lambda rng: (rng.uniform(0.2, 2.0, 3),))
def position(chi: Array) -> Array:
    """Write a function that returns the position (x, y, z) of a point with cylindrical coordinates chi = (ρ, θ, z)."""
    return kt.positions.cartesian_from_cylindrical(chi)


@position.mistake("sine and cosine have changed places: θ is measured from the x axis")
def _swapped(chi: Array) -> Array:
    return np.array([chi[0] * np.sin(chi[1]), chi[0] * np.cos(chi[1]), chi[2]])


@exercise("1.2", "From rates of cylindrical coordinates to velocity", draw=lambda rng: (rng.uniform(0.2, 2.0, 3),))
def velocity_map(chi: Array) -> Array:
    """Write a function that returns E_P(chi), (3, 3), with ṙ = E_P χ̇ for cylindrical coordinates chi = (ρ, θ, z)."""
    return kt.positions.E_P(chi, "cylindrical")


@velocity_map.mistake("that is E_P⁻¹: it maps velocities to rates of coordinates")
def _inverse(chi: Array) -> Array:
    return np.linalg.inv(kt.positions.E_P(chi, "cylindrical"))


@velocity_map.mistake("the second column lacks ρ: θ̇ moves a point that is far away faster")
def _without_radius(chi: Array) -> Array:
    return kt.positions.E_P(np.array([1.0, chi[1], chi[2]]), "cylindrical")


@exercise("1.3", "A rotation matrix from Euler angles", draw=lambda rng: (rng.uniform(-1.2, 1.2, 3),))
def matrix(angles: Array) -> Array:
    """Write a function that returns the rotation matrix of ZYX Euler angles (z, y, x): R = R_z(z) R_y(y) R_x(x)."""
    return kt.rotations.matrix_from_euler(angles, "ZYX")


@matrix.mistake("the order is the other way round: the rotation about z comes first, from the left")
def _reversed(angles: Array) -> Array:
    return kt.rotations.matrix_from_euler(angles[::-1], "XYZ")


def _same_rotation(x: Array, R: Array) -> bool:
    own = kt.rotations.quaternion_from_matrix(R)
    return bool(min(np.abs(x - own).max(), np.abs(x + own).max()) < 1e-6)


@exercise("1.4", "A quaternion from a rotation matrix", R=R, holds=_same_rotation)
def quaternion(R: Array) -> Array:
    """Find a unit quaternion (x, y, z, w) of the rotation matrix R, scalar last."""
    return kt.rotations.quaternion_from_matrix(R)


@quaternion.mistake("the scalar comes first in it: here the order is (x, y, z, w)")
def _scalar_first(R: Array) -> Array:
    return np.roll(kt.rotations.quaternion_from_matrix(R), 1)


@quaternion.mistake("it is the conjugate, which is the rotation of Rᵀ")
def _conjugate(R: Array) -> Array:
    return kt.rotations.quaternion_from_matrix(R.T)


@exercise("1.5", "From rates of Euler angles to angular velocity", draw=lambda rng: (rng.uniform(-1.2, 1.2, 3),))
def rate_map(angles: Array) -> Array:
    """Write a function that returns E_R(angles), (3, 3), with ω = E_R χ̇ in fixed axes, for ZYX Euler angles (z, y,
    x)."""
    return kt.rotations.E_R(angles, "ZYX")


@rate_map.mistake("that is the angular velocity in the axes of the body: multiply by R")
def _in_body(angles: Array) -> Array:
    return kt.rotations.matrix_from_euler(angles, "ZYX").T @ kt.rotations.E_R(angles, "ZYX")


@rate_map.mistake("that is E_R⁻¹: it maps angular velocities to rates")
def _inverse_rates(angles: Array) -> Array:
    return np.linalg.inv(kt.rotations.E_R(angles, "ZYX"))


@exercise("1.6", "The rotation vector", R=R)
def rotation_vector(R: Array) -> Array:
    """Find the rotation vector φ with R = exp([φ]×), |φ| < π."""
    return kt.rotations.log(R)


@rotation_vector.mistake("its direction is right: its length must be the angle")
def _unit(R: Array) -> Array:
    phi = kt.rotations.log(R)
    return phi / np.linalg.norm(phi)
