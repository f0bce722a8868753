"""Inverse dynamics by the recursive Newton-Euler algorithm, in body coordinates.

    v_0 = 0                                                 (2)
    a_0 = -g                                                (3)
    v_Ji = S_i q̇_i                                          (4)
    a_Ji = S_i q̈_i + S°_i q̇_i                               (5)
    v_i = ^iX_λ(i) v_λ(i) + v_Ji                            (6)
    a_i = ^iX_λ(i) a_λ(i) + a_Ji + v_i × v_Ji               (7)
    f_i^B = I_i a_i + v_i ×* I_i v_i - f_i^ext              (8)
    f_i = f_i^B + Σ_{j ∈ μ(i)} ^iX*_j f_j                   (9)
    τ_i = S_iᵀ f_i                                          (10)

q̇_i and q̈_i are joint i's entries of v and a; S°_i, the rate of S_i seen from body i, is zero for most joints. Forces
go down the tree by ^λX*_i = (^iX_λ)ᵀ, which is written `X[i].transpose()`. With a_0 = -g instead of 0 every body is
held against gravity. Featherstone 2008, section 5.3.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinetree.algorithms.arguments.one_state import NO_FORCES, ExternalForces, of_one_state
from kinetree.algorithms.joint_forces import joint_forces, rotor_bias
from kinetree.model.tree import Model
from kinetree.ops import Array, zeros
from kinetree.spatial import Force, Motion, Transform


@of_one_state
def inverse_dynamics(model: Model, q: Array, v: Array, a: Array, f_ext: ExternalForces = NO_FORCES) -> Array:
    """τ = M a + C v + G - Σ Jᵀ f_ext, (nv,) [N m or N]; f_ext are forces on bodies, in body coordinates.

    Rotors, friction and springs of the joints come on top, where the model has them.
    """
    return newton_euler(model, q, v, a, f_ext) + joint_forces(model, q, v, a)


@of_one_state
def newton_euler(model: Model, q: Array, v: Array, a: Array, f_ext: ExternalForces = NO_FORCES) -> Array:
    """The recursion: what the joints have to transmit to move the bodies so, (nv,) [N m or N]."""
    V = {0: Motion.zero()}  # (2)
    A = {0: Motion(-model.gravity, np.zeros(3))}  # (3)
    F = {0: Force.zero()}
    X: dict[int, Transform] = {}
    for i, p in model.root_to_tips():
        joint, I = model.joints[i], model.inertias[i]
        X[i] = joint.transform(q) * model.placements[i]
        vJ = joint.velocity(q, v)  # (4)
        aJ = joint.acceleration(q, v, a)  # (5)
        V[i] = X[i] * V[p] + vJ  # (6)
        A[i] = X[i] * A[p] + aJ + V[i].cross(vJ)  # (7)
        F[i] = I.net_force(V[i], A[i])  # (8): I a + v ×* I v
        if i in f_ext:
            F[i] -= f_ext[i]
    tau = zeros(model.nv, q, v, a)
    for i, p in model.tips_to_root():
        joint = model.joints[i]
        tau[joint.v_slice] += joint.generalized_force(q, F[i])  # (10); += because a mimic joint adds to its leader's
        F[p] += X[i].transpose() * F[i]  # (9)
    return tau


@of_one_state
def bias_forces(model: Model, q: Array, v: Array, f_ext: ExternalForces = NO_FORCES) -> Array:
    """C v + G - Σ Jᵀ f_ext = ID(q, v, 0), eq (13), (nv,) [N m or N]; friction and springs are not part of it."""
    return newton_euler(model, q, v, np.zeros(model.nv), f_ext) + rotor_bias(model, v)


@of_one_state
def mass_matrix(model: Model, q: Array) -> Array:
    """M by columns, M e_k = ID(q, 0, e_k) - G(q), eq (15), (nv, nv); `crba` needs fewer operations for the same."""
    still = zeros(model.nv, q)
    weightless = replace(model, gravity=np.zeros(3))
    columns = [newton_euler(weightless, q, still, unit) for unit in np.eye(model.nv)]
    return np.array(columns).reshape(model.nv, model.nv).T + np.diag(model.armature)


@of_one_state
def gravity_forces(model: Model, q: Array) -> Array:
    """G = ID(q, 0, 0), eq (14), (nv,) [N m or N]."""
    return newton_euler(model, q, np.zeros(model.nv), np.zeros(model.nv))
