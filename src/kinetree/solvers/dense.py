"""Dense linear algebra in loops, for `compiler.loops`: factors, triangular solves, rotations.

A symmetric H = Uᵀ U has its upper-triangular factor stored by rows, so that every inner loop runs along a row. Rows are
taken four at a time: that is four multiplications for one pass over the row that is written.
"""

from __future__ import annotations

from math import sqrt

from kinetree.compiler import Matrix, Vector


def dot(x: Vector, y: Vector, n: int) -> float:
    """xᵀ y of the first n entries."""
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


def subtract(y: Vector, a: float, x: Vector, n: int) -> None:
    """y - a x, in y."""
    for i in range(n):
        y[i] = y[i] - a * x[i]


def subtract_four(
    y: Vector, a0: float, x0: Vector, a1: float, x1: Vector, a2: float, x2: Vector, a3: float, x3: Vector, n: int
) -> None:
    """y - Σ a x, in y."""
    for i in range(n):
        y[i] = y[i] - a0 * x0[i] - a1 * x1[i] - a2 * x2[i] - a3 * x3[i]


def subtract_rows(y: Vector, A: Matrix, column: int, first: int, last: int, n: int) -> None:
    """Row by row y - A[j, column] A[j, column:], for j from `first` to before `last`, of n entries, in y."""
    j = first
    while j + 4 <= last:
        a0 = A[j, column]
        a1 = A[j + 1, column]
        a2 = A[j + 2, column]
        a3 = A[j + 3, column]
        if abs(a0) + abs(a1) + abs(a2) + abs(a3) != 0.0:
            subtract_four(y, a0, A[j, column:], a1, A[j + 1, column:], a2, A[j + 2, column:], a3, A[j + 3, column:], n)
        j += 4
    while j < last:
        if A[j, column] != 0.0:
            subtract(y, A[j, column], A[j, column:], n)
        j += 1


def along(c: Vector, Q: Matrix, v: Vector, k: int, n: int) -> None:
    """c = Q v, of k rows of n entries."""
    i = 0
    while i + 4 <= k:
        dot_four(c[i:], Q[i], Q[i + 1], Q[i + 2], Q[i + 3], v, n)
        i += 4
    while i < k:
        c[i] = dot(Q[i], v, n)
        i += 1


def dot_four(c: Vector, x0: Vector, x1: Vector, x2: Vector, x3: Vector, v: Vector, n: int) -> None:
    """Four products at once."""
    c0 = 0.0
    c1 = 0.0
    c2 = 0.0
    c3 = 0.0
    for j in range(n):
        c0 += x0[j] * v[j]
        c1 += x1[j] * v[j]
        c2 += x2[j] * v[j]
        c3 += x3[j] * v[j]
    c[0] = c0
    c[1] = c1
    c[2] = c2
    c[3] = c3


def take_away(v: Vector, c: Vector, Q: Matrix, k: int, n: int) -> None:
    """v - Qᵀ c, in v, of k rows of n entries."""
    i = 0
    while i + 4 <= k:
        subtract_four(v, c[i], Q[i], c[i + 1], Q[i + 1], c[i + 2], Q[i + 2], c[i + 3], Q[i + 3], n)
        i += 4
    while i < k:
        subtract(v, c[i], Q[i], n)
        i += 1


def factor(U: Matrix, H: Matrix, shift: float, threshold: float, n: int) -> bool:
    """The upper-triangular U with Uᵀ U = H + shift 1; false if a pivot is not above `threshold`.

    Below the diagonal U is not touched. The diagonal keeps the reciprocals: those are what is needed.
    """
    for i in range(n):
        for j in range(i, n):
            U[i, j] = H[i, j]
        U[i, i] = U[i, i] + shift
        subtract_rows(U[i, i:], U, i, 0, i, n - i)
        if not U[i, i] > threshold:
            return False
        inverse = 1.0 / sqrt(U[i, i])
        for j in range(i, n):
            U[i, j] = U[i, j] * inverse
        U[i, i] = inverse  # of √pivot
    return True


def solve_transposed(v: Vector, U: Matrix, first: int, n: int) -> None:
    """U⁻ᵀ v, in v, whose entries before `first` are zero."""
    j = first
    while j + 4 <= n:
        v[j] = v[j] * U[j, j]
        v[j + 1] = (v[j + 1] - v[j] * U[j, j + 1]) * U[j + 1, j + 1]
        v[j + 2] = (v[j + 2] - v[j] * U[j, j + 2] - v[j + 1] * U[j + 1, j + 2]) * U[j + 2, j + 2]
        v[j + 3] = (v[j + 3] - v[j] * U[j, j + 3] - v[j + 1] * U[j + 1, j + 3] - v[j + 2] * U[j + 2, j + 3]) * U[
            j + 3, j + 3
        ]
        k = j + 4
        if abs(v[j]) + abs(v[j + 1]) + abs(v[j + 2]) + abs(v[j + 3]) != 0.0:
            subtract_four(
                v[k:], v[j], U[j, k:], v[j + 1], U[j + 1, k:], v[j + 2], U[j + 2, k:], v[j + 3], U[j + 3, k:], n - k
            )
        j = k
    while j < n:
        v[j] = v[j] * U[j, j]
        subtract(v[j + 1 :], v[j], U[j, j + 1 :], n - j - 1)
        j += 1


def solve_upper(x: Vector, U: Matrix, n: int) -> None:
    """U⁻¹ x, in x."""
    for k in range(n):
        i = n - 1 - k
        x[i] = (x[i] - dot(U[i, i + 1 :], x[i + 1 :], k)) * U[i, i]


def solve_lower(r: Vector, K: Matrix, inverse: Vector, first: int, n: int) -> None:
    """K⁻¹ r of a lower-triangular K with these reciprocals of its diagonal, in r, from entry `first` on."""
    for i in range(first, n):
        r[i] = (r[i] - dot(K[i], r, i)) * inverse[i]


def solve_lower_transposed(r: Vector, K: Matrix, inverse: Vector, n: int) -> None:
    """K⁻ᵀ r, in r."""
    for k in range(n):
        i = n - 1 - k
        r[i] = r[i] * inverse[i]
        subtract(r, r[i], K[i], i)
