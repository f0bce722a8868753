"""Forward dynamics and the inverse mass matrix by factoring M = Lᵀ D L.

Works for every model, mimic joints included; for trees without them the articulated-body algorithm is faster.
"""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.arguments.one_state import NO_FORCES, ExternalForces, of_one_state
from kinetree.algorithms.crba import mass_matrix
from kinetree.algorithms.joint_forces import passive_forces
from kinetree.algorithms.passes.regularity import require_regular
from kinetree.algorithms.rnea import bias_forces
from kinetree.linalg import ltdl, ltdl_solve
from kinetree.model.tree import Model
from kinetree.ops import Array, mirrored


@of_one_state
def forward_dynamics(model: Model, q: Array, v: Array, tau: Array, f_ext: ExternalForces = NO_FORCES) -> Array:
    """a = M⁻¹ (τ - c̃) with c̃ = C v + G - Σ Jᵀ f_ext, (nv,)."""
    L, d = ltdl(mass_matrix(model, q))
    require_regular(model, q, d)
    return ltdl_solve(L, d, tau - passive_forces(model, q, v) - bias_forces(model, q, v, f_ext))


@of_one_state
def inverse_mass_matrix(model: Model, q: Array) -> Array:
    """M⁻¹, (nv, nv)."""
    L, d = ltdl(mass_matrix(model, q))
    require_regular(model, q, d)
    return mirrored(ltdl_solve(L, d, np.eye(model.nv)))
