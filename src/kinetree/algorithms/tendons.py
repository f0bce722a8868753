"""Lengths of tendons and their Jacobian: ℓ̇ = J v. The courses that they take are in `passes/tendon_paths.py`."""

from __future__ import annotations

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.passes.tendon_paths import tendon_states
from kinetree.model.tree import Model
from kinetree.ops import Array, zeros


@of_one_state
def tendon_lengths(model: Model, q: Array) -> Array:
    """ℓ of every tendon, (n,) [m, or what its gears make of positions]."""
    lengths = zeros(len(model.tendons), q)
    for i, (_, length, _) in enumerate(tendon_states(model, model.tendons, q)):
        lengths[i] = length
    return lengths


@of_one_state
def tendon_jacobian(model: Model, q: Array) -> Array:
    """J with ℓ̇ = J v, (n, nv): a force f of each gives the efforts Jᵀ f."""
    J = zeros((len(model.tendons), model.nv), q)
    for i, (_, _, row) in enumerate(tendon_states(model, model.tendons, q)):
        J[i] = row
    return J
