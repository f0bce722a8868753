"""Euler angles in all 24 sequences: three turns about coordinate axes, one after the other.

A sequence in capitals is intrinsic, each turn about an axis of the body as the turns before left it: "ZYX" of (a, b, c)
is R = Rz(a) Ry(b) Rx(c). In small letters it is extrinsic, each turn about an axis that stays: "xyz" of (a, b, c) is
R = Rz(c) Ry(b) Rx(a), the roll, pitch and yaw of URDF. What is extrinsic is intrinsic read from the other end.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np

from kinetree.base.precision import tolerance
from kinetree.ops import Array, absolute, array, atan2, cos, cross, less, sin, sqrt, where, zeros
from kinetree.spatial.rotation import quaternion_product

INTRINSIC = tuple("".join(axes) for axes in product("XYZ", repeat=3) if axes[0] != axes[1] != axes[2])
SEQUENCES = (*INTRINSIC, *(axes.lower() for axes in INTRINSIC))
GIMBAL_TOLERANCE = 1e-15
"""Half the middle angle [rad] from where the outer axes are parallel: nearer, the last angle is zero."""


def matrix_from_euler(angles: Array, sequence: str) -> Array:
    """R of three angles [rad], (3, 3)."""
    (i, j, k), (a, b, c) = _intrinsic(angles, sequence)
    return _about(i, a) @ _about(j, b) @ _about(k, c)


def quaternion_from_euler(angles: Array, sequence: str) -> Array:
    """The quaternion (xyzw) of three angles [rad]."""
    (i, j, k), (a, b, c) = _intrinsic(angles, sequence)
    first_two = quaternion_product(_half_turn(i, a), _half_turn(j, b))
    return quaternion_product(first_two, _half_turn(k, c))


def euler_from_quaternion(xyzw: Array, sequence: str) -> Array:
    """Three angles [rad] of a unit quaternion; the first and last between -π and π, the middle one between 0 and π, or
    -π/2 and π/2 where the axes are three.

    Seen from the middle axis, the quaternion is two complex numbers: the angle of one is half the sum of the outer
    turns, that of the other half their difference (Bernardes and Viollet 2022). Where one of them vanishes, the outer
    axes are parallel and only the sum or the difference counts: the last angle, the one given last, is then zero.
    """
    (i, j, k), _ = _intrinsic(xyzw, sequence)
    is_proper, is_extrinsic, other = i == k, sequence.islower(), 3 - j - k
    sign = float((k - j) * (j - other) * (other - k) // 2)  # of the permutation (k, j, other)
    w, x, y, z = xyzw[3], xyzw[k], xyzw[j], xyzw[other] * sign
    a, b, c, d = (w, x, y, z) if is_proper else (w - y, x + z, y + w, z - x)
    along, across = sqrt(a * a + b * b), sqrt(c * c + d * d)
    scale = 1.0 if is_proper else math.sqrt(2.0)
    half_sum, half_difference = atan2(b, a), atan2(d, c)
    given_last = -1.0 if is_extrinsic else 1.0  # so that the turn about the last axis given vanishes
    no_difference = less(across, tolerance(GIMBAL_TOLERANCE, 1e-6) * scale)
    no_sum = less(along, tolerance(GIMBAL_TOLERANCE, 1e-6) * scale)
    half_difference = where(no_difference, half_sum * given_last, half_difference)
    half_sum = where(no_sum, half_difference * given_last, half_sum)
    first, last = wrapped(half_sum + half_difference), wrapped(half_sum - half_difference)
    middle = 2.0 * atan2(across, along)
    if not is_proper:
        first, middle = first * sign, middle - 0.5 * math.pi
    return array([last, middle, first] if is_extrinsic else [first, middle, last])


def euler_axes(angles: Array, sequence: str) -> Array:
    """E_R with ω = E_R d(angles)/dt, ω in world axes, (3, 3): its columns are the axes turned about."""
    (i, j, k), (a, b, _) = _intrinsic(angles, sequence)
    first = _about(i, a)
    columns = [np.eye(3)[i], first[:, j], first @ _about(j, b)[:, k]]
    return np.stack(columns if sequence.isupper() else columns[::-1], axis=1)


def euler_axes_rate(angles: Array, rates: Array, sequence: str) -> Array:
    """Ė_R, (3, 3): each axis turns with the turns before it."""
    E = euler_axes(angles, sequence)
    dE = zeros((3, 3), E, rates)
    order = (0, 1, 2) if sequence.isupper() else (2, 1, 0)
    w: Any = np.zeros(3)
    for k in order:
        dE[:, k] = cross(w, E[:, k])
        w = w + E[:, k] * rates[k]
    return dE


def euler_axes_inverse(angles: Array, sequence: str) -> Array:
    """E_R⁻¹, by cross products of the axes, (3, 3)."""
    a, b, c = euler_axes(angles, sequence).T
    return array([cross(b, c), cross(c, a), cross(a, b)]) / _volume(angles, sequence)


def euler_lock(angles: Array, sequence: str) -> Any:
    """|det E_R|: 0 where the outer axes are parallel, 1 where they are perpendicular."""
    return absolute(_volume(angles, sequence))


def _volume(angles: Array, sequence: str) -> Any:
    """det E_R = ±sin of the middle angle, or ±cos where the axes are three."""
    (i, j, k), (_, b, _) = _intrinsic(angles, sequence)
    sign = 1.0 if sequence.isupper() else -1.0  # the columns of E are the other way round
    if i == k:
        return sin(b) * (-sign)
    return cos(b) * (sign * ((j - i) * (k - j) * (i - k) // -2))


def _intrinsic(angles: Array, sequence: str) -> tuple[list[int], Array]:
    """Axes and angles of the intrinsic sequence that means the same."""
    axes = ["XYZ".index(axis) for axis in sequence.upper()]
    return (axes, angles[:3]) if sequence.isupper() else (axes[::-1], angles[:3][::-1])


def _about(axis: int, angle: Any) -> Array:
    """The rotation matrix about a coordinate axis."""
    c, s = cos(angle), sin(angle)
    R = zeros((3, 3), np.asarray(c))
    j, k = (axis + 1) % 3, (axis + 2) % 3
    R[axis, axis] = 1.0
    R[j, j], R[j, k] = c, -s
    R[k, j], R[k, k] = s, c
    return R


def _half_turn(axis: int, angle: Any) -> Array:
    """The quaternion about a coordinate axis."""
    xyzw: list[Any] = [0.0, 0.0, 0.0, cos(0.5 * angle)]
    xyzw[axis] = sin(0.5 * angle)
    return array(xyzw)


def wrapped(angle: Any) -> Any:
    """An angle between -3π and 3π, brought to between -π and π."""
    angle = where(less(math.pi, angle), angle - 2.0 * math.pi, angle)
    return where(less(angle, -math.pi), angle + 2.0 * math.pi, angle)
