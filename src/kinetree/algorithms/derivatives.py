"""Analytic derivatives of inverse and forward dynamics, on the tangent space of q, in O(n d) steps.

In one common frame, with a_0 = -g, Ψ̇, Ψ̈, Ṡ of `moving_columns`, the sums I, B, f of `forward_pass`, and i on the way
to j, or i = j on the right:

    ∂τ_i/∂q_j = S_iᵀ (2 B_j Ψ̇_j + I_j Ψ̈_j + S_j ×* f_j)            ∂τ_j/∂q_i = S_jᵀ (2 B_j Ψ̇_i + I_j Ψ̈_i)
    ∂τ_i/∂v_j = S_iᵀ (2 B_j S_j + I_j (Ψ̇_j + Ṡ_j))                  ∂τ_j/∂v_i = S_jᵀ (2 B_j S_i + I_j (Ψ̇_i + Ṡ_i))

Singh, Russell and Wensing 2022. With a = FD(q, v, τ), M ∂a/∂x = -∂τ/∂x for x = q and v, and ∂a/∂τ = M⁻¹.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.algorithms import crba
from kinetree.algorithms.arguments.one_state import ExternalForces, Push, of_one_state
from kinetree.algorithms.arguments.wrenches import external_forces
from kinetree.algorithms.joint_forces import (
    passive_force_derivatives,
    passive_forces,
    rotor_bias,
    rotor_bias_derivative,
)
from kinetree.algorithms.passes.body_velocities import BodyVelocities
from kinetree.algorithms.passes.forward_pass import SubtreeSums
from kinetree.algorithms.passes.regularity import require_regular
from kinetree.algorithms.rnea import bias_forces
from kinetree.linalg import ltdl, ltdl_solve
from kinetree.model.tree import Model
from kinetree.ops import Array, cross, mirrored, zeros
from kinetree.spatial import Force, Motion


def _torque_derivatives(sums: SubtreeSums, *like: Array) -> tuple[Array, Array]:
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
            dq[step.at, step.at] += _block(step.S, by_q)
            dv[step.at, step.at] += _block(step.S, by_v)
            for other in earlier:
                dq[other.at, step.at] += _block(other.S, turned)
                dv[other.at, step.at] += _block(other.S, by_v)
                moved = [psi + rate for psi, rate in zip(other.psi1, other.rate, strict=True)]
                dq[step.at, other.at] += (_block(other.psi1, back) + _block(other.psi2, ahead)).T
                dv[step.at, other.at] += (_block(other.S, back) + _block(moved, ahead)).T
    return dq, dv


def _held_in_world(sums: SubtreeSums, push: Push, q: Array) -> Array:
    """The part that ∂τ/∂q lacks for a wrench that does not turn with its body: -S_iᵀ (δ_j w - S_j ×* w), (nv, nv).

    Moved along S_j, a wrench fixed in the body changes by S_j ×* w, which the recursion has; one fixed in the world by
    δ_j w = 0; one with fixed components at the frame's origin p by the moment (v_j + ω_j × p) × f.
    """
    placement, reference, _ = push
    derivatives = zeros((sums.model.nv, sums.model.nv), q)
    if reference == "local" or not placement.body:
        return derivatives
    X = sums.common.X[placement.body]
    w = X.transpose() * external_forces(sums.model, q, [push])[placement.body]
    p = (placement.X * X).p
    way = sums.way(placement.body)
    for step in way:
        missing = []
        for s in step.S:
            change = -s.cross(w)
            if reference == "world-aligned":
                change = change + Force(np.zeros(3), cross(s.linear + cross(s.angular, p), w.force))
            missing.append(-change)
        for other in way:
            derivatives[other.at, step.at] += _block(other.S, missing)
    return derivatives


def _block(motions: Sequence[Motion], forces: Sequence[Force]) -> Array:
    return np.array([s.dot(f) for s in motions for f in forces]).reshape(len(motions), len(forces))


def _mass_matrix(sums: SubtreeSums, *like: Array) -> Array:
    """M_ij = S_iᵀ I_j S_j in the common frame, without the rotors."""
    M = zeros((sums.model.nv, sums.model.nv), *like)
    for j, _ in sums.model.tips_to_root():
        for step in sums.steps[j]:
            ahead = [sums.I[j] * s for s in step.S]
            M[step.at, step.at] += mirrored(_block(step.S, ahead))
            for other in sums.before(j, step):
                block = _block(other.S, ahead)
                M[other.at, step.at] += block
                M[step.at, other.at] += block.T
    return M


def _torques(sums: SubtreeSums, *like: Array) -> Array:
    """τ_i = S_iᵀ f_i."""
    tau = zeros(sums.model.nv, *like)
    for i, _ in sums.model.root_to_tips():
        for step in sums.steps[i]:
            tau[step.at] += np.array([s.dot(sums.f[i]) for s in step.S])
    return tau


# -- the quantities ------------------------------------------------------------------------------------------------


@of_one_state
def inverse_dynamics_derivatives(
    model: Model, q: Array, v: Array, a: Array, pushes: Sequence[Push] = ()
) -> tuple[Array, Array]:
    """∂τ/∂q and ∂τ/∂v of inverse dynamics, (nv, nv) each; ∂τ/∂a is the mass matrix. Wrenches stay what they are in
    their reference."""
    sums = SubtreeSums(model, q, v, a, gravity=True, f_ext=external_forces(model, q, pushes))
    dq, dv = _torque_derivatives(sums, q, v, a)
    for push in pushes:
        dq = dq + _held_in_world(sums, push, q)
    if sums.body.turns:
        dq, dv = sums.body.back(_torques(sums, q, v, a), _mass_matrix(sums, q), dq, dv)
    by_q, by_v = passive_force_derivatives(model, q, v)
    return dq + by_q, dv + by_v + rotor_bias_derivative(model, v)


@of_one_state
def gravity_forces_derivative(model: Model, q: Array) -> Array:
    """∂G/∂q of gravity forces, (nv, nv): that of inverse dynamics at rest, without springs."""
    sums = SubtreeSums(model, q, gravity=True)
    dq, dv = _torque_derivatives(sums, q)
    if sums.body.turns:
        dq, _ = sums.body.back(_torques(sums, q), _mass_matrix(sums, q), dq, dv)
    return dq


@of_one_state
def mass_matrix_of(model: Model, q: Array) -> Array:
    """M from the inertias in the common frame, which the derivatives need as well, (nv, nv)."""
    if BodyVelocities.of(model, q).turns:
        return crba.mass_matrix(model, q)
    return _mass_matrix(SubtreeSums(model, q, gravity=True), q) + np.diag(model.armature)


def _bias_forces(model: Model, q: Array, v: Array, f_ext: ExternalForces) -> Array:
    """C v + G from the velocities in the common frame, which the derivatives need as well, (nv,)."""
    if BodyVelocities.of(model, q).turns:
        return bias_forces(model, q, v, f_ext)
    return _torques(SubtreeSums(model, q, v, gravity=True, f_ext=f_ext), q, v) + rotor_bias(model, v)


@of_one_state
def forward_dynamics_derivatives(
    model: Model, q: Array, v: Array, tau: Array, pushes: Sequence[Push] = ()
) -> tuple[Array, Array, Array]:
    """∂a/∂q, ∂a/∂v and ∂a/∂τ of forward dynamics, (nv, nv) each."""
    L, d = ltdl(mass_matrix_of(model, q))
    require_regular(model, q, d)
    bias = _bias_forces(model, q, v, external_forces(model, q, pushes)) + passive_forces(model, q, v)
    a = ltdl_solve(L, d, tau - bias)
    dq, dv = inverse_dynamics_derivatives(model, q, v, a, pushes)
    inverse = mirrored(ltdl_solve(L, d, np.eye(model.nv)))
    return ltdl_solve(L, d, -dq), ltdl_solve(L, d, -dv), inverse
