"""Forward dynamics and the inverse mass matrix by factoring M = Lᵀ D L.

Works for every model, mimic joints included; for trees without them the articulated-body algorithm is faster.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kinetree.algorithms.crba import mass_matrix
from kinetree.algorithms.joint_forces import passive_forces
from kinetree.algorithms.rnea import NO_FORCES, bias_forces
from kinetree.linalg import ltdl, ltdl_solve
from kinetree.model.tree import Model
from kinetree.ops import Array, mirrored
from kinetree.spatial import Force


def forward_dynamics(
    model: Model, q: Array, v: Array, tau: Array, f_ext: Mapping[int, Force] = NO_FORCES
) -> tuple[Array, Array]:
    """a = M⁻¹ (τ - c̃) with c̃ = C v + G - Σ Jᵀ f_ext, and the pivots D of M, each (nv,)."""
    L, d = ltdl(mass_matrix(model, q))
    return ltdl_solve(L, d, tau - passive_forces(model, q, v) - bias_forces(model, q, v, f_ext)), d


def inverse_mass_matrix(model: Model, q: Array) -> tuple[Array, Array]:
    """M⁻¹, (nv, nv), and the pivots D of M, (nv,)."""
    L, d = ltdl(mass_matrix(model, q))
    return mirrored(ltdl_solve(L, d, np.eye(model.nv))), d
