"""Forward dynamics and the inverse mass matrix by factoring M = Lᵀ D L.

Works for every model, mimic joints included; for trees without them the articulated-body algorithm is faster.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from kinetree.algorithms.configuration import neutral, random
from kinetree.algorithms.crba import mass_matrix
from kinetree.algorithms.joint_forces import passive_forces
from kinetree.algorithms.one_state import NO_FORCES, ExternalForces, of_one_state
from kinetree.algorithms.rnea import bias_forces
from kinetree.linalg import ltdl, ltdl_solve
from kinetree.model.tree import Model
from kinetree.ops import Array, mirrored


@of_one_state
def forward_dynamics(
    model: Model, q: Array, v: Array, tau: Array, f_ext: ExternalForces = NO_FORCES
) -> tuple[Array, Array]:
    """a = M⁻¹ (τ - c̃) with c̃ = C v + G - Σ Jᵀ f_ext, and the pivots D of M, each (nv,)."""
    L, d = ltdl(mass_matrix(model, q))
    return ltdl_solve(L, d, tau - passive_forces(model, q, v) - bias_forces(model, q, v, f_ext)), d


@of_one_state
def inverse_mass_matrix(model: Model, q: Array) -> tuple[Array, Array]:
    """M⁻¹, (nv, nv), and the pivots D of M, (nv,)."""
    L, d = ltdl(mass_matrix(model, q))
    return mirrored(ltdl_solve(L, d, np.eye(model.nv))), d


# -- which mass matrices cannot be divided by ----------------------------------------------------------------------

SINGULAR_PIVOT = 1e-10
"""A pivot of the mass matrix this small, relative to its diagonal, means that the matrix is singular."""


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


@lru_cache(maxsize=64)
def is_singular_everywhere(model: Model) -> bool:
    """Whether joints move no mass wherever the robot is, as far as a few configurations can tell."""
    for q in some_configurations(model):
        M = mass_matrix(model, q)
        if not np.any(pivots_of(M) <= SINGULAR_PIVOT * np.abs(M.diagonal())):
            return False
    return True
