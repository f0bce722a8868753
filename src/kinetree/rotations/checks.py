"""What rotations are read as: unit quaternions, rotation matrices, axes of unit length; others are refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.arguments import UNIT_TOLERANCE
from kinetree.ops import Array, absolute, less, logical_or
from kinetree.per_state import refuse


def unit_quaternion(quaternion: Array, name: str = "quaternion") -> Array:
    """The quaternion, if its length is one."""
    _refuse_length(name, quaternion, "a unit quaternion (xyzw)")
    return quaternion


def unit_axis(angle_axis: Array, name: str = "angle_axis") -> Array:
    """The angle and axis, if the axis has length one."""
    _refuse_length(f"the axis of {name}", angle_axis[1:], "a unit vector, after the angle")
    return angle_axis


def rotation_matrix(matrix: Array, name: str = "matrix") -> Array:
    """The matrix, if its columns are right-handed and orthonormal."""
    x, y, z = matrix.T
    off: Any = False
    for a, b, product in ((x, x, 1.0), (y, y, 1.0), (z, z, 1.0), (x, y, 0.0), (y, z, 0.0), (z, x, 0.0)):
        off = logical_or(off, less(UNIT_TOLERANCE, absolute(a @ b - product)))
    refuse(off, f"{name} has columns that are not orthonormal; expected a rotation matrix")
    handedness = (x[1] * y[2] - x[2] * y[1]) * z[0] + (x[2] * y[0] - x[0] * y[2]) * z[1]
    handedness = handedness + (x[0] * y[1] - x[1] * y[0]) * z[2]
    refuse(less(handedness, 0.0), f"{name} mirrors (its determinant is -1); expected a rotation matrix")
    return matrix


def _refuse_length(name: str, x: Array, expected: str) -> None:
    squared = x @ x
    off = less(UNIT_TOLERANCE, absolute(squared - 1.0))
    norm = "" if x.dtype == object else f" has norm {np.sqrt(squared):.6g}"
    refuse(off, f"{name}{norm}; expected {expected}")
