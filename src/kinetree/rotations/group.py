"""Rotations as a group: products, differences along the shortest way, and what lies between two of them.

Differences are rotation vectors in world axes: b ⊟ a = log(R_b R_aᵀ), a ⊞ w = exp(w) R_a.
"""

from __future__ import annotations

from typing import Any

from kinetree import linalg
from kinetree.functions.per_state import per_state
from kinetree.ops import Array, absolute, atan2
from kinetree.rotations.checks import rotation_matrix, unit_quaternion
from kinetree.spatial import exponential, rotation
from kinetree.spatial import rotation_vector as vectors

_TWO = {"a": (4,), "b": (4,)}


@per_state(_TWO)
def quaternion_product(a: Any, b: Any) -> Array:
    """a ⊗ b, (…, 4): the rotation b followed by a, as the product of their matrices."""
    return rotation.quaternion_product(unit_quaternion(a, "a"), unit_quaternion(b, "b"))


@per_state({"quaternion": (4,)})
def quaternion_inverse(quaternion: Any) -> Array:
    """The inverse of a unit quaternion, (…, 4)."""
    return rotation.quaternion_inverse(unit_quaternion(quaternion))


@per_state({"quaternion": (4,), "vector": (3,)})
def rotate(quaternion: Any, vector: Any) -> Array:
    """R r, (…, 3), of a vector r and the rotation R of a unit quaternion."""
    return rotation.quaternion_rotate(unit_quaternion(quaternion), vector)


@per_state({"quaternion": (4,), "rotation_vector": (3,)})
def box_plus(quaternion: Any, rotation_vector: Any) -> Array:
    """a ⊞ w = exp(w) a, (…, 4): turned by w [rad], which is in world axes."""
    return rotation.quaternion_product(exponential.exp_quaternion(rotation_vector), unit_quaternion(quaternion))


@per_state(_TWO)
def box_minus(a: Any, b: Any) -> Array:
    """a ⊟ b = log(a b⁻¹), (…, 3): the rotation vector in world axes [rad] that leads from b to a."""
    inverse_a = rotation.quaternion_inverse(unit_quaternion(a, "a"))
    inverse_b = rotation.quaternion_inverse(unit_quaternion(b, "b"))
    return exponential.log_quaternion(rotation.relative_quaternion(inverse_a, inverse_b))


@per_state({"desired": (3, 3), "actual": (3, 3)})
def rotation_error(desired: Any, actual: Any) -> Array:
    """Δφ = log(R_desired R_actualᵀ), (…, 3): the remaining rotation in world axes [rad]; of rotation matrices."""
    return vectors.rotation_error(rotation_matrix(desired, "desired"), rotation_matrix(actual, "actual"))


@per_state(_TWO)
def distance(a: Any, b: Any) -> Array:
    """The angle between two rotations, between 0 and π [rad], (…)."""
    between = rotation.relative_quaternion(unit_quaternion(a, "a"), unit_quaternion(b, "b"))
    return 2.0 * atan2(linalg.norm(between[:3]), absolute(between[3]))


@per_state({**_TWO, "s": ()})
def slerp(a: Any, b: Any, s: Any) -> Array:
    """The rotation at s between a (s = 0) and b (s = 1), at a constant rate along the shorter arc, (…, 4)."""
    w = exponential.log_quaternion(rotation.relative_quaternion(unit_quaternion(a, "a"), unit_quaternion(b, "b")))
    return rotation.quaternion_product(a, exponential.exp_quaternion(w * s))
