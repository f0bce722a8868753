"""Tasks in strict order, in loops for `compiler.loops`: each is met as well as those before it leave room for.

Level by level, minimise ‖J x - e‖² + λ² ‖x‖² over all x that leave the residuals of earlier levels as they are, with
lower ≤ (x, D x) ≤ upper throughout, or from some level on (`level_bounds`). Rows of `Z` are an orthonormal basis of
what is left free. A level turns that basis so that J Zᵀ = (L 0) with a triangular L: its first rows are what the level
needs, the others are left to the next (Siciliano and Slotine 1991, with a basis in place of projectors; Escande,
Mansard and Wieber 2014). Where the step keeps all bounds it is the answer; else the level is a quadratic program in the
coordinates of Z.
"""

from __future__ import annotations

from math import sqrt

from kinetree.compiler.loops import Matrix, Vector
from kinetree.solvers.active_set import ENDLESS, FINITE, INFEASIBLE, NOT_FINITE, SOLVED, STATUS, TURNS, minimise
from kinetree.solvers.dense import dot, factor, solve_transposed, solve_upper, subtract
from kinetree.solvers.level_bounds import (
    ACTIVE_ROW,
    GUESS_ROW,
    KEPT_LOWER,
    KEPT_UPPER,
    LOWER_ROW,
    MULTIPLIER_ROW,
    UPPER_ROW,
    beginning,
    broken,
    in_basis,
    kept,
    outside,
    partway,
    relax,
    restrict,
)

RANK = 1e-10
"""A row of which less than this part of the level's size is left depends on those before it."""
REFLECTOR, SUM, STEP, ERROR, THERE = 0, 1, 2, 3, 4
"""Rows of `T`: vectors to work with, the step in the coordinates of Z, what is left of e, and where the step leads."""
COUNT_AT, ROWS_AT, LIMIT_AT, HARD_AT, SIZES_AT = 0, 1, 2, 3, 4
"""Entries of `levels`."""
LEVEL, PARTLY = 3, 2
"""Entries of `info`: the last level that was looked at, how many went only part of their way."""
UNMET = 1e-9
"""What may be left of a hard level, relative to 1 + Σ |e|."""


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


def met(B: Matrix, e: Vector, y: Vector, rows: int, rank: int) -> bool:
    """y with B y = e, of `rank` entries; whether rows that depend on others follow from them."""
    size = 1.0
    for i in range(rank):
        y[i] = (e[i] - dot(B[i], y, i)) / B[i, i]
    for i in range(rows):
        size += abs(e[i])
    for i in range(rank, rows):
        if not abs(e[i] - dot(B[i], y, rank)) < UNMET * size:
            return False
    return True


def descend(
    levels: Vector, J: Matrix, e: Vector, damping: Vector, D: Matrix, since: Vector, lower: Vector, upper: Vector,
    guess: Vector, x: Vector, active: Vector, info: Vector, Z: Matrix, B: Matrix, G: Matrix, C: Matrix, T: Matrix,
    bounds: Matrix, U: Matrix, Q: Matrix, K: Matrix, S: Matrix, Y: Matrix, n: int, m: int,
) -> None:  # fmt: skip
    """x for `levels`: how many there are, the number of rows of D, how many times the active set of a level may change,
    whether the first level is hard, and how many rows of J and e belong to each level.

    λ² is damping[level]; bounds are those of (x, D x), rows of D counting from level `since` on. A hard level is met
    exactly, or there is no solution; it comes before all bounds, which the next one has to keep. `guess` and `active`
    have an entry for every bound at every level. Where there is no solution, info[3] is the level, and `active` there
    has the factors with which rows contradict each other."""
    count = int(levels[COUNT_AT])
    extra = int(levels[ROWS_AT])
    for i in range(n):
        x[i] = 0.0
        for j in range(n):
            Z[i, j] = 0.0
        Z[i, i] = 1.0
    for j in range(n + extra):
        bounds[KEPT_LOWER, j] = lower[j]
        bounds[KEPT_UPPER, j] = upper[j]
    for j in range(count * (n + extra)):
        active[j] = 0.0
    info[STATUS] = 0.0
    info[TURNS] = 0.0
    turns = 0.0
    partly = 0
    start = 0
    free = n
    for level in range(count):
        rows = int(levels[level + SIZES_AT])
        size = 0.0
        for i in range(rows):
            size += dot(J[start + i], J[start + i], n)
            T[ERROR, i] = e[start + i] - dot(J[start + i], x, n)
            in_basis(B[i], J[start + i], Z, free, n)
        start += rows
        rank = triangular(B, T[ERROR], Z, n - free, rows, free, RANK * sqrt(size), T[REFLECTOR], T[SUM], n)
        hard = level == 0 and levels[HARD_AT] != 0.0
        info[LEVEL] = float(level)
        if hard:
            if not met(B, T[ERROR], T[STEP], rows, rank):
                info[STATUS] = float(INFEASIBLE)
                return
        elif not least_squares(B, T[ERROR], T[STEP], G, U, rows, rank, damping[level]):
            info[STATUS] = float(NOT_FINITE)
            return
        for j in range(n):
            T[THERE, j] = x[j]
        for i in range(rank):
            subtract(T[THERE], -T[STEP, i], Z[n - free + i], n)
        held = 0
        k = 0
        if not hard and outside(T[THERE], D, bounds, since, level, n, extra):
            soft = beginning(since, level, extra)
            k = free + soft
            held = free
            at = level * (n + extra)
            restrict(x, D, since, guess[at:], C, Z, bounds, level, soft, free, n, extra)
            normal(B, T[ERROR], T[STEP], G, rows, rank, k, damping[level])
            for i in range(free, k):
                G[i, i] = 1.0
            minimise(
                G, T[STEP], C, bounds[LOWER_ROW], bounds[UPPER_ROW], bounds[GUESS_ROW], levels[LIMIT_AT:], T[SUM],
                bounds[MULTIPLIER_ROW], bounds[ACTIVE_ROW], info, U, Q, K, S, Y, k, n + extra,
            )  # fmt: skip
            turns += info[TURNS]
            info[LEVEL] = float(level)
            for i in range(n):
                T[REFLECTOR, i] = x[i]
            for i in range(free):
                subtract(T[REFLECTOR], -T[SUM, i], Z[n - free + i], n)
            if info[STATUS] == SOLVED and kept(T[REFLECTOR], D, since, bounds, level, n, extra):
                for j in range(n + extra):
                    active[at + j] = bounds[ACTIVE_ROW, k + j]
                for j in range(n):
                    T[THERE, j] = T[REFLECTOR, j]
            elif kept(x, D, since, bounds, level, n, extra):
                part = partway(x, T[THERE], D, since, bounds, level, n, extra)
                for j in range(n):
                    T[THERE, j] = x[j] + part * (T[THERE, j] - x[j])
                partly += 1
                k = held
            else:
                if info[STATUS] == SOLVED:
                    info[STATUS] = float(ENDLESS)
                for j in range(n + extra):
                    active[at + j] = bounds[MULTIPLIER_ROW, k + j]
                return
        for j in range(n):
            x[j] = T[THERE, j]
        relax(x, D, since, bounds, level, n, extra)
        free -= rank
        if k > held:
            weak = 10.0 * damping[level] * sqrt(dot(T[SUM], T[SUM], held))
            many = broken(D, since, B, Z, bounds, k, level, free, weak, n, extra)
            free -= triangular(B, T[ERROR], Z, n - free, many, free, RANK, T[REFLECTOR], T[SUM], n)
    info[STATUS] = float(SOLVED)
    info[TURNS] = turns
    info[PARTLY] = float(partly)
    size = 0.0
    for i in range(n):
        size += abs(x[i])
    if not size < FINITE:
        info[STATUS] = float(NOT_FINITE)
