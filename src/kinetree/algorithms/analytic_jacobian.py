"""Analytic Jacobians: rates of the parameters χ of a frame's pose, χ̇ = J_A(q) v.

With E(χ) = diag(E_P, E_R) from the rates of χ to the velocity of the frame, J_0 = E J_A for the world-aligned geometric
Jacobian J_0, so that J_A = E⁻¹ J_0 and J̇_A = E⁻¹ J̇_0 + d/dt(E⁻¹) J_0. χ has the position first, whatever the order of
6-vectors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.jacobian import frame_jacobian, frame_jacobian_rate
from kinetree.algorithms.kinematics import frame_transform
from kinetree.model.tree import FramePlacement, Model
from kinetree.ops import Array, logical_not, require
from kinetree.spatial import unpack
from kinetree.spatial.parameterization import POSITIONS, ROTATIONS, SINGULAR


def size(position: str, rotation: str) -> int:
    """The number of parameters of a pose."""
    return POSITIONS[position].size + ROTATIONS[rotation].size


@of_one_state
def pose_parameters(model: Model, frame: FramePlacement, q: Array, position: str, rotation: str) -> Array:
    """χ = (χ_P, χ_R)."""
    return np.concatenate(_parameters(model, frame, q, position, rotation))


@of_one_state
def analytic_jacobian(model: Model, frame: FramePlacement, q: Array, position: str, rotation: str) -> Array:
    """J_A, (3 + n, nv)."""
    chi_P, chi_R = _parameters(model, frame, q, position, rotation)
    P, R = POSITIONS[position], ROTATIONS[rotation]
    linear, angular = unpack(frame_jacobian(model, frame, q, "world-aligned"), model.spatial_order)
    J_A = np.concatenate([P.inverse(chi_P) @ linear, R.inverse(chi_R) @ angular])
    _require_rates(frame, {position: P.is_singular(chi_P), rotation: R.is_singular(chi_R)}, "analytic_jacobian")
    return J_A


@of_one_state
def analytic_jacobian_rate(
    model: Model, frame: FramePlacement, q: Array, v: Array, position: str, rotation: str
) -> Array:
    """J̇_A along v, (3 + n, nv)."""
    chis = _parameters(model, frame, q, position, rotation)
    J = unpack(frame_jacobian(model, frame, q, "world-aligned"), model.spatial_order)
    dJ = unpack(frame_jacobian_rate(model, frame, q, v, "world-aligned"), model.spatial_order)
    halves, is_singular = [], {}
    for name, by, chi, J_half, dJ_half in zip(
        (position, rotation), (POSITIONS[position], ROTATIONS[rotation]), chis, J, dJ, strict=True
    ):
        inverse = by.inverse(chi)
        rates = inverse @ (J_half @ v)
        halves.append(inverse @ dJ_half + by.E_inverse_rate(chi, rates) @ J_half)
        is_singular[name] = by.is_singular(chi)
    _require_rates(frame, is_singular, "analytic_jacobian_rate")
    return np.concatenate(halves)


def _require_rates(frame: FramePlacement, is_singular: Mapping[str, Any], name: str) -> None:
    """Refuse a state in which parameters have no rates."""
    for parameters, condition in is_singular.items():
        reason = {**POSITIONS, **ROTATIONS}[parameters].singularity
        require(
            logical_not(condition),
            f"{frame.name!r} has no {name} at this q: its parameters have no rates there ({parameters}: {reason}; "
            f"within {SINGULAR:g})",
        )


def _parameters(model: Model, frame: FramePlacement, q: Array, position: str, rotation: str) -> tuple[Array, Array]:
    X = frame_transform(model, frame, q)
    return POSITIONS[position].parameters(X.p), ROTATIONS[rotation].parameters(X.R.T)
