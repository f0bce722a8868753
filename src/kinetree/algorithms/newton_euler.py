"""Inverse dynamics by Newton's and Euler's laws in three dimensions, link by link, with the load every joint carries.

Everything of link i is in its own axes, whose origin is on joint i; R = ^i R_λ, p is the origin of i in the frame of λ,
r_C the centre of mass, v_J, ω_J, a_J, α_J what the joint adds. Outward, from ω̇_0 = 0 and v̇_0 = -g:

    ω_i  = R ω_λ + ω_J
    ω̇_i  = R ω̇_λ + R ω_λ × ω_J + α_J
    v̇_i  = R (v̇_λ + ω̇_λ × p + ω_λ × (ω_λ × p)) + 2 R ω_λ × v_J + ω_J × v_J + a_J
    v̇_C  = v̇_i + ω̇_i × r_C + ω_i × (ω_i × r_C)
    F_i  = m v̇_C,     N_i = I_C ω̇_i + ω_i × I_C ω_i

A revolute joint about z has ω_J = q̇ z, α_J = q̈ z and v_J = a_J = 0; a prismatic one v_J = q̇ z, a_J = q̈ z and
ω_J = α_J = 0. Inward, over the children j of i:

    f_i = F_i + Σ ^i R_j f_j
    n_i = N_i + r_C × F_i + Σ (^i R_j n_j + p_j × ^i R_j f_j)
    τ_i = S_iᵀ (f_i, n_i)      which is z · n_i for a revolute joint, z · f_i for a prismatic one

f_i and n_i are force and moment of the parent on link i, at the joint. Craig 2005, section 6.5.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.algorithms.arguments.one_state import NO_FORCES, ExternalForces, of_one_state
from kinetree.algorithms.joint_forces import joint_forces, rotor_bias
from kinetree.algorithms.passes.column_pairs import rows_of
from kinetree.model.tree import Model
from kinetree.ops import Array, cross, zeros
from kinetree.spatial import Force


class Links(NamedTuple):
    """Results of the outward pass for every link, in its own axes: ω, ω̇, v̇, v̇_C, F, N, and its place, R and p."""

    w: dict[int, Array]
    dw: dict[int, Array]
    dv: dict[int, Array]
    dv_C: dict[int, Array]
    F: dict[int, Array]
    N: dict[int, Array]
    R: dict[int, Array]
    p: dict[int, Array]


@of_one_state
def outward(model: Model, q: Array, v: Array, a: Array) -> Links:
    """ω, ω̇, v̇, v̇_C, F, N, R and p of every link, from the base to the tips."""
    w, dw, dv = {0: np.zeros(3)}, {0: np.zeros(3)}, {0: -model.gravity}
    dv_C, F, N, R, p = {}, {}, {}, {}, {}
    for i, parent in model.root_to_tips():
        joint, inertia = model.joints[i], model.inertias[i]
        X = joint.transform(q) * model.placements[i]
        R[i], p[i] = X.R, X.p
        J, A = joint.velocity(q, v), joint.acceleration(q, v, a)
        before = R[i] @ w[parent]
        lever = cross(dw[parent], p[i]) + cross(w[parent], cross(w[parent], p[i]))
        w[i] = before + J.angular
        dw[i] = R[i] @ dw[parent] + cross(before, J.angular) + A.angular
        dv[i] = R[i] @ (dv[parent] + lever) + 2.0 * cross(before, J.linear) + cross(J.angular, J.linear) + A.linear
        dv_C[i] = dv[i] + cross(dw[i], inertia.com) + cross(w[i], cross(w[i], inertia.com))
        F[i] = dv_C[i] * inertia.mass
        N[i] = inertia.about_com @ dw[i] + cross(w[i], inertia.about_com @ w[i])
    return Links(w, dw, dv, dv_C, F, N, R, p)


@of_one_state
def link_motions(model: Model, q: Array, v: Array, a: Array) -> tuple[Array, ...]:
    """ω, ω̇, v̇, v̇_C, F and N of every link, in its own axes, (n bodies, 3) each."""
    motions = outward(model, q, v, a)[:6]
    return tuple(np.array([each[i] for i, _ in model.root_to_tips()]).reshape(-1, 3) for each in motions)


@of_one_state
def loads(model: Model, q: Array, v: Array, a: Array, f_ext: ExternalForces = NO_FORCES) -> dict[int, Force]:
    """f_i and n_i of every link, by the way back in."""
    *_, F, N, R, p = outward(model, q, v, a)
    f = {i: F[i] for i in F}
    n = {i: N[i] + cross(model.inertias[i].com, F[i]) for i in N}
    for i, parent in model.tips_to_root():
        if i in f_ext:
            f[i], n[i] = f[i] - f_ext[i].force, n[i] - f_ext[i].moment
        if parent:
            force = R[i].T @ f[i]
            f[parent] = f[parent] + force
            n[parent] = n[parent] + R[i].T @ n[i] + cross(p[i], force)
    return {i: Force(f[i], n[i]) for i, _ in model.root_to_tips()}


@of_one_state
def joint_reactions(model: Model, q: Array, v: Array, a: Array, f_ext: ExternalForces = NO_FORCES) -> Array:
    """Force and moment of the parent on every body, in its axes at the joint's origin, (n bodies, 6) [N, N m]."""
    return rows_of(loads(model, q, v, a, f_ext).values(), model.spatial_order)


@of_one_state
def static_reactions(model: Model, q: Array, f_ext: ExternalForces = NO_FORCES) -> Array:
    """Joint reactions at rest: the loads of gravity and external wrenches, (n bodies, 6) [N, N m]."""
    rest = np.zeros(model.nv)
    return joint_reactions(model, q, rest, rest, f_ext)


@of_one_state
def inverse_dynamics(model: Model, q: Array, v: Array, a: Array, f_ext: ExternalForces = NO_FORCES) -> Array:
    """τ, (nv,) [N m or N]: the parts of those loads that a motor has to bear."""
    return _efforts(model, q, loads(model, q, v, a, f_ext)) + joint_forces(model, q, v, a)


@of_one_state
def bias_forces(model: Model, q: Array, v: Array, f_ext: ExternalForces = NO_FORCES) -> Array:
    """C v + G - Σ Jᵀ f_ext, (nv,) [N m or N]; friction and springs are not part of it."""
    return _efforts(model, q, loads(model, q, v, np.zeros(model.nv), f_ext)) + rotor_bias(model, v)


def _efforts(model: Model, q: Array, carried: dict[int, Force]) -> Array:
    """τ_i = S_iᵀ (f_i, n_i)."""
    tau = zeros(model.nv, q, *(force.force for force in carried.values()))
    for i, _ in model.root_to_tips():
        joint = model.joints[i]
        tau[joint.v_slice] += joint.generalized_force(q, carried[i])
    return tau
