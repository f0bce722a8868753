"""Analytic derivatives of inverse and forward dynamics, on the tangent space of q, in O(n d) steps.

In one common frame, with a_0 = -g, Ψ̇, Ψ̈, Ṡ of `moving_columns`, and the sums I, B, f of `forward_pass`, they are
those of `torque_derivatives`: Singh, Russell and Wensing 2022.

With a = FD(q, v, τ), M ∂a/∂x = -∂τ/∂x for x = q and v, and ∂a/∂τ = M⁻¹.
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
from kinetree.algorithms.passes.column_pairs import block
from kinetree.algorithms.passes.forward_pass import SubtreeSums
from kinetree.algorithms.passes.regularity import require_regular
from kinetree.algorithms.passes.torque_derivatives import mass_matrix_in, torque_derivatives, torques
from kinetree.algorithms.rnea import bias_forces
from kinetree.linalg import ltdl, ltdl_solve
from kinetree.model.tree import Model
from kinetree.ops import Array, cross, mirrored, zeros
from kinetree.spatial import Force


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
            derivatives[other.at, step.at] += block(other.S, missing)
    return derivatives


# -- the quantities ------------------------------------------------------------------------------------------------


@of_one_state
def inverse_dynamics_derivatives(
    model: Model, q: Array, v: Array, a: Array, pushes: Sequence[Push] = ()
) -> tuple[Array, Array]:
    """∂τ/∂q and ∂τ/∂v of inverse dynamics, (nv, nv) each; ∂τ/∂a is the mass matrix. Wrenches stay what they are in
    their reference."""
    sums = SubtreeSums(model, q, v, a, gravity=True, f_ext=external_forces(model, q, pushes))
    dq, dv = torque_derivatives(sums, q, v, a)
    for push in pushes:
        dq = dq + _held_in_world(sums, push, q)
    if sums.body.turns:
        dq, dv = sums.body.back(torques(sums, q, v, a), mass_matrix_in(sums, q), dq, dv)
    by_q, by_v = passive_force_derivatives(model, q, v)
    return dq + by_q, dv + by_v + rotor_bias_derivative(model, v)


@of_one_state
def gravity_forces_derivative(model: Model, q: Array) -> Array:
    """∂G/∂q of gravity forces, (nv, nv): that of inverse dynamics at rest, without springs."""
    sums = SubtreeSums(model, q, gravity=True)
    dq, dv = torque_derivatives(sums, q)
    if sums.body.turns:
        dq, _ = sums.body.back(torques(sums, q), mass_matrix_in(sums, q), dq, dv)
    return dq


@of_one_state
def mass_matrix_of(model: Model, q: Array) -> Array:
    """M from the inertias in the common frame, which the derivatives need as well, (nv, nv)."""
    if BodyVelocities.of(model, q).turns:
        return crba.mass_matrix(model, q)
    return mass_matrix_in(SubtreeSums(model, q, gravity=True), q) + np.diag(model.armature)


def _bias_forces(model: Model, q: Array, v: Array, f_ext: ExternalForces) -> Array:
    """C v + G from the velocities in the common frame, which the derivatives need as well, (nv,)."""
    if BodyVelocities.of(model, q).turns:
        return bias_forces(model, q, v, f_ext)
    return torques(SubtreeSums(model, q, v, gravity=True, f_ext=f_ext), q, v) + rotor_bias(model, v)


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
