"""From any parameterisation of a rotation to any other.

Matrices and quaternions are computed straight from what is given; angles, axes and vectors from the quaternion, which
loses no digits for small angles, near half a turn or where two axes of an Euler sequence are parallel.
"""

from __future__ import annotations

from typing import Any

from kinetree.functions.per_state import per_state
from kinetree.ops import Array
from kinetree.rotations.checks import rotation_matrix, unit_axis, unit_quaternion
from kinetree.spatial import angle_axis as aa
from kinetree.spatial import euler, exponential, rotation
from kinetree.spatial.euler import SEQUENCES

_MATRIX = {"matrix": (3, 3)}
_QUATERNION = {"quaternion": (4,)}
_ANGLES = {"angles": (3,)}
_ANGLE_AXIS = {"angle_axis": (4,)}
_VECTOR = {"rotation_vector": (3,)}

# -- matrices ----------------------------------------------------------------------------------------------------------


@per_state(_QUATERNION)
def matrix_from_quaternion(quaternion: Any) -> Array:
    """The rotation matrix, (…, 3, 3), of a unit quaternion (xyzw)."""
    return rotation.matrix_from_quaternion(unit_quaternion(quaternion))


@per_state(_ANGLES, sequence=SEQUENCES)
def matrix_from_euler(angles: Any, sequence: str) -> Array:
    """The rotation matrix, (…, 3, 3), of three angles [rad]: "ZYX" is Rz(a) Ry(b) Rx(c), "zyx" is Rx(c) Ry(b) Rz(a)."""
    return euler.matrix_from_euler(angles, sequence)


@per_state(_ANGLE_AXIS)
def matrix_from_angle_axis(angle_axis: Any) -> Array:
    """The rotation matrix, (…, 3, 3), of an angle [rad] and a unit axis, four numbers."""
    return aa.matrix_from_angle_axis(unit_axis(angle_axis))


@per_state(_VECTOR)
def matrix_from_rotation_vector(rotation_vector: Any) -> Array:
    """exp: the rotation matrix, (…, 3, 3), of a rotation vector [rad]."""
    return rotation.matrix_from_quaternion(exponential.exp_quaternion(rotation_vector))


# -- quaternions -------------------------------------------------------------------------------------------------------


@per_state(_MATRIX)
def quaternion_from_matrix(matrix: Any) -> Array:
    """The unit quaternion (xyzw) with w ≥ 0 of a rotation matrix, (…, 4)."""
    return rotation.quaternion_from_matrix(rotation_matrix(matrix))


@per_state(_ANGLES, sequence=SEQUENCES)
def quaternion_from_euler(angles: Any, sequence: str) -> Array:
    """The unit quaternion (xyzw) of three angles [rad], (…, 4)."""
    return euler.quaternion_from_euler(angles, sequence)


@per_state(_ANGLE_AXIS)
def quaternion_from_angle_axis(angle_axis: Any) -> Array:
    """The unit quaternion (xyzw) of an angle [rad] and a unit axis, (…, 4)."""
    return aa.quaternion_from_angle_axis(unit_axis(angle_axis))


@per_state(_VECTOR)
def quaternion_from_rotation_vector(rotation_vector: Any) -> Array:
    """exp: the unit quaternion (xyzw) of a rotation vector [rad], (…, 4)."""
    return exponential.exp_quaternion(rotation_vector)


# -- Euler angles ------------------------------------------------------------------------------------------------------


@per_state(_MATRIX, sequence=SEQUENCES)
def euler_from_matrix(matrix: Any, sequence: str) -> Array:
    """Three angles [rad], (…, 3); where first and last axis are parallel, the last angle is zero."""
    return euler.euler_from_quaternion(rotation.quaternion_from_matrix(rotation_matrix(matrix)), sequence)


@per_state(_QUATERNION, sequence=SEQUENCES)
def euler_from_quaternion(quaternion: Any, sequence: str) -> Array:
    """Three angles [rad], (…, 3); where first and last axis are parallel, the last angle is zero."""
    return euler.euler_from_quaternion(unit_quaternion(quaternion), sequence)


@per_state(_ANGLES, sequence=SEQUENCES, given=SEQUENCES)
def euler_from_euler(angles: Any, sequence: str, given: str) -> Array:
    """The angles of a sequence from those of the given one [rad], (…, 3)."""
    return euler.euler_from_quaternion(euler.quaternion_from_euler(angles, given), sequence)


@per_state(_ANGLE_AXIS, sequence=SEQUENCES)
def euler_from_angle_axis(angle_axis: Any, sequence: str) -> Array:
    """Three angles [rad], (…, 3); where first and last axis are parallel, the last angle is zero."""
    return euler.euler_from_quaternion(aa.quaternion_from_angle_axis(unit_axis(angle_axis)), sequence)


@per_state(_VECTOR, sequence=SEQUENCES)
def euler_from_rotation_vector(rotation_vector: Any, sequence: str) -> Array:
    """Three angles [rad], (…, 3); where first and last axis are parallel, the last angle is zero."""
    return euler.euler_from_quaternion(exponential.exp_quaternion(rotation_vector), sequence)


# -- angle and axis ----------------------------------------------------------------------------------------------------


@per_state(_MATRIX)
def angle_axis_from_matrix(matrix: Any) -> Array:
    """The angle [rad], between 0 and π, and the axis, (…, 4); of no rotation, the x-axis."""
    return aa.angle_axis_from_quaternion(rotation.quaternion_from_matrix(rotation_matrix(matrix)))


@per_state(_QUATERNION)
def angle_axis_from_quaternion(quaternion: Any) -> Array:
    """The angle [rad], between 0 and π, and the axis, (…, 4); of no rotation, the x-axis."""
    return aa.angle_axis_from_quaternion(unit_quaternion(quaternion))


@per_state(_ANGLES, sequence=SEQUENCES)
def angle_axis_from_euler(angles: Any, sequence: str) -> Array:
    """The angle [rad], between 0 and π, and the axis, (…, 4); of no rotation, the x-axis."""
    return aa.angle_axis_from_quaternion(euler.quaternion_from_euler(angles, sequence))


@per_state(_VECTOR)
def angle_axis_from_rotation_vector(rotation_vector: Any) -> Array:
    """The angle [rad], between 0 and π, and the axis, (…, 4); of no rotation, the x-axis."""
    return aa.angle_axis_from_quaternion(exponential.exp_quaternion(rotation_vector))


# -- rotation vectors --------------------------------------------------------------------------------------------------


@per_state(_MATRIX)
def rotation_vector_from_matrix(matrix: Any) -> Array:
    """log: the rotation vector [rad], not longer than π, (…, 3); at half a turn one of the two."""
    return exponential.log_quaternion(rotation.quaternion_from_matrix(rotation_matrix(matrix)))


@per_state(_QUATERNION)
def rotation_vector_from_quaternion(quaternion: Any) -> Array:
    """log: the rotation vector [rad], not longer than π, (…, 3); at half a turn one of the two."""
    return exponential.log_quaternion(unit_quaternion(quaternion))


@per_state(_ANGLES, sequence=SEQUENCES)
def rotation_vector_from_euler(angles: Any, sequence: str) -> Array:
    """The rotation vector [rad], not longer than π, (…, 3)."""
    return exponential.log_quaternion(euler.quaternion_from_euler(angles, sequence))


@per_state(_ANGLE_AXIS)
def rotation_vector_from_angle_axis(angle_axis: Any) -> Array:
    """The angle times the axis [rad], (…, 3): not shortened, whatever the angle."""
    return unit_axis(angle_axis)[1:] * angle_axis[0]
