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

from kinetree.compiler import Matrix, Vector
from kinetree.solvers.active_set import (
    ENDLESS,
    FINITE,
    INFEASIBLE,
    ITERATIONS,
    NOT_FINITE,
    PROXIMAL,
    SOLVED,
    STATUS,
    clear,
    search,
    search_factored,
)
from kinetree.solvers.dense import along, dot, subtract
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
    kept,
    outside,
    partway,
    relax,
    restrict,
)
from kinetree.solvers.orthogonal import (
    RANK,
    independent,
    is_damped,
    least_squares,
    normal,
    root,
    triangular,
    unit,
    upper_triangular,
)

REFLECTOR, SUM, STEP, ERROR, THERE = 0, 1, 2, 3, 4
"""Rows of `T`: vectors to work with, the step in the coordinates of Z, what is left of e, and where the step leads."""
COUNT_AT, ROWS_AT, LIMIT_AT, HARD_AT, SHARED_AT, SIZES_AT = 0, 1, 2, 3, 4, 5
"""Entries of `levels`."""
LEVEL, PARTLY = 3, 2
"""Entries of `info`: the last level that was looked at, how many went only part of their way."""
LITTLE = 1e-14
"""λ² relative to the size of B squared below which variables without a task need proximal steps."""
UNMET = 1e-9
"""Largest residual of a hard level that counts as met, relative to 1 + Σ |e|."""


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


def shared_first(
    J: Matrix, e: Vector, Z: Matrix, B: Matrix, U: Matrix, T: Matrix, shared: int, rows: int, n: int
) -> int:
    """The first level again, whose first rows are only met as well as they allow each other: its rank."""
    for i in range(rows):
        T[ERROR, i] = e[i]
        for j in range(n):
            B[i, j] = J[i, j]
    independent(B, T[ERROR], Z, U, shared, T[STEP], T[REFLECTOR], T[SUM], n)
    unit(Z, n)
    size = 0.0
    for i in range(rows):
        size += dot(B[i], B[i], n)
    return triangular(B, T[ERROR], Z, 0, rows, n, RANK * sqrt(size), T[REFLECTOR], T[SUM], n)


def within(
    B: Matrix, T: Matrix, G: Matrix, C: Matrix, bounds: Matrix, info: Vector, U: Matrix, Q: Matrix, K: Matrix,
    S: Matrix, Y: Matrix, damping: float, limit: int, rows: int, rank: int, free: int, k: int, m: int,
) -> None:  # fmt: skip
    """A level within bounds, in SUM: ‖B y - e‖² + λ² ‖y‖² + ‖s‖² of k variables, `free` of which are y."""
    if is_damped(B, rank, damping):
        normal(B, T[ERROR], T[STEP], G, rows, rank, k, damping)
        for i in range(free, k):
            G[i, i] = 1.0
        search(
            G, T[STEP], C, bounds[LOWER_ROW], bounds[UPPER_ROW], bounds[GUESS_ROW], limit, T[SUM],
            bounds[MULTIPLIER_ROW], bounds[ACTIVE_ROW], info, U, Q, K, S, Y, 0, k, m,
        )  # fmt: skip
        return
    upper_triangular(B, T[ERROR], rows, rank, T[REFLECTOR], T[SUM])
    size = damping
    for i in range(rank):
        size += dot(B[i], B[i], rank)
        T[STEP, i] = 0.0
    for i in range(rank):
        subtract(T[STEP], T[ERROR, i], B[i], rank)
    root(B, T[ERROR], T[SUM], U, rank, damping, T[REFLECTOR])
    shift = 0.0
    if not damping > LITTLE * size:
        shift = PROXIMAL * size
    for i in range(rank, k):
        T[STEP, i] = 0.0
        for j in range(i):
            U[j, i] = 0.0
        U[i, i] = 1.0
        if i < free:
            U[i, i] = 1.0 / sqrt(damping + shift)
    clear(T[SUM], bounds[MULTIPLIER_ROW], bounds[ACTIVE_ROW], info, Y, k, m)
    search_factored(
        T[STEP], C, bounds[LOWER_ROW], bounds[UPPER_ROW], bounds[GUESS_ROW], limit, T[SUM], bounds[MULTIPLIER_ROW],
        bounds[ACTIVE_ROW], info, U, Q, K, S, Y, shift, rank, free, 0, k, m,
    )  # fmt: skip


def descend(
    levels: Vector, J: Matrix, e: Vector, damping: Vector, D: Matrix, since: Vector, lower: Vector, upper: Vector,
    guess: Vector, x: Vector, active: Vector, info: Vector, Z: Matrix, B: Matrix, G: Matrix, C: Matrix, T: Matrix,
    bounds: Matrix, U: Matrix, Q: Matrix, K: Matrix, S: Matrix, Y: Matrix, n: int, m: int,
) -> None:  # fmt: skip
    """x for `levels`: how many there are, the number of rows of D, how many times the active set of a level may change,
    whether the first level is hard, how many of its first rows may contradict each other and are then met in the sense
    of least squares, and how many rows of J and e belong to each level.

    λ² is damping[level]; bounds are those of (x, D x), rows of D counting from level `since` on. A hard level is met
    exactly, or there is no solution; it comes before all bounds, which the next one has to keep. `guess` and `active`
    have an entry for every bound at every level. Where there is no solution, info[3] is the level, and `active` there
    has the factors with which rows contradict each other."""
    count = int(levels[COUNT_AT])
    extra = int(levels[ROWS_AT])
    unit(Z, n)
    for i in range(n):
        x[i] = 0.0
    for j in range(n + extra):
        bounds[KEPT_LOWER, j] = lower[j]
        bounds[KEPT_UPPER, j] = upper[j]
    for j in range(count * (n + extra)):
        active[j] = 0.0
    info[STATUS] = 0.0
    info[ITERATIONS] = 0.0
    info[LEVEL] = 0.0
    for j in range(n + extra):
        if not (abs(lower[j]) >= 0.0 and abs(upper[j]) >= 0.0):
            info[STATUS] = float(NOT_FINITE)
            return
    turns = 0.0
    partly = 0
    start = 0
    free = n
    for level in range(count):
        rows = int(levels[level + SIZES_AT])
        size = 0.0
        wanted = 0.0
        for i in range(rows):
            size += dot(J[start + i], J[start + i], n)
            T[ERROR, i] = e[start + i] - dot(J[start + i], x, n)
            wanted += abs(e[start + i])
            along(B[i], Z[n - free :], J[start + i], free, n)
        start += rows
        if not (size < FINITE and wanted < FINITE):  # else it would pass for a level of rank zero
            info[LEVEL] = float(level)
            info[STATUS] = float(NOT_FINITE)
            return
        rank = triangular(B, T[ERROR], Z, n - free, rows, free, RANK * sqrt(size), T[REFLECTOR], T[SUM], n)
        hard = level == 0 and levels[HARD_AT] != 0.0
        info[LEVEL] = float(level)
        if hard:
            if rank < rows and levels[SHARED_AT] > 0.0:
                rank = shared_first(J, e, Z, B, U, T, int(levels[SHARED_AT]), rows, n)
            if not met(B, T[ERROR], T[STEP], rows, rank):
                info[STATUS] = float(INFEASIBLE)
                return
        elif not least_squares(B, T[ERROR], T[STEP], G, U, rows, rank, damping[level], T[REFLECTOR], T[SUM]):
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
            within(
                B, T, G, C, bounds, info, U, Q, K, S, Y, damping[level], int(levels[LIMIT_AT]), rows, rank, free, k,
                n + extra,
            )  # fmt: skip
            turns += info[ITERATIONS]
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
    info[ITERATIONS] = turns
    info[PARTLY] = float(partly)
    size = 0.0
    for i in range(n):
        size += abs(x[i])
    if not size < FINITE:
        info[STATUS] = float(NOT_FINITE)
