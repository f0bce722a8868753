"""Forward dynamics by the articulated-body algorithm, in body coordinates.

First pass, root to tips:   v_i as in RNEA,  c_i = S°_i q̇_i + v_i × v_Ji,  p_i^A = v_i ×* I_i v_i - f_i^ext
Second pass, tips to root:  U_i = I_i^A S_i,  D_i = S_iᵀ U_i,  u_i = τ_i - S_iᵀ p_i^A
                            I^a = I_i^A - U_i D_i⁻¹ U_iᵀ
                            p^a = p_i^A + I^a c_i + U_i D_i⁻¹ u_i
                            I_λ(i)^A += ^λ(i)X*_i I^a ^iX_λ(i),  p_λ(i)^A += ^λ(i)X*_i p^a
Third pass, root to tips:   a' = ^iX_λ(i) a_λ(i) + c_i,  a_0 = -g
                            q̈_i = D_i⁻¹ (u_i - U_iᵀ a'),  a_i = a' + S_i q̈_i

^λX*_i = (^iX_λ)ᵀ, so that `X.transpose() * f` is Xᵀ f and, for an inertia, `X.transpose() * I` is Xᵀ I X. The D_i of
joints with one coordinate are the pivots of the mass matrix M = Lᵀ D L; the D_i of a joint with n of them is an n×n
block, whose own factors LᵀDL give n pivots. A rotor adds its armature to D_i; friction and springs are taken off τ.
Featherstone 2008, section 7.3.
"""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.arguments.one_state import NO_FORCES, ExternalForces, of_one_state
from kinetree.algorithms.joint_forces import passive_forces, rotor_bias
from kinetree.algorithms.passes.column_pairs import block
from kinetree.algorithms.passes.regularity import require_regular
from kinetree.errors import ArgumentError
from kinetree.linalg import ltdl, ltdl_solve
from kinetree.model.joints.joint import combination
from kinetree.model.tree import Model
from kinetree.ops import Array, zeros
from kinetree.spatial import ArticulatedInertia, Force, Motion, Transform


@of_one_state
def forward_dynamics(model: Model, q: Array, v: Array, tau: Array, f_ext: ExternalForces = NO_FORCES) -> Array:
    """a with M a + C v + G = τ + Σ Jᵀ f_ext, (nv,).

    Mimic joints couple distant bodies, which this recursion cannot express: models with them are solved by
    factorisation.
    """
    if model.has_mimics:
        raise ArgumentError(f"{model.name!r} has mimic joints, which ABA cannot express; factorization has them all")
    V, c = {0: Motion.zero()}, {}
    IA = {i: ArticulatedInertia.of(inertia) for i, inertia in enumerate(model.inertias)}
    pA = {0: Force.zero()}
    X: dict[int, Transform] = {}
    for i, p in model.root_to_tips():
        joint, I = model.joints[i], model.inertias[i]
        X[i] = joint.transform(q) * model.placements[i]
        vJ = joint.velocity(q, v)
        V[i] = X[i] * V[p] + vJ
        c[i] = joint.bias(q, v) + V[i].cross(vJ)
        pA[i] = V[i].cross(I * V[i])
        if i in f_ext:
            pA[i] -= f_ext[i]

    tau = tau - passive_forces(model, q, v) - rotor_bias(model, v)
    S, U, u, D_inverse = {}, {}, {}, {}
    pivots = zeros(model.nv, q)
    for i, p in model.tips_to_root():
        joint = model.joints[i]
        S[i] = joint.motion_subspace(q)
        U[i] = [IA[i] * s for s in S[i]]
        D = block(S[i], U[i]) + np.asarray(joint.dynamics.armature) * np.eye(joint.nv)
        L, pivots[joint.v_slice] = ltdl(D)
        D_inverse[i] = ltdl_solve(L, pivots[joint.v_slice], np.eye(joint.nv))
        u[i] = tau[joint.v_slice] - joint.generalized_force(q, pA[i])
        if p == 0:
            continue  # the world does not move, so what it would have to carry is never asked for
        Ia, pa = IA[i], pA[i]
        for k, f in enumerate(U[i]):
            UD = sum((g * D_inverse[i][j, k] for j, g in enumerate(U[i])), Force.zero())  # column k of U D⁻¹
            Ia -= ArticulatedInertia.outer(UD, f)
            pa += UD * u[i][k]
        pa += Ia * c[i]
        IA[p] += X[i].transpose() * Ia
        pA[p] += X[i].transpose() * pa

    A = {0: Motion(-model.gravity, np.zeros(3))}
    a = zeros(model.nv, q, v, tau)
    for i, p in model.root_to_tips():
        at = model.joints[i].v_slice
        A_ = X[i] * A[p] + c[i]
        a[at] = D_inverse[i] @ (u[i] - np.array([A_.dot(f) for f in U[i]]))
        A[i] = A_ + combination(S[i], a[at])
    require_regular(model, q, pivots)
    return a
