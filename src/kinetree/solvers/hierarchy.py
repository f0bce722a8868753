"""Tasks in strict order, in loops for `compiler.loops`: each is met as well as those before it leave room for.

Level by level, minimise ‖J x - e‖² + λ² ‖x‖² over all x that leave the residuals of earlier levels as they are, with
lower ≤ (x, D x) ≤ upper throughout. Rows of `Z` are an orthonormal basis of what is left free. A level turns that basis
so that J Zᵀ = (L 0) with a triangular L: its first rows are what the level needs, the others are left to the next
(Siciliano and Slotine 1991, with a basis in place of projectors; Escande, Mansard and Wieber 2014). Where the step
keeps all bounds it is the answer; else the level is a quadratic program in the coordinates of Z.
"""

from __future__ import annotations

from math import sqrt

from kinetree.compiler.loops import Matrix, Vector
from kinetree.solvers.active_set import FINITE, NOT_FINITE, SOLVED, STATUS, TURNS, minimise, value
from kinetree.solvers.dense import dot, factor, solve_transposed, solve_upper, subtract

RANK = 1e-10
"""A row of which less than this part of the level's size is left depends on those before it."""
REFLECTOR, SUM, STEP, ERROR, THERE = 0, 1, 2, 3, 4
"""Rows of `T`: vectors to work with, the step in the coordinates of Z, what is left of e, and where the step leads."""
LOWER_ROW, UPPER_ROW, GUESS_ROW = 0, 1, 2
"""Rows of `bounds`; two more are for results of the quadratic program."""


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
    """Which of the rows from `first` on has the most left from column k on."""
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
    B: Matrix, e: Vector, Z: Matrix, first: int, rows: int, free: int, least: float, u: Vector, t: Vector, n: int
) -> int:
    """Turn the basis from row `first` on so that B is lower triangular, its rows in a new order: its rank, with what is
    longer than `least`."""
    rank = 0
    while rank < rows and rank < free:
        i = longest(B, rank, rows, rank, free)
        size = sqrt(dot(B[i, rank:], B[i, rank:], free - rank))
        if not size > least:
            return rank
        if i != rank:
            swap(B, e, i, rank, free)
        beta = reflector(B[rank, rank:], u, free - rank)
        for j in range(rank + 1, rows):
            subtract(B[j, rank:], beta * dot(B[j, rank:], u, free - rank), u, free - rank)
        turn(Z, first + rank, free - rank, u, beta, t, n)
        rank += 1
    return rank


def least_squares(B: Matrix, e: Vector, y: Vector, G: Matrix, U: Matrix, rows: int, rank: int, damping: float) -> bool:
    """y with the least ‖B y - e‖² + λ² ‖y‖², of `rank` entries; B is lower triangular."""
    if damping == 0.0 and rank == rows:
        for i in range(rank):
            y[i] = (e[i] - dot(B[i], y, i)) / B[i, i]
        return True
    normal(B, e, y, G, rows, rank, rank, damping)
    for i in range(rank):
        y[i] = -y[i]
    if not factor(U, G, 0.0, 0.0, rank):
        return False
    solve_transposed(y, U, 0, rank)
    solve_upper(y, U, rank)
    return True


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


def beyond(there: float, lower: float, upper: float) -> bool:
    """Whether a value is outside its bounds by more than rounding."""
    return there < lower - 1e-12 * (1.0 + abs(lower)) or there > upper + 1e-12 * (1.0 + abs(upper))


def outside(x: Vector, D: Matrix, lower: Vector, upper: Vector, n: int, rows: int) -> bool:
    """Whether a bound of (x, D x) is violated."""
    for row in range(n + rows):
        if beyond(value(x, D, row, n), lower[row], upper[row]):
            return True
    return False


def restrict(
    x: Vector, D: Matrix, lower: Vector, upper: Vector, C: Matrix, Z: Matrix, bounds: Matrix, free: int, n: int,
    rows: int,
) -> None:  # fmt: skip
    """Bounds of (x, D x) in the coordinates of the basis: rows C, and what is left to go."""
    for i in range(free):
        bounds[LOWER_ROW, i] = -2.0 * FINITE
        bounds[UPPER_ROW, i] = 2.0 * FINITE
        bounds[GUESS_ROW, i] = 0.0
        for j in range(n):
            C[j, i] = Z[n - free + i, j]
        for j in range(rows):
            C[n + j, i] = dot(D[j], Z[n - free + i], n)
    for j in range(n + rows):
        there = value(x, D, j, n)
        bounds[LOWER_ROW, free + j] = lower[j] - there
        bounds[UPPER_ROW, free + j] = upper[j] - there
        bounds[GUESS_ROW, free + j] = 0.0


def descend(
    levels: Vector, J: Matrix, e: Vector, damping: Vector, D: Matrix, lower: Vector, upper: Vector, x: Vector,
    info: Vector, Z: Matrix, B: Matrix, G: Matrix, C: Matrix, T: Matrix, bounds: Matrix, U: Matrix, Q: Matrix,
    K: Matrix, S: Matrix, Y: Matrix, n: int, m: int,
) -> None:  # fmt: skip
    """x for `levels`: how many there are, the number of rows of D, and how many rows of J and e belong to each level.
    λ² is damping[level]; bounds are those of (x, D x)."""
    for i in range(n):
        x[i] = 0.0
        for j in range(n):
            Z[i, j] = 0.0
        Z[i, i] = 1.0
    info[STATUS] = 0.0
    info[TURNS] = 0.0
    turns = 0.0
    start = 0
    free = n
    extra = int(levels[1])
    for level in range(int(levels[0])):
        rows = int(levels[level + 2])
        size = 0.0
        for i in range(rows):
            size += dot(J[start + i], J[start + i], n)
            T[ERROR, i] = e[start + i] - dot(J[start + i], x, n)
            for j in range(free):
                B[i, j] = dot(Z[n - free + j], J[start + i], n)
        start += rows
        rank = triangular(B, T[ERROR], Z, n - free, rows, free, RANK * sqrt(size), T[REFLECTOR], T[SUM], n)
        if not least_squares(B, T[ERROR], T[STEP], G, U, rows, rank, damping[level]):
            info[STATUS] = float(NOT_FINITE)
            return
        for j in range(n):
            T[THERE, j] = x[j]
        for i in range(rank):
            subtract(T[THERE], -T[STEP, i], Z[n - free + i], n)
        if outside(T[THERE], D, lower, upper, n, extra):
            restrict(x, D, lower, upper, C, Z, bounds, free, n, extra)
            normal(B, T[ERROR], T[STEP], G, rows, rank, free, damping[level])
            minimise(
                G, T[STEP], C, bounds[LOWER_ROW], bounds[UPPER_ROW], bounds[GUESS_ROW], T[SUM], bounds[3], bounds[4],
                info, U, Q, K, S, Y, free, n + extra,
            )  # fmt: skip
            turns += info[TURNS]
            if info[STATUS] != SOLVED:
                return
            for j in range(n):
                T[THERE, j] = x[j]
            for i in range(free):
                subtract(T[THERE], -T[SUM, i], Z[n - free + i], n)
        for j in range(n):
            x[j] = T[THERE, j]
        free -= rank
    info[TURNS] = turns
    size = 0.0
    for i in range(n):
        size += abs(x[i])
    if not size < FINITE:
        info[STATUS] = float(NOT_FINITE)
