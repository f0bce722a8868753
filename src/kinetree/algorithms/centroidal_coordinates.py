"""The equation of motion with the centre of mass in place of the base: M_G ν̇ + C_G ν + G_G = T⁻ᵀ τ + J_Gᵀ f.

    ν = T v            T = [[^G X_B, S], [0, 1]]            ^G X_B = [[1, -[r]×], [0, 1]],  r = c - x_b

    ^G T_B             ν = [ċ, ω_b, v_j]                    S = [J_cj, 0]
    ^Ḡ T_B             ν = [ċ, ω̄, v_j]                      S = ^G M_b⁻¹ ^G X_B* M_bj = [J_cj, S_k],  S_k = L⁻¹ A_kj

J_c = [1, -[r]×, J_cj] is the Jacobian of c, A_kj the moments in the joints' columns of A_G. Velocities map by T,
Jacobians by T⁻¹ and forces by T⁻ᵀ, so that power stays; T⁻ᵀ [0, τ_j] = [0, τ_j]:

    M_G = T⁻ᵀ M T⁻¹        C_G = T⁻ᵀ (C - M T⁻¹ Ṫ) T⁻¹        G_G = T⁻ᵀ G = [-m g, 0, 0]        J_G = J T⁻¹

With Ṁ - 2C skew-symmetric, Ṁ_G - 2C_G is so too, and the rows and columns of C_G that belong to ċ are zero. Without
those of ċ, of the rest of M and C (k for rotation, j for joints):

    M̄ = M - m J_cᵀ J_c = [[L, A_kj], [A_kjᵀ, M̄_jj]]         C̄ = C - m J_cᵀ J̇_c

and in ^Ḡ T_B, by a second change [ω̄, v_j] = [[1, S_k], [0, 1]] [ω_b, v_j],

    M_Ḡ = diag(L, M̄_jj - A_kjᵀ S_k)
    C_Ḡ = [[C̄_kk, B], [-Bᵀ, C̄_jj - C̄_jk S_k - S_kᵀ (C̄_kj - C̄_kk S_k)]],   B = C̄_kj - C̄_kk S_k - L Ṡ_k

All in world axes, from a base velocity [ẋ_b, ω_b] in world axes; one in the axes of the base, R, has T = ^G T_B
diag(R, R, 1). Saccon, Traversaro, Nori and Nijmeijer 2017; Traversaro 2017.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.centroidal import centroidal_momentum_matrix
from kinetree.algorithms.centroidal_derivatives import centroidal_momentum_matrix_rate
from kinetree.algorithms.coriolis import coriolis_matrix
from kinetree.algorithms.crba import mass_matrix
from kinetree.algorithms.locked import locked_inertia, locked_inertia_rate, per_inertia
from kinetree.linalg import minus_product
from kinetree.model.joints import Free
from kinetree.model.tree import Model
from kinetree.ops import Array, mirrored, skew
from kinetree.spatial.packing import reordered

Equation: TypeAlias = tuple[Array, Array, Array, Array, Array, Array]
"""T, T⁻¹, Ṫ, M, C, (nv, nv) each, and G, (nv,)."""
JOINTS = slice(6, None)
K, J = slice(0, 3), slice(3, None)
"""Rotation and joints, where ċ is left out."""


@of_one_state
def centroidal_coordinates(model: Model, q: Array, v: Array) -> Equation:
    """The equation by ^G T_B, with ν = [ċ, ω_b, v_j]: the centre of mass is decoupled from all else."""
    base = _MixedBase.of(model, q, v)
    nothing = np.zeros((3, model.nv - 6))
    return base.equation(nothing, nothing, base.M, base.C)


@of_one_state
def diagonalized_coordinates(model: Model, q: Array, v: Array) -> Equation:
    """The equation by ^Ḡ T_B, with ν = [ċ, ω̄, v_j]: centre of mass, rotation and joints are decoupled.

    Where all mass lies on one line, ω̄ is NaN, and so is what depends on it.
    """
    base = _MixedBase.of(model, q, v)
    L, A_kj = base.M[K, K], base.M[K, J]
    S_k = per_inertia(L, A_kj)
    S_k_rate = per_inertia(L, base.A_rate[3:, JOINTS] - locked_inertia_rate(base.model, q, base.v) @ S_k)

    M, C = base.M.copy(), base.C.copy()
    M[K, J], M[J, K] = 0.0, 0.0
    M[J, J] = mirrored(minus_product(M[J, J], A_kj.T, S_k))
    turned = base.C[K, J] - base.C[K, K] @ S_k
    C[K, J] = turned - L @ S_k_rate
    C[J, K] = -C[K, J].T
    C[J, J] = minus_product(minus_product(base.C[J, J], base.C[J, K], S_k), S_k.T, turned)
    return base.equation(S_k, S_k_rate, M, C)


@dataclass(frozen=True)
class _MixedBase:
    """The robot with its base velocity in world axes, linear first: that of the formulas."""

    own: Model
    model: Model
    v: Array
    R: Array
    """The rotation from the axes of the robot's own base velocity to those of the world, (3, 3), and its rate."""
    R_rate: Array
    J_c: Array
    """The Jacobian of the centre of mass, (3, nv), and its rate."""
    J_c_rate: Array
    A_rate: Array
    M: Array
    """M̄ and C̄, (nv - 3, nv - 3)."""
    C: Array

    @staticmethod
    def of(model: Model, q: Array, v: Array) -> _MixedBase:
        joint, m = model.joints[1], model.mass
        assert isinstance(joint, Free) and joint is model.floating_base, "the base floats"
        world = replace(joint, frame="mixed", order="linear-first")
        mixed = replace(model, joints=(model.joints[0], world, *model.joints[2:]), spatial_order="linear-first")
        own, is_body = reordered(v[:6], 0, joint.order, "linear-first"), joint.frame == "body"
        R = joint.transform(q).R.T if is_body else np.eye(3)
        v_m = np.concatenate([R @ own[:3], R @ own[3:], v[6:]])

        A, A_rate = centroidal_momentum_matrix(mixed, q), centroidal_momentum_matrix_rate(mixed, q, v_m)
        J_c, J_c_rate = A[:3] / m, A_rate[:3] / m
        M = mass_matrix(mixed, q)[3:, 3:]
        M[K, K] = locked_inertia(mixed, q)
        M[K, J], M[J, K] = A[3:, JOINTS], A[3:, JOINTS].T
        M[J, J] = mirrored(minus_product(M[J, J], m * J_c[:, JOINTS].T, J_c[:, JOINTS]))
        C = minus_product(coriolis_matrix(mixed, q, v_m)[3:, 3:], m * J_c[:, 3:].T, J_c_rate[:, 3:])
        return _MixedBase(
            own=model, model=mixed, v=v_m, R=R, R_rate=skew(v_m[3:6]) @ R if is_body else np.zeros((3, 3)), J_c=J_c,
            J_c_rate=J_c_rate, A_rate=A_rate, M=M, C=C,
        )  # fmt: skip

    def equation(self, S_k: Array, S_k_rate: Array, M: Array, C: Array) -> Equation:
        """The equation in the robot's conventions, from S_k, its rate, and M and C without the rows and columns of
        ċ."""
        n, m, R, R_rate = self.model.nv, self.model.mass, self.R, self.R_rate
        J_k, J_j, J_k_rate, J_j_rate = (x[:, at] for x in (self.J_c, self.J_c_rate) for at in (slice(3, 6), JOINTS))
        T = _base_rows([[R, J_k @ R, J_j], [None, R, S_k]])
        T_rate = _base_rows([[R_rate, J_k_rate @ R + J_k @ R_rate, J_j_rate], [None, R_rate, S_k_rate]])
        T_inverse = _base_rows([[R.T, -R.T @ J_k, R.T @ (J_k @ S_k - J_j)], [None, R.T, -R.T @ S_k]])
        one = np.eye(n - 6)
        matrices = [_stacked(T, one), _stacked(T_inverse, one), _stacked(T_rate, 0.0 * one)]
        matrices += [_beside(m * np.eye(3), M), _beside(np.zeros((3, 3)), C)]
        G = np.concatenate([-m * self.model.gravity, np.zeros(n - 3)])
        at = np.concatenate([reordered(np.arange(6), 0, "linear-first", self.own.spatial_order), np.arange(6, n)])
        T, T_inverse, T_rate, M, C = (matrix[np.ix_(at, at)] for matrix in matrices)
        return T, T_inverse, T_rate, M, C, G[at]


def _base_rows(blocks: list[list[Any]]) -> Array:
    """The first six rows of a matrix, None for no entries."""
    return np.block([[np.zeros((3, 3)) if block is None else block for block in row] for row in blocks])


def _stacked(rows: Array, of_joints: Array) -> Array:
    """Rows of the base above those of the joints, which have no columns of the base."""
    return np.concatenate([rows, np.concatenate([np.zeros((len(of_joints), 6)), of_joints], axis=1)])


def _beside(of_center: Array, rest: Array) -> Array:
    """diag(A, B)."""
    n = len(rest)
    return np.block([[of_center, np.zeros((3, n))], [np.zeros((n, 3)), rest]])
