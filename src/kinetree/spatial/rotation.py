"""Rotation matrices and unit quaternions (x, y, z, w).

A rotation matrix R_AB and a quaternion q_AB take the coordinates of a vector in frame B to its coordinates in frame A.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.ops import Array, absolute, array, cos, cross, less, maximum, sin, skew, sqrt, where

IDENTITY_XYZW = np.array([0.0, 0.0, 0.0, 1.0])
RIGHT_ANGLE_TOLERANCE = 2e-15
"""An angle this close [rad] to a multiple of π/2 differs from it only by its rounding, and gives an exact matrix."""


def matrix_about_axis(axis: Array, angle: Any) -> Array:
    """Rodrigues' formula R = a aᵀ + cos θ (1 - a aᵀ) + sin θ [a]×, for a unit axis a and θ [rad]."""
    along = np.outer(axis, axis)
    return along + (np.eye(3) - along) * cos(angle) + skew(axis) * sin(angle)


def matrix_from_normal(z: Array) -> Array:
    """A rotation matrix whose third column is this unit vector."""
    x = np.cross([0.0, 1.0, 0.0] if abs(z[1]) < 0.9 else [0.0, 0.0, 1.0], z)
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def matrix_from_rpy(rpy: ArrayLike) -> Array:
    """R = Rz(yaw) Ry(pitch) Rx(roll) from (roll, pitch, yaw) [rad], as URDF defines it; right angles are exact."""
    (cr, sr), (cp, sp), (cy, sy) = map(_exact_cos_sin, np.asarray(rpy, dtype=float).tolist())
    x = [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr]
    y = [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr]
    return np.array([x, y, [-sp, cp * sr, cp * cr]]) + 0.0  # no negative zeros


def rpy_from_matrix(R: Array) -> Array:
    """(roll, pitch, yaw) [rad] with R = Rz(yaw) Ry(pitch) Rx(roll), to the last digits also where pitch is ±π/2.

    There only the sum or difference of roll and yaw counts: yaw is taken as it comes, and the others from Rz(-yaw) R.
    """
    yaw = np.arctan2(R[1, 0], R[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    pitch = np.arctan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = np.arctan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return np.array([roll, pitch, yaw])


def _exact_cos_sin(angle: float) -> tuple[float, float]:
    """Cosine and sine; of a multiple of π/2, as near as a float can come to it, without rounding."""
    quarters = round(angle / (math.pi / 2))
    if abs(angle - quarters * math.pi / 2) > RIGHT_ANGLE_TOLERANCE:
        return math.cos(angle), math.sin(angle)
    return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarters % 4]


def matrix_from_quaternion(xyzw: Array) -> Array:
    """The rotation matrix of a unit quaternion."""
    x, y, z, w = xyzw
    return array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ]
    )


def quaternion_from_matrix(R: Array) -> Array:
    """The unit quaternion with w ≥ 0 of a rotation matrix; accurate for every rotation, half turns included.

    Four candidates are each the quaternion scaled by four times one of its components; the one scaled by the largest
    component loses no digits (Shepperd 1978).
    """
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    a, b, c = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    d, e, f = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    squares = [1.0 + 2.0 * R[0, 0] - trace, 1.0 + 2.0 * R[1, 1] - trace, 1.0 + 2.0 * R[2, 2] - trace, 1.0 + trace]
    candidates = [
        array([squares[0], d, e, a]),
        array([d, squares[1], f, b]),
        array([e, f, squares[2], c]),
        array([a, b, c, squares[3]]),
    ]
    best, largest = candidates[3], squares[3]
    for candidate, square in zip(candidates[:3], squares[:3], strict=True):
        better = less(largest, square)
        best = where(better, candidate, best)
        largest = maximum(largest, square)
    return normalized(best * where(less(best[3], 0.0), -1.0, 1.0))


def quaternion_product(p: Array, q: Array) -> Array:
    """p ⊗ q, the rotation q followed by p."""
    pv, pw, qv, qw = p[:3], p[3], q[:3], q[3]
    vector = qv * pw + pv * qw + cross(pv, qv)
    return array([*vector, pw * qw - pv @ qv])


def quaternion_inverse(q: Array) -> Array:
    """The inverse of a unit quaternion, its conjugate."""
    x, y, z, w = q
    return array([-x, -y, -z, w])


def relative_quaternion(p: Array, q: Array) -> Array:
    """p⁻¹ ⊗ q for unit quaternions, with a vector part that is exactly zero where they are equal, however a computer
    rounds: that of p⁻¹ ⊗ (q - p), since p⁻¹ ⊗ p has none."""
    return array([*quaternion_product(quaternion_inverse(p), q - p)[:3], p @ q])


def quaternion_rotate(q: Array, r: Array) -> Array:
    """q ⊗ (r, 0) ⊗ q⁻¹ for a 3-vector r: r + 2 w (u × r) + 2 u × (u × r), u the vector part."""
    t = 2.0 * cross(q[:3], r)
    return r + t * q[3] + cross(q[:3], t)


def normalized(x: Array) -> Array:
    """x / ‖x‖."""
    return x / sqrt(x @ x)


def random_quaternion(rng: np.random.Generator) -> Array:
    """A unit quaternion drawn uniformly over all rotations."""
    return normalized(rng.normal(size=4))


def random_quaternions(rng: np.random.Generator, count: int) -> Array:
    """Unit quaternions drawn uniformly over all rotations, (count, 4)."""
    quaternions = rng.normal(size=(count, 4))  # in any direction alike
    return quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)


def is_rotation_matrix(R: Array, tolerance: float = 1e-6) -> bool:
    """Whether RᵀR = 1 and det R = 1 within the tolerance, of one matrix or of all, (…, 3, 3)."""
    if R.shape == (3, 3) and R.dtype == float:  # by far the most, and NumPy takes ten times as long
        x, y, z = R.T.tolist()
        products = ((x, x, 1.0), (y, y, 1.0), (z, z, 1.0), (x, y, 0.0), (y, z, 0.0), (z, x, 0.0))
        near = all(abs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] - want) <= tolerance for a, b, want in products)
        turned = (x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0])
        return near and turned[0] * z[0] + turned[1] * z[1] + turned[2] * z[2] > 0.0
    orthonormal = absolute(np.swapaxes(R, -1, -2) @ R - np.eye(3)).max(initial=0.0) <= tolerance
    return bool(orthonormal) and bool((np.linalg.det(R) > 0).all())
