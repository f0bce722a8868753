"""Efforts, their derivatives and the mass matrix, from sums over subtrees in one common frame.

With i on the way to j, or i = j on the right:

    ∂τ_i/∂q_j = S_iᵀ (2 B_j Ψ̇_j + I_j Ψ̈_j + S_j ×* f_j)            ∂τ_j/∂q_i = S_jᵀ (2 B_j Ψ̇_i + I_j Ψ̈_i)
    ∂τ_i/∂v_j = S_iᵀ (2 B_j S_j + I_j (Ψ̇_j + Ṡ_j))                  ∂τ_j/∂v_i = S_jᵀ (2 B_j S_i + I_j (Ψ̇_i + Ṡ_i))
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.algorithms.passes.forward_pass import SubtreeSums
from kinetree.ops import Array, mirrored, zeros
from kinetree.spatial import Force, Motion


def torque_derivatives(sums: SubtreeSums, *like: Array) -> tuple[Array, Array]:
    """∂τ/∂q and ∂τ/∂v of the recursion, (nv, nv) each."""
    nv = sums.model.nv
    dq, dv = zeros((nv, nv), *like), zeros((nv, nv), *like)
    for j, _ in sums.model.tips_to_root():
        I, B, f = sums.I[j], sums.B[j], sums.f[j]
        for step in sums.steps[j]:
            ahead = [I * s for s in step.S]
            back = [B.transposed_times(s) * 2.0 for s in step.S]
            by_q, by_v = sums.force_by_q(j, step), sums.force_by_v(j, step)
            turned = [by + s.cross(f) for s, by in zip(step.S, by_q, strict=True)]
            earlier = sums.before(j, step)
            dq[step.at, step.at] += block(step.S, by_q)
            dv[step.at, step.at] += block(step.S, by_v)
            for other in earlier:
                dq[other.at, step.at] += block(other.S, turned)
                dv[other.at, step.at] += block(other.S, by_v)
                moved = [psi + rate for psi, rate in zip(other.psi1, other.rate, strict=True)]
                dq[step.at, other.at] += (block(other.psi1, back) + block(other.psi2, ahead)).T
                dv[step.at, other.at] += (block(other.S, back) + block(moved, ahead)).T
    return dq, dv


def mass_matrix_in(sums: SubtreeSums, *like: Array) -> Array:
    """M_ij = S_iᵀ I_j S_j in the common frame, without the rotors."""
    M = zeros((sums.model.nv, sums.model.nv), *like)
    for j, _ in sums.model.tips_to_root():
        for step in sums.steps[j]:
            ahead = [sums.I[j] * s for s in step.S]
            M[step.at, step.at] += mirrored(block(step.S, ahead))
            for other in sums.before(j, step):
                part = block(other.S, ahead)
                M[other.at, step.at] += part
                M[step.at, other.at] += part.T
    return M


def torques(sums: SubtreeSums, *like: Array) -> Array:
    """τ_i = S_iᵀ f_i."""
    tau = zeros(sums.model.nv, *like)
    for i, _ in sums.model.root_to_tips():
        for step in sums.steps[i]:
            tau[step.at] += np.array([s.dot(sums.f[i]) for s in step.S])
    return tau


def block(motions: Sequence[Motion], forces: Sequence[Force]) -> Array:
    """sᵀ f of every motion with every force."""
    return np.array([s.dot(f) for s in motions for f in forces]).reshape(len(motions), len(forces))
