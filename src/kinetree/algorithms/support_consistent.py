"""Torques of a robot that stands on constraints and has no motor at some of its joints, as at a floating base.

With S, which selects the entries that have a motor, and N_c = 1 - M⁻¹ Jᵀ Λ J of the constraints (Mistry, Buchli and
Schaal 2010; Righetti et al. 2011):

    τ = (N_cᵀ Sᵀ)⁺ N_cᵀ (M a + b) + (1 - (N_cᵀ Sᵀ)⁺ N_cᵀ Sᵀ) τ₀

N_cᵀ leaves out what constraint forces can do: of e = M a + b - Sᵀ τ₀, τ - τ₀ does what is left, N_cᵀ (e - Sᵀ (τ - τ₀)),
in the sense of least squares, with the least norm. Neither N_c nor its product is formed. With U the entries without a
motor and A those with one, N_cᵀ x = 0 says that x = Jᵀ f for some f, so that

    J_Uᵀ f = e_U     gives f up to internal forces f₀ = (1 - Q Qᵀ) y, with Q an orthonormal basis of the columns of J_U
    τ - τ₀ = e_A - J_Aᵀ f with the least norm: what is left of it beside J_Aᵀ (1 - Q Qᵀ)

That has a solution if J_Uᵀ has as many directions as rows. On one or two points it has not: no force then keeps the
base from falling over. What is left is a residual r = N_cᵀ r which no torque changes, S N_c r = 0. So N_c r is
a motion of the base alone that the constraints allow, (U₀ y, 0) with J_U U₀ = 0, and with Π, which projects at right
angles to the columns of M⁻¹ Jᵀ,

    r = K (Kᵀ K)⁺ U₀ᵀ e_U     with K = Π (U₀, 0)

and e - r is what forces and torques can do.

Constraints that carry the base and do not repeat each other need no decision about ranks: there the same is found with
less work from J Jᵀ, by proximal iterations that also survive the few configurations where they do.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from kinetree.algorithms.arguments.one_state import NO_FORCES, ExternalForces, of_one_state
from kinetree.algorithms.constraints import Proximal, inertia, lacks_rank, require_regular_inertia, some_jacobians
from kinetree.algorithms.passes.constraint_kinematics import ConstraintKinematics, upright_kinematics
from kinetree.algorithms.passes.task_inverse import Factors, generic_rank
from kinetree.algorithms.rnea import inverse_dynamics as unconstrained_inverse_dynamics
from kinetree.linalg import ltdl, ltdl_solve, orthonormal_basis, solve
from kinetree.model.constraints import ConstraintSet
from kinetree.model.tree import Model
from kinetree.ops import Array, divide, mirrored, zeros


@of_one_state
def inverse_dynamics(
    model: Model, constraints: ConstraintSet, q: Array, v: Array, a: Array, f_ext: ExternalForces = NO_FORCES
) -> tuple[Array, Array]:
    """τ, (nv,), and forces f, (k,), for accelerations a: (N_cᵀ Sᵀ)⁺ N_cᵀ (M a + b)."""
    return nearest_torques(model, constraints, q, v, a, np.zeros(model.nv), f_ext)


@of_one_state
def nearest_torques(
    model: Model, constraints: ConstraintSet, q: Array, v: Array, a: Array, tau: Array,
    f_ext: ExternalForces = NO_FORCES,
) -> tuple[Array, Array]:  # fmt: skip
    """τ and f nearest to given torques τ₀, of which those without a motor do not count. Where there is no motor, the
    residual r is left in τ: it is zero there just if M a + b = τ + Jᵀ f."""
    rows = upright_kinematics(model, constraints, q)
    moved, idle = list(constraints.actuated), idle_entries(model, constraints)
    wanted = zeros(model.nv, tau)
    wanted[moved] = tau[moved]
    e = unconstrained_inverse_dynamics(model, q, v, a, f_ext) - wanted
    if is_regular(model, constraints):
        f = _balance(rows.J, idle, e, constraints)
        return e - rows.J.T @ f + wanted, rows.in_world_axes(f)
    base = Factors(rows.J[:, idle], rows.size)
    residual = np.zeros(model.nv)
    if is_unsupported(model, constraints):
        residual = _residual(rows, idle, base, e[idle])
        e = e - residual
    J_A = rows.J[:, moved]
    f = base.solve_transposed(e[idle])
    internal = J_A.T - (J_A.T @ base.basis) @ base.basis.T
    Q = orthonormal_basis(internal, size=rows.size)
    left = e[moved] - J_A.T @ f
    added = zeros(model.nv, left)
    added[moved] = left - Q @ (Q.T @ left)
    f = _reactions(rows.J, constraints).solve(rows.J @ (e - added))
    torques = added + wanted
    torques[idle] = residual[idle]
    return torques, rows.in_world_axes(f)


def idle_entries(model: Model, constraints: ConstraintSet) -> list[int]:
    """The entries of v without a motor."""
    return [k for k in range(model.nv) if k not in constraints.actuated]


@lru_cache(maxsize=64)
def is_unsupported(model: Model, constraints: ConstraintSet) -> bool:
    """Whether no forces balance what has no motor wherever the robot is, as far as a few configurations can tell."""
    model = model.representative
    idle = idle_entries(model, constraints)
    jacobians, sizes = some_jacobians(model, constraints)
    return generic_rank(jacobians, idle, sizes) < len(idle)


@lru_cache(maxsize=64)
def is_regular(model: Model, constraints: ConstraintSet) -> bool:
    """Whether constraints carry what has no motor, and do not repeat each other, almost everywhere."""
    return not lacks_rank(model, constraints) and not is_unsupported(model, constraints)


def _reactions(J: Array, constraints: ConstraintSet) -> Proximal:
    """Solves J Jᵀ f = c."""
    return Proximal(mirrored(J @ J.T), constraints.damping, 1.0, constraints.blocks)


def _balance(J: Array, idle: list[int], e: Array, constraints: ConstraintSet) -> Array:
    """f with the least ‖e - Jᵀ f‖ of those with J_Uᵀ f = e_U: f = G⁻¹ (J e - J_U λ) with G = J Jᵀ, and λ such that
    J_Uᵀ f = e_U."""
    G = _reactions(J, constraints)
    f = G.solve(J @ e)
    if idle:
        J_U = J[:, idle]
        B = G.solve(J_U)
        f = f - B @ Proximal(mirrored(J_U.T @ B), constraints.damping, 1.0).solve(J_U.T @ f - e[idle])
    return f


def _residual(rows: ConstraintKinematics, idle: list[int], base: Factors, e_U: Array) -> Array:
    """r, (nv,). U₀ is the projector 1 - R Rᵀ, and R Rᵀ makes Kᵀ K regular."""
    M = inertia(rows.model, rows.constraints, rows.q)
    L, d = ltdl(M)
    require_regular_inertia(rows, d)
    whole = None
    if rows.columns is not None:
        whole = (rows.columns * divide(1.0, M.diagonal() * M.diagonal())).sum()
    Q = orthonormal_basis(ltdl_solve(L, d, rows.J.T), whole)
    carried = base.projector()
    U_0 = np.eye(len(idle)) - carried
    K = zeros((rows.model.nv, len(idle)), U_0)
    K[idle] = U_0
    K = K - Q @ (Q[idle].T @ U_0)
    return K @ solve(mirrored(K.T @ K) + carried, U_0 @ e_U, positive_definite=True)
