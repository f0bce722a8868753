"""exp and log of SO(3), and their Jacobians: how rotations change with rotation vectors w [rad], and back.

J_l, in world axes, is E_R of the rotation vector; J_r = J_lᵀ is the same in axes of the body.
"""

from __future__ import annotations

from typing import Any

from kinetree.functions.per_state import per_state
from kinetree.ops import Array, less, logical_not, require
from kinetree.rotations.checks import rotation_matrix
from kinetree.spatial import rotation_vector as vectors
from kinetree.spatial.parameterization import SINGULAR

_VECTOR = {"rotation_vector": (3,)}


@per_state(_VECTOR)
def exp(rotation_vector: Any) -> Array:
    """R = exp [w]×, (…, 3, 3); the same as `matrix_from_rotation_vector`."""
    return vectors.matrix_from_rotation_vector(rotation_vector)


@per_state({"matrix": (3, 3)})
def log(matrix: Any) -> Array:
    """w = log R, (…, 3), with an angle between 0 and π; the same as `rotation_vector_from_matrix`."""
    return vectors.rotation_vector_from_matrix(rotation_matrix(matrix))


@per_state(_VECTOR)
def left_jacobian(rotation_vector: Any) -> Array:
    """J_l with exp(w + δ) ≈ exp(J_l δ) exp(w), (…, 3, 3): ω = J_l ẇ in world axes."""
    return vectors.rotation_vector_rates(rotation_vector)


@per_state(_VECTOR)
def left_jacobian_inverse(rotation_vector: Any) -> Array:
    """J_l⁻¹ with log(exp(δ) exp(w)) ≈ w + J_l⁻¹ δ, (…, 3, 3); refused at whole turns, where there is none."""
    return vectors.rotation_vector_rates_inverse(_short_of_a_turn(rotation_vector))


@per_state(_VECTOR)
def right_jacobian(rotation_vector: Any) -> Array:
    """J_r with exp(w + δ) ≈ exp(w) exp(J_r δ), (…, 3, 3): ω = J_r ẇ in axes of the body."""
    return vectors.rotation_vector_rates(rotation_vector).T


@per_state(_VECTOR)
def right_jacobian_inverse(rotation_vector: Any) -> Array:
    """J_r⁻¹ with log(exp(w) exp(δ)) ≈ w + J_r⁻¹ δ, (…, 3, 3); refused at whole turns, where there is none."""
    return vectors.rotation_vector_rates_inverse(_short_of_a_turn(rotation_vector)).T


def _short_of_a_turn(rotation_vector: Array) -> Array:
    """The vector, if exp can be inverted near it."""
    is_whole = less(vectors.whole_turn(rotation_vector), SINGULAR)
    require(
        logical_not(is_whole), "rotation_vector is a whole turn, near which exp has no inverse; expected another angle"
    )
    return rotation_vector
