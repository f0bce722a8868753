"""Positions in Cartesian, cylindrical and spherical coordinates: conversions, and velocities from rates of coordinates.

v = E_P(χ) χ̇. Cylindrical coordinates are (ρ, θ, z), spherical ones (r, θ, φ) with φ from the z-axis [m, rad].
"""

from __future__ import annotations

from typing import Any

from kinetree.functions.per_state import per_state
from kinetree.ops import Array, logical_not, require
from kinetree.spatial import coordinates
from kinetree.spatial.parameterization import POSITIONS, Parameterization

__all__ = [
    "E_P", "E_P_inverse", "E_P_inverse_rate", "E_P_rate", "cartesian_from_cylindrical", "cartesian_from_spherical",
    "coordinate_rates", "cylindrical_from_cartesian", "cylindrical_from_spherical", "linear_velocity",
    "spherical_from_cartesian", "spherical_from_cylindrical",
]  # fmt: skip

_COORDINATES = {"coordinates": (3,)}
_AND_RATES = {"coordinates": (3,), "rates": (3,)}
_AND_VELOCITY = {"coordinates": (3,), "velocity": (3,)}


@per_state({"cylindrical": (3,)})
def cartesian_from_cylindrical(cylindrical: Any) -> Array:
    """(x, y, z) of (ρ, θ, z), (…, 3)."""
    return coordinates.cartesian_from_cylindrical(cylindrical)


@per_state({"spherical": (3,)})
def cartesian_from_spherical(spherical: Any) -> Array:
    """(x, y, z) of (r, θ, φ), (…, 3)."""
    return coordinates.cartesian_from_spherical(spherical)


@per_state({"cartesian": (3,)})
def cylindrical_from_cartesian(cartesian: Any) -> Array:
    """(ρ, θ, z), (…, 3): ρ ≥ 0, θ between -π and π, and 0 on the z-axis."""
    return coordinates.cylindrical_from_cartesian(cartesian)


@per_state({"cartesian": (3,)})
def spherical_from_cartesian(cartesian: Any) -> Array:
    """(r, θ, φ), (…, 3): r ≥ 0, θ between -π and π and 0 on the z-axis, φ between 0 and π and 0 at the origin."""
    return coordinates.spherical_from_cartesian(cartesian)


@per_state({"spherical": (3,)})
def cylindrical_from_spherical(spherical: Any) -> Array:
    """(ρ, θ, z) of (r, θ, φ), (…, 3)."""
    return coordinates.cylindrical_from_cartesian(coordinates.cartesian_from_spherical(spherical))


@per_state({"cylindrical": (3,)})
def spherical_from_cylindrical(cylindrical: Any) -> Array:
    """(r, θ, φ) of (ρ, θ, z), (…, 3)."""
    return coordinates.spherical_from_cartesian(coordinates.cartesian_from_cylindrical(cylindrical))


@per_state(_COORDINATES, position=POSITIONS)
def E_P(coordinates: Any, position: str) -> Array:
    """E_P with v = E_P χ̇, (…, 3, 3); `position` is "cartesian", "cylindrical" or "spherical"."""
    return POSITIONS[position].E(coordinates)


@per_state(_COORDINATES, position=POSITIONS)
def E_P_inverse(coordinates: Any, position: str) -> Array:
    """E_P⁻¹ with χ̇ = E_P⁻¹ v, (…, 3, 3); refused where there is none."""
    return _regular(coordinates, position).inverse(coordinates)


@per_state(_AND_RATES, position=POSITIONS)
def E_P_rate(coordinates: Any, rates: Any, position: str) -> Array:
    """Ė_P while the coordinates change at these rates, (…, 3, 3): v̇ = E_P χ̈ + Ė_P χ̇."""
    return POSITIONS[position].E_rate(coordinates, rates)


@per_state(_AND_RATES, position=POSITIONS)
def E_P_inverse_rate(coordinates: Any, rates: Any, position: str) -> Array:
    """d/dt of E_P⁻¹ while the coordinates change at these rates, (…, 3, 3)."""
    return _regular(coordinates, position).E_inverse_rate(coordinates, rates)


@per_state(_AND_RATES, position=POSITIONS)
def linear_velocity(coordinates: Any, rates: Any, position: str) -> Array:
    """v = E_P χ̇ [m/s], (…, 3)."""
    return POSITIONS[position].E(coordinates) @ rates


@per_state(_AND_VELOCITY, position=POSITIONS)
def coordinate_rates(coordinates: Any, velocity: Any, position: str) -> Array:
    """χ̇ = E_P⁻¹ v of a velocity [m/s], (…, 3); refused where there are none."""
    return _regular(coordinates, position).inverse(coordinates) @ velocity


def _regular(chi: Array, position: str) -> Parameterization:
    """The parameterisation, if its coordinates have rates here."""
    found = POSITIONS[position]
    require(
        logical_not(found.is_singular(chi)),
        f"{position} coordinates have no rates here: {found.singularity}; expected others",
    )
    return found
