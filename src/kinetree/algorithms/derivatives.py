"""Analytic derivatives of inverse and forward dynamics, on the tangent space of q, in O(n d) steps.

In one common frame, for joint j with parent λ, a_0 = -g, and sums over the subtree of j: inertia I, Coriolis inertia B
and force f = Σ I a + v ×* I v; Ψ̇_j, Ψ̈_j and Ṡ_j say how S_j moves, see `moving_columns`. With i on the way to j, or
i = j on the right:

    ∂τ_i/∂q_j = S_iᵀ (2 B_j Ψ̇_j + I_j Ψ̈_j + S_j ×* f_j)            ∂τ_j/∂q_i = S_jᵀ (2 B_j Ψ̇_i + I_j Ψ̈_i)
    ∂τ_i/∂v_j = S_iᵀ (2 B_j S_j + I_j (Ψ̇_j + Ṡ_j))                  ∂τ_j/∂v_i = S_jᵀ (2 B_j S_i + I_j (Ψ̇_i + Ṡ_i))

Singh, Russell and Wensing 2022. With a = FD(q, v, τ), M ∂a/∂x = -∂τ/∂x for x = q and v, and ∂a/∂τ = M⁻¹.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinetree.algorithms import crba
from kinetree.algorithms.body_velocities import BodyVelocities
from kinetree.algorithms.common_frame import CommonFrame
from kinetree.algorithms.joint_forces import passive_forces, passive_slopes
from kinetree.algorithms.moving_columns import MovingColumns, moving_columns
from kinetree.algorithms.rnea import NO_FORCES, bias_forces
from kinetree.algorithms.wrenches import Push, external_forces
from kinetree.linalg import ltdl, ltdl_solve
from kinetree.model.tree import Model
from kinetree.ops import Array, cross, mirrored, zeros
from kinetree.spatial import CoriolisInertia, Force, Inertia, Motion


class _Sweep:
    """All bodies in a common frame, moving with v and a."""

    def __init__(
        self, model: Model, frame: CommonFrame, v: Array, a: Array, f_ext: Mapping[int, Force] = NO_FORCES
    ) -> None:
        self.model = model
        self.steps: dict[int, list[MovingColumns]] = {0: []}
        V, A = {0: Motion.zero()}, {0: Motion(-frame.gravity, np.zeros(3))}
        self.I: dict[int, Inertia] = dict(frame.I)
        self.B: dict[int, CoriolisInertia] = {}
        self.f: dict[int, Force] = {}
        for i, p in model.root_to_tips():
            self.steps[i], V[i], A[i] = moving_columns(model.joints[i], frame.S[i], V[p], A[p], v, a)
            self.B[i] = CoriolisInertia.of(self.I[i], V[i])
            self.f[i] = self.I[i].net_force(V[i], A[i])
            if i in f_ext:
                self.f[i] -= frame.X[i].transpose() * f_ext[i]
        for i, p in model.tips_to_root():
            if p:
                self.I[p] += self.I[i]
                self.B[p] += self.B[i]
                self.f[p] += self.f[i]

    def before(self, body: int, step: MovingColumns) -> list[MovingColumns]:
        """The steps on the way to this one, itself not included."""
        way = [earlier for i in self.model.support(body) for earlier in self.steps[i]]
        return way[: way.index(step)]


def _torque_slopes(sweep: _Sweep, *like: Array) -> tuple[Array, Array]:
    """∂τ/∂q and ∂τ/∂v of the recursion, (nv, nv) each."""
    nv = sweep.model.nv
    dq, dv = zeros((nv, nv), *like), zeros((nv, nv), *like)
    for j, _ in sweep.model.tips_to_root():
        I, B, f = sweep.I[j], sweep.B[j], sweep.f[j]
        for step in sweep.steps[j]:
            ahead = [I * s for s in step.S]
            back = [B.transposed_times(s) * 2.0 for s in step.S]
            by_q = [(B * psi1) * 2.0 + I * psi2 for psi1, psi2 in zip(step.psi1, step.psi2, strict=True)]
            turned = [by + s.cross(f) for s, by in zip(step.S, by_q, strict=True)]
            by_v = [
                (B * s) * 2.0 + I * (psi1 + rate) for s, psi1, rate in zip(step.S, step.psi1, step.rate, strict=True)
            ]
            earlier = sweep.before(j, step)
            dq[step.at, step.at] += _block(step.S, by_q)
            dv[step.at, step.at] += _block(step.S, by_v)
            for other in earlier:
                dq[other.at, step.at] += _block(other.S, turned)
                dv[other.at, step.at] += _block(other.S, by_v)
                moved = [psi + rate for psi, rate in zip(other.psi1, other.rate, strict=True)]
                dq[step.at, other.at] += (_block(other.psi1, back) + _block(other.psi2, ahead)).T
                dv[step.at, other.at] += (_block(other.S, back) + _block(moved, ahead)).T
    return dq, dv


def _held_in_world(sweep: _Sweep, frame: CommonFrame, push: Push, q: Array) -> Array:
    """What ∂τ/∂q lacks for a wrench that does not turn with its body: -S_iᵀ (δ_j w - S_j ×* w), (nv, nv).

    Moved along S_j, a wrench fixed in the body changes by S_j ×* w, which the recursion has; one fixed in the world by
    δ_j w = 0; one with fixed components at the frame's origin p by the moment (v_j + ω_j × p) × f.
    """
    placement, reference, _ = push
    slopes = zeros((sweep.model.nv, sweep.model.nv), q)
    if reference == "local" or not placement.body:
        return slopes
    w = frame.X[placement.body].transpose() * external_forces(sweep.model, q, [push])[placement.body]
    p = (placement.X * frame.X[placement.body]).p
    way = [step for i in sweep.model.support(placement.body) for step in sweep.steps[i]]
    for step in way:
        missing = []
        for s in step.S:
            change = -s.cross(w)
            if reference == "world-aligned":
                change = change + Force(np.zeros(3), cross(s.linear + cross(s.angular, p), w.force))
            missing.append(-change)
        for other in way:
            slopes[other.at, step.at] += _block(other.S, missing)
    return slopes


def _block(motions: Sequence[Motion], forces: Sequence[Force]) -> Array:
    return np.array([s.dot(f) for s in motions for f in forces]).reshape(len(motions), len(forces))


def _mass_matrix(sweep: _Sweep, *like: Array) -> Array:
    """M_ij = S_iᵀ I_j S_j in the common frame, without the rotors."""
    M = zeros((sweep.model.nv, sweep.model.nv), *like)
    for j, _ in sweep.model.tips_to_root():
        for step in sweep.steps[j]:
            ahead = [sweep.I[j] * s for s in step.S]
            M[step.at, step.at] += mirrored(_block(step.S, ahead))
            for other in sweep.before(j, step):
                block = _block(other.S, ahead)
                M[other.at, step.at] += block
                M[step.at, other.at] += block.T
    return M


def _torques(sweep: _Sweep, *like: Array) -> Array:
    """τ_i = S_iᵀ f_i."""
    tau = zeros(sweep.model.nv, *like)
    for i, _ in sweep.model.root_to_tips():
        for step in sweep.steps[i]:
            tau[step.at] += np.array([s.dot(sweep.f[i]) for s in step.S])
    return tau


# -- the quantities ------------------------------------------------------------------------------------------------


def inverse_dynamics_derivatives(
    model: Model, q: Array, v: Array, a: Array, pushes: Sequence[Push] = ()
) -> tuple[Array, Array]:
    """∂τ/∂q and ∂τ/∂v of inverse dynamics, (nv, nv) each; ∂τ/∂a is the mass matrix. Wrenches stay what they are in
    their reference."""
    body = BodyVelocities.of(model, q)
    frame, f_ext = CommonFrame.of(body.model, q), external_forces(model, q, pushes)
    sweep = _Sweep(body.model, frame, body.velocities(v), body.accelerations(v, a), f_ext)
    dq, dv = _torque_slopes(sweep, q, v, a)
    for push in pushes:
        dq = dq + _held_in_world(sweep, frame, push, q)
    if body.turns:
        dq, dv = body.back(v, a, _torques(sweep, q, v, a), _mass_matrix(sweep, q), dq, dv)
    by_q, by_v = passive_slopes(model, q, v)
    return dq + by_q, dv + by_v


def _mass_matrix_of(model: Model, q: Array) -> Array:
    """From the inertias in the common frame, which the slopes need as well."""
    body, still = BodyVelocities.of(model, q), np.zeros(model.nv)
    if body.turns:
        return crba.mass_matrix(model, q)
    return _mass_matrix(_Sweep(model, CommonFrame.of(model, q), still, still), q) + np.diag(model.armature)


def forward_dynamics_derivatives(
    model: Model, q: Array, v: Array, tau: Array, pushes: Sequence[Push] = ()
) -> tuple[tuple[Array, Array, Array], Array]:
    """∂a/∂q, ∂a/∂v and ∂a/∂τ of forward dynamics, (nv, nv) each, and the pivots of M."""
    L, d = ltdl(_mass_matrix_of(model, q))
    bias = bias_forces(model, q, v, external_forces(model, q, pushes)) + passive_forces(model, q, v)
    a = ltdl_solve(L, d, tau - bias)
    dq, dv = inverse_dynamics_derivatives(model, q, v, a, pushes)
    inverse = mirrored(ltdl_solve(L, d, np.eye(model.nv)))
    return (ltdl_solve(L, d, -dq), ltdl_solve(L, d, -dv), inverse), d
