"""The mass matrix by the composite-rigid-body algorithm, in body coordinates.

    I_i^c = I_i + Σ_{j ∈ μ(i)} ^iX*_j I_j^c ^jX_i           (16)
    ^λ(j)F_i = ^λ(j)X*_j ^jF_i                              (17)
    ^iF_i = I_i^c S_i                                       (18)
    H_ji = S_jᵀ ^jF_i,  H_ij = H_jiᵀ   for i ∈ ν(j)         (19)

H is the mass matrix, called M everywhere else. ^λX*_i = (^iX_λ)ᵀ, so that `X.transpose() * f` is Xᵀ f and, for an
inertia, `X.transpose() * I` is Xᵀ I X. Featherstone 2008, section 6.2.
"""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.passes.column_pairs import block
from kinetree.model.tree import Model
from kinetree.ops import Array, mirrored, zeros


@of_one_state
def composite_inertias(model: Model, q: Array) -> Array:
    """I_i^c of every body with all that hangs on it, as one body, in body coordinates, (nbodies, 6, 6)."""
    Ic = dict(enumerate(model.inertias))
    for i, p in model.tips_to_root():
        X = model.joints[i].transform(q) * model.placements[i]
        Ic[p] += X.transpose() * Ic[i]  # (16)
    return np.array([Ic[i].matrix(model.spatial_order) for i, _ in model.root_to_tips()]).reshape(-1, 6, 6)


@of_one_state
def mass_matrix(model: Model, q: Array) -> Array:
    """M(q), exactly symmetric, (nv, nv) [kg m², kg m, kg]; rotors turn with their joints, and add to the diagonal."""
    X = {i: model.joints[i].transform(q) * model.placements[i] for i, _ in model.root_to_tips()}
    S = {i: model.joints[i].motion_subspace(q) for i, _ in model.root_to_tips()}
    Ic = dict(enumerate(model.inertias))
    H = zeros((model.nv, model.nv), q)
    for i, p in model.tips_to_root():
        Ic[p] += X[i].transpose() * Ic[i]  # (16)
        F = [Ic[i] * s for s in S[i]]  # (18)
        at_i = model.joints[i].v_slice
        for j in reversed(model.support(i)):
            at_j, H_ji = model.joints[j].v_slice, block(S[j], F)
            if j == i:
                H[at_i, at_i] += mirrored(H_ji)  # (19); += because a mimic joint shares the entries of its leader
            else:
                H[at_j, at_i] += H_ji
                H[at_i, at_j] += H_ji.T
            F = [X[j].transpose() * f for f in F]  # (17)
    return H + np.diag(model.armature)
