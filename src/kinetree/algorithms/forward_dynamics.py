"""Forward dynamics by the faster of two ways: the articulated-body algorithm, or factors of the mass matrix."""

from __future__ import annotations

from kinetree.algorithms import aba, factorization
from kinetree.algorithms.arguments.one_state import NO_FORCES, ExternalForces, of_one_state
from kinetree.model.tree import Model
from kinetree.ops import Array

FEW_JOINTS = 18
"""Up to so many velocities, factoring the mass matrix takes fewer operations than the articulated-body recursion."""


@of_one_state
def forward_dynamics(model: Model, q: Array, v: Array, tau: Array, f_ext: ExternalForces = NO_FORCES) -> Array:
    """a with M a + C v + G = τ + Σ Jᵀ f_ext, (nv,). Only factors serve mimic joints."""
    by = factorization if model.has_mimics or model.nv <= FEW_JOINTS else aba
    return by.forward_dynamics(model, q, v, tau, f_ext)
