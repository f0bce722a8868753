"""The Coriolis matrix C with C v = bias forces without gravity and Ṁ - 2C skew-symmetric, in O(n d) steps.

In one common frame, with Ṡ_i the rate of S_i, sums I_i^c and B_i^c over subtrees, and B as in `CoriolisInertia`:

    C_ij = S_iᵀ (I_j^c Ṡ_j + B_j^c S_j)                     for i on the way to j, or i = j
    C_ji = Ṡ_iᵀ I_j^c S_j + S_iᵀ (B_j^c)ᵀ S_j               for i on the way to j

Echeandia and Wensing 2021. It equals Σ J_kᵀ (I_k J̇_k + B_k J_k) over all bodies, and for coordinates that are joint
angles and displacements C_ij = Σ Γ_ijk q̇_k with the Christoffel symbols Γ of the first kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.joint_forces import rotor_coriolis
from kinetree.algorithms.passes.column_pairs import ColumnPairs, block, for_each_step, rows_of
from kinetree.algorithms.passes.common_frame import CommonFrame
from kinetree.model.joints.joint import combination
from kinetree.model.tree import Model
from kinetree.ops import Array, for_each, zeros
from kinetree.spatial import CoriolisInertia, Force, Inertia, Motion

Motions: TypeAlias = Mapping[int, Sequence[Motion]]


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


def _add_body(
    C: Array, model: Model, j: int, S: Motions, dS: Motions, inertia: Inertia, coriolis: CoriolisInertia
) -> None:
    """Add C_ij and C_ji for all i on the way to j, given I_j^c and B_j^c."""
    F1 = [inertia * ds + coriolis * s for s, ds in zip(S[j], dS[j], strict=True)]
    F2 = [inertia * s for s in S[j]]
    F3 = [coriolis.transposed_times(s) for s in S[j]]
    at_j = model.joints[j].v_slice
    for i in model.support(j):
        at_i = model.joints[i].v_slice
        C[at_i, at_j] += block(S[i], F1)
        if i != j:
            C[at_j, at_i] += (block(dS[i], F2) + block(S[i], F3)).T


@of_one_state
def christoffel_symbols(model: Model, q: Array) -> Array:
    """Γ with C_ij = Σ_k Γ_ijk v_k, (nv, nv, nv): C is linear in v, so Γ_··k is C at a unit velocity.

    Where coordinate k of joint m moves alone, all bodies behind m have the velocity V = S_k and the others none. So
    B_j^c is B(I_j^c, V) for j behind m and B(I_m^c, V) for j on the way to m.
    """
    frame = CommonFrame.of(model, q)
    S, Ic = frame.S, dict(frame.I)
    for j, p in model.tips_to_root():
        if p:
            Ic[p] += Ic[j]
    at_rest = {i: [Motion.zero()] * len(S[i]) for i in S}
    symbols = zeros((model.nv,) * 3, q)
    for m, _ in model.root_to_tips():
        joint, behind = model.joints[m], model.subtree(m)
        for k, V in zip(range(model.nv)[joint.v_slice], S[m], strict=True):
            dS = {**at_rest, **{i: [V.cross(s) for s in S[i]] for i in behind}}
            own = frame.motions(m, joint.motion_subspace_rate(q, np.eye(model.nv)[k]))
            dS[m] = [ds + rate for ds, rate in zip(dS[m], own, strict=True)]
            symbols[:, :, k] += rotor_coriolis(model, np.eye(model.nv)[k])
            for j in (*model.support(m)[:-1], *behind):
                inertia = Ic[max(j, m)]  # on the way to m, where Ṡ = 0, only B counts
                _add_body(symbols[:, :, k], model, j, S, dS, inertia, CoriolisInertia.of(inertia, V))
    return symbols


@of_one_state
def mass_matrix_rate(model: Model, q: Array, v: Array) -> Array:
    """Ṁ = C + Cᵀ, exactly symmetric, (nv, nv)."""
    C = coriolis_matrix(model, q, v)
    return C + C.T
