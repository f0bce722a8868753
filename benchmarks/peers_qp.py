"""Solvers of small dense quadratic programs, each by the call of its own that has the least overhead.

A solver is made for the sizes of a sequence of programs. `solve` takes the next one and returns x, or None if the
solver says that there is none. Settings: tolerances as tight as a controller wants them, everything else as it comes.
"""

from __future__ import annotations

from collections.abc import Callable

import daqp
import numpy as np
import osqp
import piqp
import proxsuite
import qpsolvers
import quadprog
from qp_problems import Program
from scipy import sparse

from kinetree.solvers import qp

Solve = Callable[[Program], "np.ndarray | None"]


def of_kinetree(first: Program, warm: bool) -> Solve:
    """The active-set method of this library, warm by the active set."""
    run = qp.program(len(first.g), len(first.C)).run
    zeros = np.zeros(len(first.lower))
    state = [zeros]

    def solve(p: Program) -> np.ndarray | None:
        try:
            x, _, active, _ = run(p.H, p.g, p.C, p.lower, p.upper, state[0])
        except qp.QuadraticProgramError:
            return None
        if warm:
            state[0] = active
        return x

    return solve


def of_daqp(first: Program, warm: bool) -> Solve:
    """A dual active-set method in C, warm by the signs of multipliers."""
    n = len(first.g)
    sense = np.where(first.lower == first.upper, 5, 0).astype(np.int32)
    state: list[np.ndarray | None] = [None]

    def solve(p: Program) -> np.ndarray | None:
        x, _, flag, info = daqp.solve(p.H, p.g, p.C, p.upper, p.lower, sense, dual_start=state[0])
        if flag < 1:
            return None
        if warm:
            state[0] = info["lam"]
        return x[:n]

    return solve


def of_quadprog(first: Program, warm: bool) -> Solve:
    """The method of Goldfarb and Idnani in C; one-sided rows only, no warm start."""
    n, m = len(first.g), len(first.C)
    is_equal = np.zeros(n + m, dtype=bool)
    is_equal[n:] = first.lower[n:] == first.upper[n:]
    has_lower, has_upper = np.isfinite(first.lower) & ~is_equal, np.isfinite(first.upper) & ~is_equal
    count = int(is_equal.sum())

    def solve(p: Program) -> np.ndarray | None:
        rows = np.concatenate([np.eye(n), p.C])
        normals = np.concatenate([rows[is_equal], rows[has_lower], -rows[has_upper]]).T
        right = np.concatenate([p.lower[is_equal], p.lower[has_lower], -p.upper[has_upper]])
        try:
            return quadprog.solve_qp(p.H, -p.g, np.ascontiguousarray(normals), right, count)[0]
        except ValueError:
            return None

    return solve


def of_proxqp(first: Program, warm: bool) -> Solve:
    """An augmented-Lagrangian method in C++."""
    n, k = len(first.g), first.equations
    dense = proxsuite.proxqp.dense
    solver = dense.QP(n, k, len(first.C) - k, True)
    solver.settings.eps_abs, solver.settings.eps_rel = 1e-8, 0.0
    solver.settings.max_iter = 200
    guess = proxsuite.proxqp.InitialGuess
    solver.settings.initial_guess = (
        guess.WARM_START_WITH_PREVIOUS_RESULT if warm else guess.EQUALITY_CONSTRAINED_INITIAL_GUESS
    )
    begun: list[bool] = []

    def solve(p: Program) -> np.ndarray | None:
        A, G = p.C[:k], p.C[k:]
        given = (p.H, p.g, A, p.lower[n : n + k], G, p.lower[n + k :], p.upper[n + k :], p.lower[:n], p.upper[:n])
        (solver.update if begun else solver.init)(*(np.clip(x, -1e20, 1e20) for x in given))
        begun.append(True)
        solver.solve()
        solved = solver.results.info.status == proxsuite.proxqp.QPSolverOutput.PROXQP_SOLVED
        return np.array(solver.results.x) if solved else None

    return solve


def of_piqp(first: Program, warm: bool) -> Solve:
    """An interior-point method in C++; no warm start."""
    n, k = len(first.g), first.equations
    solver = piqp.DenseSolver()
    solver.settings.eps_abs, solver.settings.eps_rel = 1e-9, 0.0
    begun: list[bool] = []

    def solve(p: Program) -> np.ndarray | None:
        given = (
            np.asfortranarray(p.H), p.g, np.asfortranarray(p.C[:k]), p.lower[n : n + k], np.asfortranarray(p.C[k:]),
            p.lower[n + k :], p.upper[n + k :], p.lower[:n], p.upper[:n],
        )  # fmt: skip
        (solver.update if begun else solver.setup)(*given)
        begun.append(True)
        return np.array(solver.result.x) if solver.solve() == piqp.PIQP_SOLVED else None

    return solve


def of_osqp(first: Program, warm: bool) -> Solve:
    """A splitting method in C, for sparse programs."""
    n = len(first.g)
    solver = osqp.OSQP()
    rows = sparse.csc_matrix(np.ones((n + len(first.C), n)))
    rows.data[:] = np.concatenate([np.eye(n), first.C]).T.ravel()
    upper_triangle = sparse.csc_matrix(np.triu(np.ones((n, n))))
    upper_triangle.data[:] = first.H.T[np.tril_indices(n)]
    settings = {"eps_abs": 1e-6, "eps_rel": 0.0, "max_iter": 4000, "verbose": False}
    solver.setup(upper_triangle, first.g, rows, first.lower, first.upper, warm_starting=warm, **settings)

    def solve(p: Program) -> np.ndarray | None:
        A = np.concatenate([np.eye(n), p.C]).T.ravel()
        solver.update(q=p.g, l=p.lower, u=p.upper, Px=p.H.T[np.tril_indices(n)], Ax=A)
        result = solver.solve()
        return result.x if result.info.status == "solved" else None

    return solve


def of_facade(solver: str) -> Callable[[Program, bool], Solve]:
    """The same behind qpsolvers, whose checks and conversions come on top."""

    def make(first: Program, warm: bool) -> Solve:
        n, k = len(first.g), first.equations

        def solve(p: Program) -> np.ndarray | None:
            G, low, high = p.C[k:], p.lower[n + k :], p.upper[n + k :]
            finite, bounded = np.isfinite(low), np.isfinite(high)
            rows = np.concatenate([G[bounded], -G[finite]])
            right = np.concatenate([high[bounded], -low[finite]])
            equations = (p.C[:k], p.lower[n : n + k]) if k else (None, None)
            inequalities = (rows, right) if len(rows) else (None, None)
            problem = qpsolvers.Problem(p.H, p.g, *inequalities, *equations, p.lower[:n], p.upper[:n])
            return qpsolvers.solve_problem(problem, solver=solver).x

        return solve

    return make


SOLVERS: dict[str, tuple[Callable[[Program, bool], Solve], bool]] = {
    "kinetree": (of_kinetree, True),
    "daqp": (of_daqp, True),
    "quadprog": (of_quadprog, False),
    "piqp": (of_piqp, False),
    "proxqp": (of_proxqp, True),
    "osqp": (of_osqp, True),
    "qpsolvers, daqp": (of_facade("daqp"), False),
}
"""How each is made, and whether it takes a warm start."""
