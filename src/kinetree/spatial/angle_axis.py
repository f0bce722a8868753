"""Angle and axis (θ, n), four numbers: a turn by θ [rad] about the unit vector n."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.ops import Array, absolute, array, atan2, cos, equal, less, maximum, sin, skew, sqrt, where
from kinetree.spatial.rotation import matrix_about_axis


def matrix_from_angle_axis(angle_axis: Array) -> Array:
    """Rodrigues' formula, (3, 3)."""
    return matrix_about_axis(angle_axis[1:], angle_axis[0])


def quaternion_from_angle_axis(angle_axis: Array) -> Array:
    """(n sin θ/2, cos θ/2), xyzw."""
    half = 0.5 * angle_axis[0]
    return array([*(angle_axis[1:] * sin(half)), cos(half)])


def angle_axis_from_quaternion(xyzw: Array) -> Array:
    """(θ, n) with θ between 0 and π, to the last digits for every angle; of no rotation, n = (1, 0, 0)."""
    u, w = xyzw[:3], xyzw[3]
    largest = maximum(maximum(absolute(u[0]), absolute(u[1])), absolute(u[2]))
    is_none = equal(largest, 0.0)
    scale = where(is_none, 1.0, largest)
    direction = where(is_none, np.array([1.0, 0.0, 0.0]), u / scale)  # scaled: squares of tiny numbers would vanish
    length = sqrt(direction @ direction)
    sign = where(less(w, 0.0), -1.0, 1.0)
    return array([2.0 * atan2(largest * length, w * sign), *(direction * (sign / length))])


def angle_axis_rates(angle_axis: Array) -> Array:
    """E_R with ω = E_R (θ̇, ṅ), ω in world axes: [n, sin θ 1 + (1 - cos θ) [n]×], (3, 4)."""
    angle, n = angle_axis[0], angle_axis[1:]
    return np.column_stack([n, np.eye(3) * sin(angle) + skew(n) * (1.0 - cos(angle))])


def angle_axis_rates_rate(angle_axis: Array, rates: Array) -> Array:
    """Ė_R, (3, 4)."""
    angle, n, angle_rate, n_rate = angle_axis[0], angle_axis[1:], rates[0], rates[1:]
    c, s = cos(angle), sin(angle)
    square = np.eye(3) * (c * angle_rate) + skew(n) * (s * angle_rate) + skew(n_rate) * (1.0 - c)
    return np.column_stack([n_rate, square])


def angle_axis_rates_inverse(angle_axis: Array) -> Array:
    """E_R⁻¹ with (θ̇, ṅ) = E_R⁻¹ ω: [nᵀ; -½ [n]× - ½ cot(θ/2) [n]×²], (4, 3), so that n stays a unit vector."""
    half, n = 0.5 * angle_axis[0], angle_axis[1:]
    N = skew(n)
    return np.column_stack([n, (N + N @ N * (cos(half) / sin(half))).T * -0.5]).T


def angle_axis_rates_inverse_rate(angle_axis: Array, rates: Array) -> Array:
    """d/dt of E_R⁻¹, (4, 3)."""
    half, n, half_rate, n_rate = 0.5 * angle_axis[0], angle_axis[1:], 0.5 * rates[0], rates[1:]
    N, dN = skew(n), skew(n_rate)
    s, c = sin(half), cos(half)
    lower = dN + (dN @ N + N @ dN) * (c / s) - N @ N * (half_rate / (s * s))
    return np.column_stack([n_rate, lower.T * -0.5]).T


def no_axis(angle_axis: Array) -> Any:
    """|sin θ/2|: 0 for whole turns, which have no axis."""
    return absolute(sin(0.5 * angle_axis[0]))
