"""exp and log of SE(3) with their Jacobians: twists (v, ω), and the poses that they lead to in unit time.

A pose as a dual matrix R + ε [p]× R is exp of the dual vector ω + ε v, so that what holds for rotations holds here:
with J the left Jacobian of SO(3) and J̇(ω; v) its derivative along v, that of SE(3) is [[J, J̇], [0, J]], linear
first.
"""

from __future__ import annotations

import numpy as np

from kinetree.ops import Array, zeros
from kinetree.spatial.exponential import exp_quaternion, exp_translation, log_quaternion, log_translation
from kinetree.spatial.motion import Motion
from kinetree.spatial.packing import SpatialOrder, block_matrix
from kinetree.spatial.rotation import matrix_from_quaternion, quaternion_from_matrix
from kinetree.spatial.rotation_vector import (
    rotation_vector_rates,
    rotation_vector_rates_inverse,
    rotation_vector_rates_rate,
)


def exp_pose(twist: Motion) -> Array:
    """exp: the pose reached with a constant body twist in unit time, (4, 4)."""
    v, w = twist.linear, twist.angular
    T = zeros((4, 4), v, w)
    T[:3, :3] = matrix_from_quaternion(exp_quaternion(w))
    T[:3, 3] = exp_translation(v, w)
    T[3, 3] = 1.0
    return T


def log_pose(T: Array) -> Motion:
    """log: the twist with exp(twist) = T and an angle between 0 and π; at half a turn one of the two."""
    w = log_quaternion(quaternion_from_matrix(T[:3, :3]))
    return Motion(log_translation(T[:3, 3], w), w)


def left_jacobian(twist: Motion, order: SpatialOrder) -> Array:
    """J_l with exp(ξ + δ) = exp(J_l δ) exp(ξ) for small δ, (6, 6)."""
    J = rotation_vector_rates(twist.angular)
    return block_matrix(J, rotation_vector_rates_rate(twist.angular, twist.linear), np.zeros((3, 3)), J, order)


def left_jacobian_inverse(twist: Motion, order: SpatialOrder) -> Array:
    """J_l⁻¹, (6, 6): [[J⁻¹, -J⁻¹ J̇ J⁻¹], [0, J⁻¹]], linear first."""
    inverse = rotation_vector_rates_inverse(twist.angular)
    rate = rotation_vector_rates_rate(twist.angular, twist.linear)
    return block_matrix(inverse, -(inverse @ rate @ inverse), np.zeros((3, 3)), inverse, order)
