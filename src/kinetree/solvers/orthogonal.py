"""Complete orthogonal factorisation of a few rows, in loops for `compiler.loops`: ranks, least squares, null spaces.

Reflections from the right turn a basis Z, an orthonormal row for each direction, so that rows J have J Zᵀ = (L 0), with
rows exchanged so that the longest comes first: L has as many columns as J has rank. Reflections from the left then make
L upper triangular, R, and least squares are solved by substitution. JᵀJ is never formed: a direction in which J is 1e-9
of its largest would be 1e-18 there, less than rounding.
"""

from __future__ import annotations

from math import sqrt

from kinetree.compiler import Matrix, Vector
from kinetree.linalg import RANK_TOLERANCE
from kinetree.solvers.dense import dot, factor, solve_transposed, solve_upper, subtract

RANK = RANK_TOLERANCE
"""A row of which less than this part of the size of all rows is left depends on those before it."""
DAMPED = 1e-10
"""λ² relative to the largest row squared from which on JᵀJ + λ² 1 is safe to form."""


def unit(Z: Matrix, n: int) -> None:
    """Z = 1."""
    for i in range(n):
        for j in range(n):
            Z[i, j] = 0.0
        Z[i, i] = 1.0


def reflector(row: Vector, u: Vector, n: int) -> float:
    """u and β with (1 - β u uᵀ) row along the first axis, where row then is; 0 if there is nothing to turn."""
    size = sqrt(dot(row, row, n))
    if size == 0.0:
        return 0.0
    for j in range(n):
        u[j] = row[j]
        row[j] = 0.0
    if u[0] > 0.0:
        size = -size
    row[0] = size
    u[0] = u[0] - size
    return 2.0 / dot(u, u, n)


def longest(B: Matrix, first: int, rows: int, k: int, n: int) -> int:
    """The row from `first` on that is longest from column k on."""
    best = first
    most = -1.0
    for i in range(first, rows):
        size = dot(B[i, k:], B[i, k:], n - k)
        if size > most:
            best = i
            most = size
    return best


def swap(B: Matrix, e: Vector, i: int, j: int, n: int) -> None:
    """Exchange two rows."""
    for k in range(n):
        kept = B[i, k]
        B[i, k] = B[j, k]
        B[j, k] = kept
    kept = e[i]
    e[i] = e[j]
    e[j] = kept


def turn(Z: Matrix, first: int, count: int, u: Vector, beta: float, t: Vector, n: int) -> None:
    """(1 - β u uᵀ) applied to rows of the basis."""
    for j in range(n):
        t[j] = 0.0
    for i in range(count):
        subtract(t, -u[i], Z[first + i], n)
    for i in range(count):
        subtract(Z[first + i], beta * u[i], t, n)


def triangular(
    B: Matrix, e: Vector, Z: Matrix, first: int, rows: int, free: int, threshold: float, u: Vector, t: Vector, n: int
) -> int:
    """Turn the basis from row `first` on so that B is lower triangular, its rows in a new order: its rank, with what is
    longer than `threshold`."""
    rank = 0
    while rank < rows and rank < free:
        i = longest(B, rank, rows, rank, free)
        size = sqrt(dot(B[i, rank:], B[i, rank:], free - rank))
        if not size > threshold:
            return rank
        if i != rank:
            swap(B, e, i, rank, free)
        beta = reflector(B[rank, rank:], u, free - rank)
        for j in range(rank + 1, rows):
            subtract(B[j, rank:], beta * dot(B[j, rank:], u, free - rank), u, free - rank)
        turn(Z, first + rank, free - rank, u, beta, t, n)
        rank += 1
    return rank


def upper_triangular(B: Matrix, e: Vector, rows: int, rank: int, u: Vector, t: Vector) -> None:
    """Reflect B, of full column rank, and e from the left, which leaves ‖B y - e‖ as it is, so that B is (R, 0)."""
    for k in range(rank):
        size = 0.0
        for i in range(k, rows):
            u[i] = B[i, k]
            size += u[i] * u[i]
        size = sqrt(size)
        if size == 0.0:
            continue
        if u[k] > 0.0:
            size = -size
        u[k] = u[k] - size
        square = 0.0
        along = 0.0
        for j in range(k, rank):
            t[j] = 0.0
        for i in range(k, rows):
            square += u[i] * u[i]
            along += u[i] * e[i]
            subtract(t[k:], -u[i], B[i, k:], rank - k)
        beta = 2.0 / square
        for i in range(k, rows):
            subtract(B[i, k:], beta * u[i], t[k:], rank - k)
            e[i] = e[i] - beta * along * u[i]
            B[i, k] = 0.0
        B[k, k] = size


def damp(U: Matrix, y: Vector, rank: int, damping: float, w: Vector) -> None:
    """Rotate rows λ 1 into an upper-triangular U, so that UᵀU grows by λ² 1; y goes along with it."""
    for j in range(rank):
        for k in range(j, rank):
            w[k] = 0.0
        w[j] = damping
        right = 0.0
        for k in range(j, rank):
            length = sqrt(U[k, k] * U[k, k] + w[k] * w[k])
            if length == 0.0:
                continue
            c = U[k, k] / length
            s = w[k] / length
            for i in range(k, rank):
                a = U[k, i]
                U[k, i] = c * a + s * w[i]
                w[i] = c * w[i] - s * a
            a = y[k]
            y[k] = c * a + s * right
            right = c * right - s * a


def least_squares(
    B: Matrix, e: Vector, y: Vector, G: Matrix, U: Matrix, rows: int, rank: int, damping: float, u: Vector, t: Vector
) -> bool:
    """y with the least ‖B y - e‖² + λ² ‖y‖², of `rank` entries; B is lower triangular, and reflected if need be."""
    if damping == 0.0 and rank == rows:
        for i in range(rank):
            y[i] = (e[i] - dot(B[i], y, i)) / B[i, i]
        return True
    if is_damped(B, rank, damping):
        normal(B, e, y, G, rows, rank, rank, damping)
        for i in range(rank):
            y[i] = -y[i]
        if not factor(U, G, 0.0, 0.0, rank):
            return False
        solve_transposed(y, U, 0, rank)
        solve_upper(y, U, rank)
        return True
    upper_triangular(B, e, rows, rank, u, t)
    root(B, e, y, U, rank, damping, u)
    solve_upper(y, U, rank)
    return True


def is_damped(B: Matrix, rank: int, damping: float) -> bool:
    """Whether Bᵀ B + λ² 1 is safe to form; the first row of B is the longest."""
    if rank == 0:
        return True
    return damping > DAMPED * B[0, 0] * B[0, 0]


def root(B: Matrix, e: Vector, y: Vector, U: Matrix, rank: int, damping: float, w: Vector) -> None:
    """U with UᵀU = BᵀB + λ² 1, of whose diagonal the reciprocals are kept, and y with Uᵀy = Bᵀe; B is upper
    triangular."""
    for i in range(rank):
        y[i] = e[i]
        for j in range(i, rank):
            U[i, j] = B[i, j]
    if damping > 0.0:
        damp(U, y, rank, sqrt(damping), w)
    for i in range(rank):
        U[i, i] = 1.0 / U[i, i]


def normal(B: Matrix, e: Vector, g: Vector, G: Matrix, rows: int, rank: int, n: int, damping: float) -> None:
    """G = Bᵀ B + λ² 1 and g = -Bᵀ e, of n variables of which B has the first `rank`."""
    for i in range(n):
        g[i] = 0.0
        for j in range(n):
            G[i, j] = 0.0
        G[i, i] = damping
    for k in range(rows):
        subtract(g, e[k], B[k], rank)
        for i in range(rank):
            if B[k, i] != 0.0:
                subtract(G[i], -B[k, i], B[k], rank)


def independent(B: Matrix, e: Vector, Z: Matrix, U: Matrix, rows: int, y: Vector, u: Vector, t: Vector, n: int) -> None:
    """B x = e again, in place, with as many orthonormal rows as B has rank and zeros for the others: all x that meet
    the rows as they were in the sense of least squares, whether they contradict each other or not."""
    unit(Z, n)
    size = 0.0
    for i in range(rows):
        size += dot(B[i], B[i], n)
    rank = triangular(B, e, Z, 0, rows, n, RANK * sqrt(size), u, t, n)
    upper_triangular(B, e, rows, rank, u, t)
    root(B, e, y, U, rank, 0.0, u)
    solve_upper(y, U, rank)
    for i in range(rank):
        e[i] = y[i]
        for j in range(n):
            B[i, j] = Z[i, j]
    for i in range(rank, rows):
        e[i] = 0.0
        for j in range(n):
            B[i, j] = 0.0
