"""What a joint adds to the torque of the bodies, one column of the regressor for each kind and coordinate:

armature    a                             inertia of the rotor as the joint feels it [kg m² or kg]
damping     v                             viscous friction [N m s/rad or N s/m]
friction    v / √(v² + w²)                Coulomb friction [N m or N], w the `friction_width` of the model
stribeck    exp(-(v/v_s)²) v / √(v² + w²) what starts above Coulomb friction and is gone at a few v_s [N m or N]
offset      1                             what the torque sensor shows at rest without load [N m or N]
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kinetree.errors import ArgumentTypeError, one_of, short
from kinetree.ops import Array

KINDS = {"viscous": "damping", "coulomb": "friction", "stribeck": "stribeck"}
"""What `friction=` may list, and the name of the parameter."""
TERMS = ("armature", *KINDS.values(), "offset")


def as_terms(friction: bool | str | Iterable[str], armature: bool, offset: bool) -> tuple[str, ...]:
    """The terms of each joint, in the order of `TERMS`; friction=True is viscous and Coulomb."""
    if isinstance(friction, (bool, np.bool_)):
        kinds = ["viscous", "coulomb"] if friction else []
    elif isinstance(friction, str) or not isinstance(friction, Iterable):
        kinds = [friction]
    else:
        kinds = list(friction)
    if not all(isinstance(kind, str) for kind in kinds):
        raise ArgumentTypeError(f"friction is {short(friction)}; expected True, False, or some of {', '.join(KINDS)}")
    wanted = {KINDS[one_of("friction", kind, KINDS)] for kind in kinds}
    wanted |= {"armature"} if armature else set()
    wanted |= {"offset"} if offset else set()
    return tuple(term for term in TERMS if term in wanted)


def term_column(term: str, v: Array, a: Array, width: float, stribeck_speed: float) -> Array:
    """The column of a term for velocities and accelerations of one coordinate, (…)."""
    if term == "armature":
        return a
    if term == "damping":
        return v
    if term == "offset":
        return np.ones_like(v)
    step = v / np.sqrt(v * v + width**2)
    return step if term == "friction" else step * np.exp(-((v / stribeck_speed) ** 2))


def term_slopes(term: str, v: Array, width: float, stribeck_speed: float) -> tuple[Array, Array]:
    """∂/∂v and ∂/∂a of the column of a term, (…) each."""
    none = np.zeros_like(v)
    if term == "armature":
        return none, np.ones_like(v)
    if term == "damping":
        return np.ones_like(v), none
    if term == "offset":
        return none, none
    root = np.sqrt(v * v + width**2)
    slope = width**2 / root**3
    if term == "friction":
        return slope, none
    return np.exp(-((v / stribeck_speed) ** 2)) * (slope - 2.0 * v * v / (stribeck_speed**2 * root)), none
