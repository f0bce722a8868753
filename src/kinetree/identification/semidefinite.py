"""The consistent estimate as a semidefinite program, solved by Clarabel (`pip install 'kinetree[identification]'`).

min ½ θᵀ (G + M / s²) θ - (g + M θ⁰ / s²)ᵀ θ        J_i(θ) ⪰ ε J_i⁰,  x ≥ 0 for rotors and friction
"""

from __future__ import annotations

import numpy as np

from kinetree.base.lazy_imports import extra
from kinetree.errors import KinetreeError
from kinetree.identification.consistent import BASIS, Problem
from kinetree.identification.least_squares import solve
from kinetree.ops import Array

MARGIN = 1e-6
"""ε: bodies on the edge of what is possible keep this part of the prior's inertia, so that loaders accept them."""


def pullback(problem: Problem) -> Array:
    """θ at the minimum with the constant-pullback distance, (n,)."""
    with extra("identification", "semidefinite programs are solved by the package clarabel"):
        import clarabel  # noqa: PLC0415 - an extra
        from scipy import sparse  # noqa: PLC0415
    n, size = len(problem.prior), len(problem.beta)
    T, M = problem.T, problem.metric() / problem.spread**2
    P = T.T @ M @ T
    P[:size, :size] += problem.G
    c = T.T @ (M @ problem.prior)
    c[:size] += problem.G @ problem.beta
    diagonal = np.diag(P)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))  # z = z* + scale · x, z* the minimum without walls
    P = P * np.outer(scale, scale)
    free = scale * solve(P, scale * c)
    A, theta = T * scale, T @ free
    rows, rights, cones = [np.zeros((0, n))], [np.zeros(0)], []
    positive = np.flatnonzero(problem.signs)
    if len(positive):
        rows.append(-A[positive])
        rights.append(theta[positive])
        cones.append(clarabel.NonnegativeConeT(len(positive)))
    for i, J0 in enumerate(problem.J0):
        own = slice(10 * i, 10 * i + 10)
        root = np.linalg.inv(np.linalg.cholesky(J0))  # in coordinates in which the prior is the identity
        triangles = np.array([_triangle(root @ E @ root.T) for E in BASIS]).T
        rows.append(-triangles @ A[own])
        rights.append(triangles @ theta[own] - MARGIN * _triangle(np.eye(4)))
        cones.append(clarabel.PSDTriangleConeT(4))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    limits, P_upper = sparse.csc_matrix(np.concatenate(rows)), sparse.csc_matrix(np.triu(0.5 * (P + P.T)))
    solution = clarabel.DefaultSolver(P_upper, np.zeros(n), limits, np.concatenate(rights), cones, settings).solve()
    if str(solution.status) not in ("Solved", "AlmostSolved"):
        raise KinetreeError(f"the semidefinite program was not solved ({solution.status}); expected consistent data")
    return theta + A @ np.asarray(solution.x)


def _triangle(S: Array) -> Array:
    """The upper triangle column by column, off the diagonal times √2, as Clarabel has it."""
    rows, columns = np.triu_indices(len(S))
    order = np.lexsort((rows, columns))
    rows, columns = rows[order], columns[order]
    return np.where(rows == columns, 1.0, np.sqrt(2.0)) * S[rows, columns]
