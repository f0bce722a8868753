"""The Coriolis matrix C with C v = bias forces without gravity and Ṁ - 2C skew-symmetric, in O(n d) steps.

In one common frame, with Ṡ_i the rate of S_i, sums I_i^c and B_i^c over subtrees, and B as in `CoriolisInertia`:

    C_ij = S_iᵀ (I_j^c Ṡ_j + B_j^c S_j)                     for i on the way to j, or i = j
    C_ji = Ṡ_iᵀ I_j^c S_j + S_iᵀ (B_j^c)ᵀ S_j               for i on the way to j

Echeandia and Wensing 2021. It equals Σ J_kᵀ (I_k J̇_k + B_k J_k) over all bodies, and for coordinates that are joint
angles and displacements C_ij = Σ Γ_ijk q̇_k with the Christoffel symbols Γ of the first kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.joint_forces import rotor_coriolis
from kinetree.algorithms.passes.column_pairs import ColumnPairs, block, for_each_step, rows_of
from kinetree.algorithms.passes.common_frame import CommonFrame
from kinetree.linalg import pair_products
from kinetree.model.joints.joint import combination
from kinetree.model.tree import Model
from kinetree.ops import Array, Scalar, for_each, skew, zeros
from kinetree.spatial import CoriolisInertia, Force, Inertia, Motion


@of_one_state
def coriolis_matrix(model: Model, q: Array, v: Array) -> Array:
    """C(q, v), (nv, nv)."""
    frame = CommonFrame.of(model, q)
    S, Ic = frame.S, dict(frame.I)
    V, bodies = {0: Motion.zero()}, [i for i, _ in model.root_to_tips()]
    for i, p in model.root_to_tips():
        V[i] = V[p] + combination(S[i], v[model.joints[i].v_slice])
    Bc = dict(zip(bodies, for_each(CoriolisInertia.of, [(Ic[i], V[i]) for i in bodies], q), strict=True))
    for j, p in model.tips_to_root():
        if p:
            Ic[p] += Ic[j]
            Bc[p] += Bc[j]
    own = {i: frame.motions(i, model.joints[i].motion_subspace_rate(q, v)) for i in bodies}
    items = [(S[i], own[i], V[i], Ic[i], Bc[i]) for i in bodies]
    forces = for_each_step(_forces, items, [len(S[i]) for i in bodies], q, v)
    C = zeros((model.nv, model.nv), q, v) + rotor_coriolis(model, v)
    for i, each in zip(bodies, forces, strict=True):
        at = model.joints[i].v_slice
        C[at, at] += each.own
    pairs = ColumnPairs(model, [(i, model.joints[i].v_slice, S[i]) for i in bodies])
    dS, F1, F2, F3 = (rows_of(x for each in forces for x in each[k]) for k in range(4))
    pairs.add((C,), pairs.S, (F1,))
    pairs.add((C,), np.concatenate([F2, F3], axis=1), (np.concatenate([dS, pairs.S], axis=1),), swapped=True)
    return C


class _Forces(NamedTuple):
    """Of the columns of a joint: Ṡ, I Ṡ + B S, I S and Bᵀ S, and their own entries of C."""

    dS: tuple[Motion, ...]
    F1: tuple[Force, ...]
    F2: tuple[Force, ...]
    F3: tuple[Force, ...]
    own: Array


def _forces(S: Sequence[Motion], own: Sequence[Motion], V: Motion, I: Inertia, B: CoriolisInertia) -> _Forces:
    dS = tuple(V.cross(s) + rate for s, rate in zip(S, own, strict=True))
    F1 = tuple(I * ds + B * s for s, ds in zip(S, dS, strict=True))
    return _Forces(dS, F1, tuple(I * s for s in S), tuple(B.transposed_times(s) for s in S), block(S, F1))


@of_one_state
def christoffel_symbols(model: Model, q: Array) -> Array:
    """Γ with C_ij = Σ_k Γ_ijk v_k, (nv, nv, nv).

    B(I, V) is linear in V, and Aᵀ B(I, V) U = -Vᵀ B(I, A) U. For a column d of a joint, and columns i and j of joints
    on the way to it or of the same joint:

        Γ_ijd = S_iᵀ B(I_d^c, S_d) S_j
        Γ_idj = Γ_ijd                   for j on the way to d
        Γ_dij = Γ_dji = -Γ_ijd          for i on the way to d and j on the way to i

    The last line says that ∂M_di/∂q_j = 0: joint j moves d and i alike. Columns k and l of one joint, where Ṡ_k = D if
    l moves alone, add Dᵀ I^c S_i to Γ_ikl, with the composite inertia of i or of that joint, whichever is farther out.
    """
    frame = CommonFrame.of(model, q)
    S, Ic = frame.S, dict(frame.I)
    for j, p in model.tips_to_root():
        if p:
            Ic[p] += Ic[j]
    columns = [(m, model.joints[m].iv + k, s) for m in S for k, s in enumerate(S[m])]
    symbols = zeros((model.nv,) * 3, q, model.armature)
    for k in range(model.nv):
        symbols[:, :, k] += rotor_coriolis(model, np.eye(model.nv)[k])
    for (i, at_i, _), (j, at_j, _), (d, at_d, _), value in _triple_products(model, columns, Ic, q):
        symbols[at_i, at_j, at_d] += value  # +=: a mimic joint shares the entries of its leader
        if j < d:
            symbols[at_i, at_d, at_j] += value
        if j <= i < d:
            symbols[at_d, at_j, at_i] -= value
        if j < i < d:
            symbols[at_d, at_i, at_j] -= value
    momenta = [Ic[i] * s for i, _, s in columns]
    for m, k, l, D in _subspace_rates(model, frame, q):
        F, support, subtree = Ic[m] * D, model.support(m), model.subtree(m)
        for (i, at, s), momentum in zip(columns, momenta, strict=True):
            if i in subtree:
                symbols[at, k, l] += D.dot(momentum)
            elif i in support:
                symbols[at, k, l] += s.dot(F)
    return symbols


def _subspace_rates(model: Model, frame: CommonFrame, q: Array) -> Iterator[tuple[int, int, int, Motion]]:
    """For each joint m and the places k and l in v of two of its columns, the rate of S_k if l moves alone."""
    for m, S in frame.S.items():
        joint = model.joints[m]
        for l, moving in enumerate(S, joint.iv):
            own = frame.motions(m, joint.motion_subspace_rate(q, np.eye(model.nv)[l]))
            for k, (s, rate) in enumerate(zip(S, own, strict=True), joint.iv):
                yield m, k, l, moving.cross(s) + rate


Column: TypeAlias = tuple[int, int, Motion]
"""A column of a joint: its body, its place in v, and the motion."""


def _triple_products(
    model: Model, columns: Sequence[Column], Ic: Mapping[int, Inertia], q: Array
) -> Iterator[tuple[Column, Column, Column, Scalar]]:
    """Columns i, j, d and S_iᵀ B(I_d^c, S_d) S_j, for all d, and all i and j on the way to it or of the same joint."""
    B = for_each(CoriolisInertia.of, [(Ic[m], s) for m, _, s in columns], q)
    supports = [model.support(d) for d, _, _ in columns]
    chains = [[i for i, (m, _, _) in enumerate(columns) if m in support] for support in supports]
    pairs = [(d, j) for d, chain in enumerate(chains) for j in chain]
    angular = np.array([s.angular for _, _, s in columns]).reshape(-1, 3)
    rows = np.array([np.concatenate([-skew(b.momentum), b.N]) for b in B]).reshape(-1, 3)
    F = pair_products(rows, angular, [(6 * d + a, j) for d, j in pairs for a in range(6)])
    forces = np.array([[F[6 * d + a, j] for a in range(6)] for d, j in pairs]).reshape(-1, 6)
    triples = [(i, k) for k, (d, _) in enumerate(pairs) for i in chains[d]]
    products = pair_products(rows_of(s for _, _, s in columns), forces, triples)
    for i, k in triples:
        d, j = pairs[k]
        yield columns[i], columns[j], columns[d], products[i, k]


@of_one_state
def mass_matrix_rate(model: Model, q: Array, v: Array) -> Array:
    """Ṁ = C + Cᵀ, exactly symmetric, (nv, nv)."""
    C = coriolis_matrix(model, q, v)
    return C + C.T
