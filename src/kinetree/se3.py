"""Rigid motions, SE(3): exp and log of poses with their Jacobians, and the 6×6 matrices X, X*, V× and V×*.

Every function takes one value or any leading axes of them, and traced values inside compiled functions. Poses T_AB are
4×4 matrices, of frame B in frame A. Twists ξ and motions V are 6-vectors, (v, ω), or (ω, v) with order="angular-first".
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.functions.per_state import per_state
from kinetree.ops import Array, less, logical_not, require
from kinetree.rotations.checks import pose_matrix, unit_parameters
from kinetree.spatial import Inertia, Motion, SpatialOrder, Transform, rigid_motion
from kinetree.spatial.packing import SPATIAL_ORDERS, block_matrix
from kinetree.spatial.parameterization import POSITIONS, ROTATIONS, SINGULAR
from kinetree.spatial.rotation_vector import whole_turn

__all__ = [
    "E_e", "E_e_inverse", "adjoint", "coadjoint", "cross_force_matrix", "cross_matrix", "exp", "inertia_matrix",
    "inverse", "left_jacobian", "left_jacobian_inverse", "log", "right_jacobian", "right_jacobian_inverse",
]  # fmt: skip

_TWIST = {"twist": (6,)}
_POSE = {"pose": (4, 4)}
_MOTION = {"motion": (6,)}


def _parameters(position: str, rotation: str, order: SpatialOrder) -> dict[str, tuple[int, ...]]:
    return {"parameters": (POSITIONS[position].size + ROTATIONS[rotation].size,)}


_of_parameters = per_state(_parameters, position=POSITIONS, rotation=ROTATIONS, order=SPATIAL_ORDERS)

# -- exp and log -------------------------------------------------------------------------------------------------------


@per_state(_TWIST, order=SPATIAL_ORDERS)
def exp(twist: Any, order: SpatialOrder = "linear-first") -> Array:
    """exp ξ, (…, 4, 4): the pose reached with the constant body twist ξ in unit time."""
    return rigid_motion.exp_pose(Motion.from_vector(twist, order))


@per_state(_POSE, order=SPATIAL_ORDERS)
def log(pose: Any, order: SpatialOrder = "linear-first") -> Array:
    """log T, (…, 6): the twist ξ with exp ξ = T and an angle between 0 and π; at half a turn one of the two."""
    return rigid_motion.log_pose(pose_matrix(pose)).vector(order)


@per_state(_TWIST, order=SPATIAL_ORDERS)
def left_jacobian(twist: Any, order: SpatialOrder = "linear-first") -> Array:
    """J_l with exp(ξ + δ) ≈ exp(J_l δ) exp(ξ), (…, 6, 6): J_l ξ̇ is the twist of exp ξ(t) in coordinates at rest."""
    return rigid_motion.left_jacobian(Motion.from_vector(twist, order), order)


@per_state(_TWIST, order=SPATIAL_ORDERS)
def left_jacobian_inverse(twist: Any, order: SpatialOrder = "linear-first") -> Array:
    """J_l⁻¹ with log(exp(δ) exp(ξ)) ≈ ξ + J_l⁻¹ δ, (…, 6, 6); refused at whole turns, where there is none."""
    return rigid_motion.left_jacobian_inverse(_short_of_a_turn(twist, order), order)


@per_state(_TWIST, order=SPATIAL_ORDERS)
def right_jacobian(twist: Any, order: SpatialOrder = "linear-first") -> Array:
    """J_r with exp(ξ + δ) ≈ exp(ξ) exp(J_r δ), (…, 6, 6): J_r ξ̇ is the twist of exp ξ(t) in its own coordinates."""
    return rigid_motion.left_jacobian(Motion.from_vector(-twist, order), order)


@per_state(_TWIST, order=SPATIAL_ORDERS)
def right_jacobian_inverse(twist: Any, order: SpatialOrder = "linear-first") -> Array:
    """J_r⁻¹ with log(exp(ξ) exp(δ)) ≈ ξ + J_r⁻¹ δ, (…, 6, 6); refused at whole turns, where there is none."""
    return rigid_motion.left_jacobian_inverse(_short_of_a_turn(-twist, order), order)


@per_state(_POSE)
def inverse(pose: Any) -> Array:
    """T⁻¹ = [[Rᵀ, -Rᵀ p], [0, 1]], (…, 4, 4)."""
    return Transform.from_pose(pose_matrix(pose)).inverse().pose()


# -- matrices ----------------------------------------------------------------------------------------------------------


@per_state(_POSE, order=SPATIAL_ORDERS)
def adjoint(pose: Any, order: SpatialOrder = "linear-first") -> Array:
    """Ad T_AB = ^A X_B, (…, 6, 6), from motions in the coordinates of B to those of A: ``[[R, [p]× R], [0, R]]``,
    linear first."""
    return Transform.from_pose(pose_matrix(pose)).inverse().motion_matrix(order)


@per_state(_POSE, order=SPATIAL_ORDERS)
def coadjoint(pose: Any, order: SpatialOrder = "linear-first") -> Array:
    """^A X*_B = (Ad T_AB)⁻ᵀ, (…, 6, 6), from forces in the coordinates of B to those of A: ``[[R, 0], [[p]× R, R]]``,
    linear first."""
    return Transform.from_pose(pose_matrix(pose)).inverse().force_matrix(order)


@per_state(_MOTION, order=SPATIAL_ORDERS)
def cross_matrix(motion: Any, order: SpatialOrder = "linear-first") -> Array:
    """V×, (…, 6, 6), which is ad V: the rate of a motion that is fixed in a body moving with V."""
    return Motion.from_vector(motion, order).cross_matrix(order)


@per_state(_MOTION, order=SPATIAL_ORDERS)
def cross_force_matrix(motion: Any, order: SpatialOrder = "linear-first") -> Array:
    """V×* = -(V×)ᵀ, (…, 6, 6): the rate of a force that is fixed in a body moving with V."""
    return Motion.from_vector(motion, order).cross_force_matrix(order)


@per_state({"parameters": (10,)}, order=SPATIAL_ORDERS)
def inertia_matrix(parameters: Any, order: SpatialOrder = "linear-first") -> Array:
    """I of inertial parameters φ = (m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) about the origin, (…, 6, 6)."""
    return Inertia.from_parameters(parameters).matrix(order)


# -- rates of pose parameters ------------------------------------------------------------------------------------------


@_of_parameters
def E_e(
    parameters: Any, position: str = "cartesian", rotation: str = "quaternion", order: SpatialOrder = "linear-first"
) -> Array:
    """E_e(χ) = diag(E_P, E_R) with w_e = E_e χ̇, (…, 6, 3 + n): w_e is the world-aligned velocity of a frame, χ are its
    `pose_parameters`, J_0 = E_e J_A."""
    P, R = POSITIONS[position].E(parameters[:3]), ROTATIONS[rotation].E(unit_parameters(parameters[3:], rotation))
    return block_matrix(P, np.zeros((3, R.shape[1])), np.zeros((3, 3)), R, "linear-first")[_rows(order)]


@_of_parameters
def E_e_inverse(
    parameters: Any, position: str = "cartesian", rotation: str = "quaternion", order: SpatialOrder = "linear-first"
) -> Array:
    """E_e(χ)⁻¹ with χ̇ = E_e⁻¹ w_e, (…, 3 + n, 6); refused where χ has no rates, as in gimbal lock."""
    by_position, by_rotation = POSITIONS[position], ROTATIONS[rotation]
    chi_P, chi_R = parameters[:3], unit_parameters(parameters[3:], rotation)
    for name, by, chi in ((position, by_position, chi_P), (rotation, by_rotation, chi_R)):
        require(
            logical_not(by.is_singular(chi)), f"{name} parameters have no rates here: {by.singularity}; expected others"
        )
    P, R = by_position.inverse(chi_P), by_rotation.inverse(chi_R)
    return block_matrix(P, np.zeros((3, 3)), np.zeros((R.shape[0], 3)), R, "linear-first")[:, _rows(order)]


def _rows(order: SpatialOrder) -> list[int]:
    """The entries of a 6-vector that is linear first, in this order."""
    return [0, 1, 2, 3, 4, 5] if order == "linear-first" else [3, 4, 5, 0, 1, 2]


def _short_of_a_turn(twist: Array, order: SpatialOrder) -> Motion:
    """The twist, if exp can be inverted near it."""
    motion = Motion.from_vector(twist, order)
    require(
        logical_not(less(whole_turn(motion.angular), SINGULAR)), "twist turns by a whole turn; expected another angle"
    )
    return motion
