"""Rotation vectors θ n [rad], the logarithms of rotations, and how they change when a body turns.

ω, in world axes, is E_R times the rate of the vector w, with E_R = 1 + b [w]× + c [w]×², b = (1 - cos θ)/θ²,
c = (θ - sin θ)/θ³: the left Jacobian of the group of rotations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.ops import Array, absolute, cos, less, sin, skew, sqrt, where
from kinetree.spatial.exponential import exp_quaternion, guarded, log_quaternion, log_rates
from kinetree.spatial.rotation import matrix_from_quaternion, quaternion_from_matrix

_B = (1 / 2, -1 / 24, 1 / 720, -1 / 40320, 1 / 3628800, -1 / 479001600, 1 / 87178291200, -1 / 20922789888000)
_C = (1 / 6, -1 / 120, 1 / 5040, -1 / 362880, 1 / 39916800, -1 / 6227020800, 1 / 1307674368000, -1 / 355687428096000)
_B_DERIVATIVE = tuple(k * coefficient for k, coefficient in enumerate(_B[1:], 1))
_C_DERIVATIVE = tuple(k * coefficient for k, coefficient in enumerate(_C[1:], 1))


def matrix_from_rotation_vector(w: Array) -> Array:
    """exp [w]×, (3, 3)."""
    return matrix_from_quaternion(exp_quaternion(w))


def rotation_vector_from_matrix(R: Array) -> Array:
    """log R, with θ between 0 and π; at half a turn one of the two vectors."""
    return log_quaternion(quaternion_from_matrix(R))


def rotation_error(desired: Array, actual: Array) -> Array:
    """Δφ = log(R_desired R_actualᵀ): what is left to turn, in world axes [rad]."""
    return rotation_vector_from_matrix(desired @ actual.T)


def rotation_vector_rates(w: Array) -> Array:
    """E_R, (3, 3)."""
    W, x2 = skew(w), w @ w
    return np.eye(3) + W * _b(x2) + W @ W * _c(x2)


def rotation_vector_rates_rate(w: Array, rates: Array) -> Array:
    """Ė_R, (3, 3)."""
    W, dW, x2 = skew(w), skew(rates), w @ w
    x2_rate = 2.0 * (w @ rates)
    db = guarded(x2, _B_DERIVATIVE, lambda t: (t * sin(t) - 2.0 * (1.0 - cos(t))) / (2.0 * (t * t) * (t * t)))
    dc = guarded(x2, _C_DERIVATIVE, lambda t: (t * (1.0 - cos(t)) - 3.0 * (t - sin(t))) / (2.0 * (t * t) * (t * t) * t))
    first = W * (db * x2_rate) + dW * _b(x2)
    return first + W @ W * (dc * x2_rate) + (dW @ W + W @ dW) * _c(x2)


def rotation_vector_rates_inverse(w: Array) -> Array:
    """E_R⁻¹ = 1 - ½ [w]× + (1 - θ/2 cot θ/2)/θ² [w]×², (3, 3)."""
    return log_rates(w).T


def whole_turn(w: Array) -> Any:
    """|sin θ/2|, but 1 for angles below π: 0 for whole turns, that have no single vector."""
    x2 = w @ w
    small = less(x2, 9.0)
    return where(small, 1.0, absolute(sin(0.5 * sqrt(where(small, 1.0, x2)))))


def _b(x2: Any) -> Any:
    return guarded(x2, _B, lambda t: (1.0 - cos(t)) / (t * t))


def _c(x2: Any) -> Any:
    return guarded(x2, _C, lambda t: (t - sin(t)) / (t * t * t))
