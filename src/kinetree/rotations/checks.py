"""What rotations are read as: unit quaternions, rotation matrices, axes of unit length; others are refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.base.arguments import UNIT_TOLERANCE
from kinetree.ops import Array, absolute, less, logical_not, logical_or, require

TARGET_TOLERANCE = 1e-3
"""How far products of a target's axes may be from those of orthonormal ones."""


def unit_quaternion(quaternion: Array, name: str = "quaternion") -> Array:
    """The quaternion, if its length is one."""
    _refuse_length(name, quaternion, "a unit quaternion (xyzw)")
    return quaternion


def unit_axis(angle_axis: Array, name: str = "angle_axis") -> Array:
    """The angle and axis, if the axis has length one."""
    _refuse_length(f"the axis of {name}", angle_axis[1:], "a unit vector, after the angle")
    return angle_axis


def rotation_matrix(matrix: Array, name: str = "matrix", tolerance: float = UNIT_TOLERANCE) -> Array:
    """The matrix, if its columns are right-handed and orthonormal."""
    x, y, z = matrix.T
    off: Any = False
    for a, b, product in ((x, x, 1.0), (y, y, 1.0), (z, z, 1.0), (x, y, 0.0), (y, z, 0.0), (z, x, 0.0)):
        off = logical_or(off, less(tolerance, absolute(a @ b - product)))
    require(logical_not(off), f"{name} has columns that are not orthonormal; expected a rotation matrix")
    handedness = (x[1] * y[2] - x[2] * y[1]) * z[0] + (x[2] * y[0] - x[0] * y[2]) * z[1]
    handedness = handedness + (x[0] * y[1] - x[1] * y[0]) * z[2]
    require(logical_not(less(handedness, 0.0)), f"{name} mirrors (its determinant is -1); expected a rotation matrix")
    return matrix


def unit_parameters(parameters: Array, rotation: str, name: str = "parameters") -> Array:
    """Parameters of a rotation, if they are: a matrix row by row, a unit quaternion, an angle and a unit axis, or
    others, which always are."""
    if rotation == "matrix":
        rotation_matrix(parameters.reshape(3, 3), name)
    elif rotation == "quaternion":
        unit_quaternion(parameters, name)
    elif rotation == "angle-axis":
        unit_axis(parameters, name)
    return parameters


def target_pose(T: Array, name: str) -> Array:
    """A pose to go to, (4, 4), if it is one; it is not where a robot is, and need not be as exact."""
    return pose_matrix(T, name, TARGET_TOLERANCE)


def pose_matrix(T: Array, name: str = "pose", tolerance: float = UNIT_TOLERANCE) -> Array:
    """The pose, (4, 4), if it is one."""
    rotation_matrix(T[:3, :3], name, tolerance)
    off: Any = False
    for number, expected in zip(T[3], (0.0, 0.0, 0.0, 1.0), strict=True):
        off = logical_or(off, less(tolerance, absolute(number - expected)))
    require(
        logical_not(off),
        f"{name} does not end in a row 0, 0, 0, 1; expected a pose [[R, p], [0, 1]] (is it transposed?)",
    )
    return T


def target_rotation(R: Array, name: str) -> Array:
    """A rotation to turn to, (3, 3), if it is one; it is not where a robot is, and need not be as exact."""
    return rotation_matrix(R, name, TARGET_TOLERANCE)


def _refuse_length(name: str, x: Array, expected: str) -> None:
    squared = x @ x
    off = less(UNIT_TOLERANCE, absolute(squared - 1.0))
    norm = "" if x.dtype == object else f" has norm {np.sqrt(squared):.6g}"
    require(logical_not(off), f"{name}{norm}; expected {expected}")
