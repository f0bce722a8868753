"""Rotations in every parameterisation: conversions, products, rates, distances and means, for one or a batch of them.

Every function takes one rotation or any leading axes of them, and traced values inside compiled functions.
"""

from kinetree.rotations.conversions import (
    angle_axis_from_euler,
    angle_axis_from_matrix,
    angle_axis_from_quaternion,
    angle_axis_from_rotation_vector,
    euler_from_angle_axis,
    euler_from_euler,
    euler_from_matrix,
    euler_from_quaternion,
    euler_from_rotation_vector,
    matrix_from_angle_axis,
    matrix_from_euler,
    matrix_from_quaternion,
    matrix_from_rotation_vector,
    quaternion_from_angle_axis,
    quaternion_from_euler,
    quaternion_from_matrix,
    quaternion_from_rotation_vector,
    rotation_vector_from_angle_axis,
    rotation_vector_from_euler,
    rotation_vector_from_matrix,
    rotation_vector_from_quaternion,
)
from kinetree.rotations.exponential import (
    exp,
    left_jacobian,
    left_jacobian_inverse,
    log,
    right_jacobian,
    right_jacobian_inverse,
)
from kinetree.rotations.group import (
    box_minus,
    box_plus,
    distance,
    quaternion_inverse,
    quaternion_product,
    rotate,
    rotation_error,
    slerp,
)
from kinetree.rotations.rates import (
    E_R,
    E_R_inverse,
    E_R_inverse_rate,
    E_R_rate,
    H,
    angular_velocity,
    parameter_rates,
    vector_rate,
)
from kinetree.rotations.samples import average, random
from kinetree.rotations.scipy import from_scipy, to_scipy
from kinetree.spatial.euler import SEQUENCES

__all__ = [
    "E_R", "SEQUENCES", "E_R_inverse", "E_R_inverse_rate", "E_R_rate", "H", "angle_axis_from_euler",
    "angle_axis_from_matrix", "angle_axis_from_quaternion", "angle_axis_from_rotation_vector", "angular_velocity",
    "average", "box_minus", "box_plus", "distance", "euler_from_angle_axis", "euler_from_euler",
    "euler_from_matrix", "euler_from_quaternion", "euler_from_rotation_vector", "exp", "from_scipy",
    "left_jacobian", "left_jacobian_inverse", "log", "matrix_from_angle_axis", "matrix_from_euler",
    "matrix_from_quaternion", "matrix_from_rotation_vector", "parameter_rates", "quaternion_from_angle_axis",
    "quaternion_from_euler", "quaternion_from_matrix", "quaternion_from_rotation_vector", "quaternion_inverse",
    "quaternion_product", "random", "right_jacobian", "right_jacobian_inverse", "rotate", "rotation_error",
    "rotation_vector_from_angle_axis", "rotation_vector_from_euler", "rotation_vector_from_matrix",
    "rotation_vector_from_quaternion", "slerp", "to_scipy", "vector_rate",
]  # fmt: skip
