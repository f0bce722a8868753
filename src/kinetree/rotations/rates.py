"""Angular velocity from the rates of parameters, and back: ω = E_R(χ) χ̇, with ω in world axes.

χ are the numbers of a parameterisation: "matrix" (nine, row by row), "quaternion", "angle-axis", "rotation-vector" or
one of the Euler sequences.
"""

from __future__ import annotations

from typing import Any

from kinetree.functions.per_state import per_state
from kinetree.ops import Array, cross, logical_not, require
from kinetree.rotations.checks import unit_parameters, unit_quaternion
from kinetree.spatial import parameterization
from kinetree.spatial.parameterization import ROTATIONS, Parameterization


def _parameters(rotation: str) -> dict[str, tuple[int, ...]]:
    return {"parameters": (ROTATIONS[rotation].size,)}


def _parameters_and_rates(rotation: str) -> dict[str, tuple[int, ...]]:
    return dict.fromkeys(("parameters", "rates"), (ROTATIONS[rotation].size,))


@per_state(_parameters, rotation=ROTATIONS)
def E_R(parameters: Any, rotation: str) -> Array:
    """E_R with ω = E_R χ̇, (…, 3, n)."""
    return _checked(parameters, rotation).E(parameters)


@per_state(_parameters, rotation=ROTATIONS)
def E_R_inverse(parameters: Any, rotation: str) -> Array:
    """E_R⁻¹ with χ̇ = E_R⁻¹ ω, (…, n, 3); refused where there is none."""
    return _regular(parameters, rotation).inverse(parameters)


@per_state(_parameters_and_rates, rotation=ROTATIONS)
def E_R_rate(parameters: Any, rates: Any, rotation: str) -> Array:
    """Ė_R while the parameters change at these rates, (…, 3, n): ω̇ = E_R χ̈ + Ė_R χ̇."""
    return _checked(parameters, rotation).E_rate(parameters, rates)


@per_state(_parameters_and_rates, rotation=ROTATIONS)
def E_R_inverse_rate(parameters: Any, rates: Any, rotation: str) -> Array:
    """d/dt of E_R⁻¹ while the parameters change at these rates, (…, n, 3)."""
    return _regular(parameters, rotation).E_inverse_rate(parameters, rates)


@per_state(_parameters_and_rates, rotation=ROTATIONS)
def angular_velocity(parameters: Any, rates: Any, rotation: str) -> Array:
    """ω = E_R χ̇ in world axes [rad/s], (…, 3)."""
    return _checked(parameters, rotation).E(parameters) @ rates


@per_state(lambda rotation: {**_parameters(rotation), "velocity": (3,)}, rotation=ROTATIONS)
def parameter_rates(parameters: Any, velocity: Any, rotation: str) -> Array:
    """χ̇ = E_R⁻¹ ω of an angular velocity in world axes [rad/s], (…, n); refused where there are none."""
    return _regular(parameters, rotation).inverse(parameters) @ velocity


@per_state({"quaternion": (4,)})
def H(quaternion: Any) -> Array:
    """H(ξ), (…, 3, 4), of a unit quaternion (xyzw), with E_R = 2 H and E_R⁻¹ = ½ Hᵀ; its columns are in that order."""
    return parameterization.H(unit_quaternion(quaternion))


@per_state({"vector": (3,), "rate": (3,), "velocity": (3,)})
def vector_rate(vector: Any, rate: Any, velocity: Any) -> Array:
    """ẋ = ẋ' + ω × x, (…, 3): the rate of a vector x whose rate in axes that rotate with ω [rad/s] is ẋ'; all vectors
    are in the same axes. With -ω it returns the rate in the rotating axes."""
    return rate + cross(velocity, vector)


def _checked(parameters: Array, rotation: str) -> Parameterization:
    """The parameterisation, if these parameters are those of a rotation."""
    unit_parameters(parameters, rotation)
    return ROTATIONS[rotation]


def _regular(parameters: Array, rotation: str) -> Parameterization:
    """The parameterisation, if its parameters have rates here."""
    found = _checked(parameters, rotation)
    where = found.singularity
    require(
        logical_not(found.is_singular(parameters)),
        f"{rotation} parameters have no rates here: {where}; expected others",
    )
    return found
