"""Efforts, their derivatives and the mass matrix, from sums over subtrees in one common frame.

With i on the way to j, or i = j on the right:

    ∂τ_i/∂q_j = S_iᵀ (2 B_j Ψ̇_j + I_j Ψ̈_j + S_j ×* f_j)            ∂τ_j/∂q_i = S_jᵀ (2 B_j Ψ̇_i + I_j Ψ̈_i)
    ∂τ_i/∂v_j = S_iᵀ (2 B_j S_j + I_j (Ψ̇_j + Ṡ_j))                  ∂τ_j/∂v_i = S_jᵀ (2 B_j S_i + I_j (Ψ̇_i + Ṡ_i))
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.algorithms.passes.column_pairs import block, for_each_step, rows_of
from kinetree.algorithms.passes.forward_pass import SubtreeSums
from kinetree.algorithms.passes.moving_columns import MovingColumns
from kinetree.ops import Array, mirrored, zeros
from kinetree.spatial import CoriolisInertia, Force, Inertia, Motion


class _Forces(NamedTuple):
    """What the columns of a step make of the sums over its subtree."""

    ahead: tuple[Force, ...]
    """I S."""
    back: tuple[Force, ...]
    """2 Bᵀ S."""
    turned: tuple[Force, ...]
    by_v: tuple[Force, ...]
    """How f changes with q, being carried along, and with v."""
    own_q: Array
    own_v: Array
    """How the efforts of the step change with its own coordinates."""


def _forces(step: MovingColumns, I: Inertia, B: CoriolisInertia, f: Force) -> _Forces:
    by_q, by_v = step.force_by_q(I, B), step.force_by_v(I, B)
    return _Forces(
        tuple(I * s for s in step.S),
        tuple(B.transposed_times(s) * 2.0 for s in step.S),
        tuple(by + s.cross(f) for s, by in zip(step.S, by_q, strict=True)),
        tuple(by_v),
        block(step.S, by_q),
        block(step.S, by_v),
    )


def torque_derivatives(sums: SubtreeSums, *like: Array) -> tuple[Array, Array]:
    """∂τ/∂q and ∂τ/∂v of the recursion, (nv, nv) each."""
    nv, steps = sums.model.nv, sums.all_steps()
    dq, dv = zeros((nv, nv), *like), zeros((nv, nv), *like)
    items = [(step, sums.I[j], sums.B[j], sums.f[j]) for j, step in steps]
    forces = for_each_step(_forces, items, [len(step.S) for _, step in steps], *like)
    for (_, step), own in zip(steps, forces, strict=True):
        dq[step.at, step.at] += own.own_q
        dv[step.at, step.at] += own.own_v
    ahead, back, turned, by_v = (rows_of(f for each in forces for f in each[k]) for k in range(4))
    psi1, psi2, rate = (
        rows_of(m for _, step in steps for m in getattr(step, name)) for name in ("psi1", "psi2", "rate")
    )
    pairs = sums.pairs(steps)
    pairs.add((dq, dv), pairs.S, (turned, by_v))
    by = np.concatenate([psi1, psi2], axis=1), np.concatenate([pairs.S, psi1 + rate], axis=1)
    pairs.add((dq, dv), np.concatenate([back, ahead], axis=1), by, swapped=True)
    return dq, dv


def mass_matrix_in(sums: SubtreeSums, *like: Array) -> Array:
    """M_ij = S_iᵀ I_j S_j in the common frame, without the rotors."""
    M, steps = zeros((sums.model.nv, sums.model.nv), *like), sums.all_steps()
    items = [(step.S, sums.I[j]) for j, step in steps]
    ahead = for_each_step(_momenta, items, [len(step.S) for _, step in steps], *like)
    pairs = sums.pairs(steps)
    pairs.add((M,), pairs.S, (rows_of(f for forces, _ in ahead for f in forces),))
    M = M + M.T
    for (_, step), (_, own) in zip(steps, ahead, strict=True):
        M[step.at, step.at] += own
    return M


def _momenta(S: tuple[Motion, ...], I: Inertia) -> tuple[tuple[Force, ...], Array]:
    ahead = tuple(I * s for s in S)
    return ahead, mirrored(block(S, ahead))


def torques(sums: SubtreeSums, *like: Array) -> Array:
    """τ_i = S_iᵀ f_i."""
    tau = zeros(sums.model.nv, *like)
    for i, _ in sums.model.root_to_tips():
        for step in sums.steps[i]:
            tau[step.at] += np.array([s.dot(sums.f[i]) for s in step.S])
    return tau
