"""Analytic derivatives of inverse and forward dynamics, on the tangent space of q, in O(n d) steps.

In one common frame, for joint j with parent λ, a_0 = -g, and sums over the subtree of j: inertia I, Coriolis inertia B
and force f = Σ I a + v ×* I v. How S_j moves when an ancestor does is

    Ψ̇_j = v_λ × S_j,     Ψ̈_j = a_λ × S_j + v_λ × Ψ̇_j,     Ṡ_j = v_j × S_j

and with i on the way to j, or i = j on the right:

    ∂τ_i/∂q_j = S_iᵀ (2 B_j Ψ̇_j + I_j Ψ̈_j + S_j ×* f_j)            ∂τ_j/∂q_i = S_jᵀ (2 B_j Ψ̇_i + I_j Ψ̈_i)
    ∂τ_i/∂v_j = S_iᵀ (2 B_j S_j + I_j (Ψ̇_j + Ṡ_j))                  ∂τ_j/∂v_i = S_jᵀ (2 B_j S_i + I_j (Ψ̇_i + Ṡ_i))

Singh, Russell and Wensing 2022. With a = FD(q, v, τ), M ∂a/∂x = -∂τ/∂x for x = q and v, and ∂a/∂τ = M⁻¹.

A joint whose S depends on q is a series of simpler ones without mass between them: its columns are taken one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinetree.algorithms import crba
from kinetree.algorithms.common_frame import CommonFrame
from kinetree.algorithms.joint_forces import passive_forces, passive_slopes
from kinetree.algorithms.rnea import NO_FORCES, bias_forces
from kinetree.algorithms.wrenches import Push, external_forces
from kinetree.linalg import ltdl, ltdl_solve
from kinetree.model.joints import Free, Joint
from kinetree.model.joints.joint import combination
from kinetree.model.tree import Model
from kinetree.ops import Array, cross, mirrored, skew, zeros
from kinetree.spatial import CoriolisInertia, Force, Inertia, Motion, SpatialOrder, pack, unpack


@dataclass(frozen=True)
class _Step:
    """One joint, or one column of a joint that is a series: its place in v, and how its columns move."""

    at: slice
    S: Sequence[Motion]
    psi1: Sequence[Motion]
    psi2: Sequence[Motion]
    rate: Sequence[Motion]


class _Sweep:
    """All bodies in a common frame, moving with v and a."""

    def __init__(
        self, model: Model, frame: CommonFrame, v: Array, a: Array, f_ext: Mapping[int, Force] = NO_FORCES
    ) -> None:
        self.model = model
        self.steps: dict[int, list[_Step]] = {0: []}
        V, A = {0: Motion.zero()}, {0: Motion(-frame.gravity, np.zeros(3))}
        self.I: dict[int, Inertia] = dict(frame.I)
        self.B: dict[int, CoriolisInertia] = {}
        self.f: dict[int, Force] = {}
        for i, p in model.root_to_tips():
            V[i], A[i], self.steps[i] = V[p], A[p], []
            for at, S in _series(model.joints[i], frame.S[i]):
                step = combination(tuple(S), v[at])
                psi1 = [V[i].cross(s) for s in S]
                psi2 = [A[i].cross(s) + V[i].cross(psi) for s, psi in zip(S, psi1, strict=True)]
                V[i] = V[i] + step
                A[i] = A[i] + combination(tuple(S), a[at]) + V[i].cross(step)
                self.steps[i].append(_Step(at, S, psi1, psi2, [V[i].cross(s) for s in S]))
            self.B[i] = CoriolisInertia.of(self.I[i], V[i])
            self.f[i] = self.I[i].net_force(V[i], A[i])
            if i in f_ext:
                self.f[i] -= frame.X[i].transpose() * f_ext[i]
        for i, p in model.tips_to_root():
            if p:
                self.I[p] += self.I[i]
                self.B[p] += self.B[i]
                self.f[p] += self.f[i]

    def before(self, body: int, step: _Step) -> list[_Step]:
        """The steps on the way to this one, itself not included."""
        way = [earlier for i in self.model.support(body) for earlier in self.steps[i]]
        return way[: way.index(step)]


def _series(joint: Joint, S: tuple[Motion, ...]) -> list[tuple[slice, tuple[Motion, ...]]]:
    if joint.is_series:
        return [(slice(joint.iv + k, joint.iv + k + 1), (s,)) for k, s in enumerate(S)]
    return [(joint.v_slice, S)]


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


# -- free joints with velocities in their parent's axes ------------------------------------------------------------


@dataclass(frozen=True)
class _BodyVelocities:
    """The same motion with v_b = T v and a_b = T a + Ṫ v, where T turns the velocities of free joints that are given in
    their parent's axes, [ẋ, ω], into their own: by E = ^i R_λ. Then τ = Tᵀ τ_b, and

        ∂τ/∂v = Tᵀ (∂τ_b/∂v_b T + M_b ∂(Ṫ v)/∂v)
        ∂τ/∂q = Tᵀ (∂τ_b/∂q_b T + ∂τ_b/∂v_b ∂(T v)/∂q + M_b ∂(T a + Ṫ v)/∂q) + ∂Tᵀ/∂q τ_b

    With q moved by exp([δ]×) R, the change of E x is E [x]× δ, and that of Eᵀ f is -[Eᵀ f]× δ; Ṫ v = (E (ẋ × ω), 0).
    """

    model: Model
    turns: tuple[tuple[Free, Array], ...]

    @staticmethod
    def of(model: Model, q: Array) -> _BodyVelocities:
        turns = [
            (joint, joint.transform(q).R)
            for joint in model.joints
            if isinstance(joint, Free) and joint.frame == "mixed"
        ]
        if not turns:
            return _BodyVelocities(model, ())
        joints = [replace(joint, frame="body") if isinstance(joint, Free) else joint for joint in model.joints]
        return _BodyVelocities(replace(model, joints=tuple(joints)), tuple(turns))

    def velocities(self, v: Array) -> Array:
        v_b = v.copy()
        for joint, E in self.turns:
            v_b[joint.v_slice] = self._turned(E, v[joint.v_slice])
        return v_b

    def accelerations(self, v: Array, a: Array) -> Array:
        a_b = self.velocities(a)
        for joint, E in self.turns:
            x, w = unpack(v[joint.v_slice], joint.order)
            a_b[joint.v_slice] += pack(E @ cross(x, w), np.zeros(3), joint.order)
        return a_b

    def back(self, v: Array, a: Array, tau: Array, M: Array, dq: Array, dv: Array) -> tuple[Array, Array]:
        """∂τ/∂q and ∂τ/∂v from those by body velocities."""
        for joint, E in self.turns:
            at, order = joint.v_slice, joint.order
            (x, w), (xx, ww), (f, n) = (unpack(part[at], order) for part in (v, a, tau))
            T = _blocks(E, 0, 0, E, order)
            by_v = _blocks(-E @ skew(w), E @ skew(x), 0, 0, order)
            v_by_q = _blocks(0, E @ skew(x), 0, E @ skew(w), order)
            a_by_q = _blocks(0, E @ skew(xx + cross(x, w)), 0, E @ skew(ww), order)
            force_by_q = _blocks(0, -skew(E.T @ f), 0, -skew(E.T @ n), order)
            dq, dv, M = dq.copy(), dv.copy(), M.copy()
            dq[:, at] = dq[:, at] @ T + dv[:, at] @ v_by_q + M[:, at] @ a_by_q
            dv[:, at] = dv[:, at] @ T + M[:, at] @ by_v
            for matrix in (dq, dv, M):
                matrix[at] = T.T @ matrix[at]
            dq[at, at] += force_by_q
        return dq, dv

    @staticmethod
    def _turned(E: Array, six: Array) -> Array:
        return np.concatenate([E @ six[:3], E @ six[3:]])


def _blocks(ll: Any, la: Any, al: Any, aa: Any, order: SpatialOrder) -> Array:
    """A 6×6 matrix from its linear and angular blocks, 0 for an empty one."""
    ll, la, al, aa = (np.zeros((3, 3)) if np.isscalar(block) else block for block in (ll, la, al, aa))
    rows = [[ll, la], [al, aa]] if order == "linear-first" else [[aa, al], [la, ll]]
    return np.block(rows)


# -- the quantities ------------------------------------------------------------------------------------------------


def inverse_dynamics_derivatives(
    model: Model, q: Array, v: Array, a: Array, pushes: Sequence[Push] = ()
) -> tuple[Array, Array]:
    """∂τ/∂q and ∂τ/∂v of inverse dynamics, (nv, nv) each; ∂τ/∂a is the mass matrix. Wrenches stay what they are in
    their reference."""
    body = _BodyVelocities.of(model, q)
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
    body, still = _BodyVelocities.of(model, q), np.zeros(model.nv)
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
