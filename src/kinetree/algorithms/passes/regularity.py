"""The test whether a mass matrix can be divided by.

M = Lᵀ D L has positive pivots D. A joint that moves no mass makes one of them zero, and negative inertias make some of
them negative; rounding makes them small instead.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from kinetree.algorithms.configuration import neutral, random
from kinetree.algorithms.crba import mass_matrix
from kinetree.base.precision import tolerance
from kinetree.errors import SingularMassMatrixError
from kinetree.linalg import ltdl
from kinetree.model.tree import Model
from kinetree.ops import Array, less_equal, logical_not, logical_or, require, zeros

SINGULAR_PIVOT = 1e-12
"""A pivot of the mass matrix this small, relative to its diagonal, is rounding: the matrix is singular. Real robots
come near: where two axes of iCub's neck or hip align, light links and the digits of its file leave 1e-11."""
SUSPICIOUS_PIVOT = 4e-12
"""Relative to the largest diagonal at a few configurations: small enough to look closer."""
SUSPICIOUS_PIVOT_FLOAT32 = 1e-5
"""The same in float32, where smaller ones may be rounding alone."""

Inertia = Callable[[Model, Array], Array]


def require_regular(model: Model, q: Array, pivots: Array, inertia: Inertia = mass_matrix, why: str = "") -> None:
    """Refuse a state whose mass matrix, factored into these pivots, is singular or not positive definite.

    `inertia` is what is divided by where that is more than the mass matrix; `why` completes the sentence.
    """
    is_small, suspicious = False, tolerance(SUSPICIOUS_PIVOT, SUSPICIOUS_PIVOT_FLOAT32)
    scales = carried_inertia(model) if model.has_symbols else diagonal_scale(model, inertia)
    for pivot, scale in zip(pivots, scales, strict=True):
        is_small = logical_or(is_small, less_equal(pivot, suspicious * scale))

    def refusal() -> SingularMassMatrixError | None:
        """the mass matrix is singular at this state, or nearly so"""
        return _singular(model, inertia(model, q), why)

    require(logical_not(is_small), refusal, q)


def _singular(model: Model, M: Array, why: str) -> SingularMassMatrixError | None:
    """The error of a mass matrix that cannot be divided by; None for one that can."""
    pivots = pivots_of(M)
    small = np.flatnonzero(pivots <= SINGULAR_PIVOT * np.abs(M.diagonal()))
    if not len(small):
        return None
    worst = small[-1]  # elimination runs from the tips: the last is the cause, the others follow
    joint = next(owner for owner in model.owners if worst < owner.iv + owner.nv)
    if pivots[worst] < -SINGULAR_PIVOT * abs(M[worst, worst]):
        reason = f"not positive definite at this q: joint {joint.name!r} has negative inertia; see robot.check()"
    else:
        reason = f"singular at this q: joint {joint.name!r} can move without moving any mass{why}"
    return SingularMassMatrixError(f"the mass matrix of {model.name!r} is {reason}")


def pivots_of(M: Array) -> Array:
    """The diagonal of D in M = Lᵀ D L; that of a Cholesky factor from the other end, squared, where M has one."""
    try:
        return np.linalg.cholesky(M[::-1, ::-1]).diagonal()[::-1] ** 2
    except np.linalg.LinAlgError:
        with np.errstate(all="ignore"):
            return ltdl(M)[1]


def some_configurations(model: Model) -> list[Array]:
    """A few, always the same: at rest, and others drawn between the limits."""
    return [neutral(model), *random(model, np.random.default_rng(0), 3)]


@lru_cache(maxsize=256)
def diagonal_scale(model: Model, inertia: Inertia = mass_matrix) -> Array:
    """The largest diagonal of what is divided by at a few configurations, (nv,)."""
    return np.abs([inertia(model, q).diagonal() for q in some_configurations(model)]).max(axis=0)


def carried_inertia(model: Model) -> Array:
    """The size of what every coordinate moves, (nv,), in few operations and without a configuration: m (1 + r²) with
    the mass m that its joint carries [kg] and r² = n Σ p·p of the placements on the way to its n bodies [m²]. Rounding
    is much smaller than this, and what moves a mass much larger than rounding."""
    mass = [inertia.mass for inertia in model.inertias]
    square: list[Any] = [0.0] * len(mass)
    scale = zeros(model.nv, np.array(mass), model.armature, *(X.p for X in model.placements))
    for i, p in model.tips_to_root():
        scale[model.joints[i].v_slice] += mass[i] * (1.0 + len(model.subtree(i)) * square[i])
        mass[p] = mass[p] + mass[i]
        square[p] = square[p] + square[i] + model.placements[i].p @ model.placements[i].p
    return scale + model.armature


@lru_cache(maxsize=64)
def is_singular_everywhere(model: Model) -> bool:
    """Whether joints move no mass wherever the robot is, as far as a few configurations can tell."""
    model = model.representative
    for q in some_configurations(model):
        M = mass_matrix(model, q)
        if not np.any(pivots_of(M) <= SINGULAR_PIVOT * np.abs(M.diagonal())):
            return False
    return True
