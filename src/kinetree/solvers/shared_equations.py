"""Quadratic programs with equations that may contradict each other, in loops for `compiler.loops`.

Contacts of one body repeat each other, and while it turns they also contradict each other: no acceleration of a sole
holds four of its points, since those need ω × (ω × p) each. Such *shared* equations are met in the sense of least
squares. Where they are independent, as they mostly are, nothing is done for that.
"""

from __future__ import annotations

from kinetree.compiler import Matrix, Vector
from kinetree.solvers.active_set import REDUNDANT, START, STATUS, STEP, search
from kinetree.solvers.orthogonal import independent

LOWER_ROW, UPPER_ROW, WORK_ROW = 0, 1, 2
"""Rows of `R`: bounds of the program with independent equations, and a vector to work with."""
SHARED_ROWS = 3


def minimise_shared(
    H: Matrix, g: Vector, C: Matrix, lower: Vector, upper: Vector, guess: Vector, counts: Vector, x: Vector,
    multipliers: Vector, active: Vector, info: Vector, U: Matrix, Q: Matrix, K: Matrix, S: Matrix, Z: Matrix, B: Matrix,
    R: Matrix, n: int, m: int,
) -> None:  # fmt: skip
    """`active_set.minimise`, of which the first counts[1] rows of C are shared equations; counts[0] is its limit. Where
    those depend on each other, `multipliers` are of independent ones in their place."""
    limit = int(counts[0])
    shared = int(counts[1])
    search(H, g, C, lower, upper, guess, limit, x, multipliers, active, info, U, Q, K, S, Z, shared, n, m)
    if info[STATUS] != REDUNDANT:
        return
    for i in range(n + m):
        R[LOWER_ROW, i] = lower[i]
        R[UPPER_ROW, i] = upper[i]
    for i in range(m):
        for j in range(n):
            B[i, j] = C[i, j]
    independent(B, R[LOWER_ROW, n:], Q, U, shared, Z[START], R[WORK_ROW], Z[STEP], n)
    for i in range(n, n + shared):
        R[UPPER_ROW, i] = R[LOWER_ROW, i]
    search(H, g, B, R[LOWER_ROW], R[UPPER_ROW], guess, limit, x, multipliers, active, info, U, Q, K, S, Z, 0, n, m)
