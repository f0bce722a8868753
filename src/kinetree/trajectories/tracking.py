"""Following a trajectory: the velocity it asks for, corrected by how far one is from it."""

from __future__ import annotations

from typing import Any

from kinetree.functions.per_state import per_state
from kinetree.ops import Array
from kinetree.rotations.checks import rotation_matrix
from kinetree.spatial.packing import SPATIAL_ORDERS, SpatialOrder, pack, unpack
from kinetree.spatial.rotation_vector import rotation_error


@per_state(
    {"pose": (4, 4), "target": (4, 4), "velocity": (6,), "k_position": (), "k_rotation": ()},
    spatial_order=SPATIAL_ORDERS,
)
def tracking_twist(
    pose: Any,
    target: Any,
    velocity: Any,
    k_position: Any,
    k_rotation: Any,
    spatial_order: SpatialOrder = "linear-first",
) -> Array:
    """The world-aligned velocity that follows a target pose, itself moving with this velocity, (…, 6) [m/s, rad/s].

    v = ṙ* + k_PP (r* - r) and ω = ω* + k_PR Δφ, Δφ = log(R* Rᵀ) in world axes, with gains [1/s]: errors decay as
    exp(-k t). In a law, J⁺ times this is the joint velocity that tracks.
    """
    linear, angular = unpack(velocity, spatial_order)
    still_to_turn = rotation_error(rotation_matrix(target[:3, :3], "the rotation of target"), pose[:3, :3])
    to_go = target[:3, 3] - pose[:3, 3]
    return pack(linear + to_go * k_position, angular + still_to_turn * k_rotation, spatial_order)
