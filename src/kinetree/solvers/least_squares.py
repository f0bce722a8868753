"""Least squares within bounds, in loops for `compiler.loops`: normal equations of a stack of rows, solved.

minimise ½ ‖J x - e‖² + Σ (½ a x² - b x)   with   lower ≤ (x, C x) ≤ upper
"""

from __future__ import annotations

from kinetree.compiler import Matrix, Vector
from kinetree.solvers.dense import subtract, subtract_rows
from kinetree.solvers.shared_equations import minimise_shared


def normal_equations(
    H: Matrix, g: Vector, J: Matrix, e: Vector, squares: Vector, linear: Vector, rows: int, n: int
) -> None:
    """H = Jᵀ J + diag a, of which the upper triangle is written, and g = -Jᵀ e - b."""
    for i in range(n):
        for j in range(i, n):
            H[i, j] = 0.0
        subtract_rows(H[i, i:], J, i, 0, rows, n - i)
        for j in range(i, n):
            H[i, j] = -H[i, j]
        H[i, i] = H[i, i] + squares[i]
        g[i] = -linear[i]
    for k in range(rows):
        subtract(g, e[k], J[k], n)


def fit(
    J: Matrix, e: Vector, squares: Vector, linear: Vector, C: Matrix, lower: Vector, upper: Vector, guess: Vector,
    counts: Vector, x: Vector, multipliers: Vector, active: Vector, info: Vector, H: Matrix, g: Matrix, U: Matrix,
    Q: Matrix, K: Matrix, S: Matrix, Z: Matrix, B: Matrix, R: Matrix, n: int, m: int,
) -> None:  # fmt: skip
    """Solve for `squares` a and `linear` b; `counts` are the number of rows of J, how many times the active set may
    change, and how many of the first rows of C are shared equations."""
    normal_equations(H, g[0], J, e, squares, linear, int(counts[0]), n)
    minimise_shared(
        H, g[0], C, lower, upper, guess, counts[1:], x, multipliers, active, info, U, Q, K, S, Z, B, R, n, m
    )
