"""Bounds of levels in strict order, in loops for `compiler.loops`: which count at a level, and what is left of them.

Rows of D count from the level `since` on. A row that begins at level 0 or later is soft there: it is kept as well as
the level's tasks, its violation being squared and added to theirs. What is violated then stays violated by as much, and
what is kept stays kept, at all levels that follow.

A bound that a level's tasks press against is held by them: whatever later levels do, that row stays where it is, since
with J d = 0 the multipliers μ of such rows have Σ μ (D d) = 0, in which no term can have another sign than the others.
For later levels such rows almost depend on each other. A level whose program cannot be solved for that goes `partway`:
as far as bounds allow on the straight way to what it would do without them.
"""

from __future__ import annotations

from math import sqrt

from kinetree.compiler import Matrix, Vector
from kinetree.solvers.active_set import FINITE, value
from kinetree.solvers.dense import along, dot

LOWER_ROW, UPPER_ROW, GUESS_ROW, MULTIPLIER_ROW, ACTIVE_ROW, KEPT_LOWER, KEPT_UPPER = 0, 1, 2, 3, 4, 5, 6
"""Rows of `bounds`: those of a level's quadratic program, a guess of what is active, what it gives; and bounds of
(x, D x) as earlier levels leave them."""
BOUND_ROWS = 7
FIXED = 1e-18
"""Squared, the part of a row that must be left free by earlier levels for it to change."""
BROKEN = 1e-9
"""Violation of a soft row from which on it counts as violated."""
KEPT = 1e-6
"""Largest violation of a bound that earlier levels kept, relative to 1 + |bound|."""


def beyond(there: float, lower: float, upper: float, tolerance: float) -> bool:
    """Whether a value is outside its bounds by more than rounding."""
    return there < lower - tolerance * (1.0 + abs(lower)) or there > upper + tolerance * (1.0 + abs(upper))


def counts(row: int, since: Vector, level: int, n: int) -> bool:
    """Whether a row of (x, D x) counts at this level."""
    return row < n or since[row - n] <= level


def outside(x: Vector, D: Matrix, bounds: Matrix, since: Vector, level: int, n: int, rows: int) -> bool:
    """Whether a bound of (x, D x) is violated, of those that count at this level."""
    for row in range(n + rows):
        if counts(row, since, level, n) and beyond(
            value(x, D, row, n), bounds[KEPT_LOWER, row], bounds[KEPT_UPPER, row], 1e-12
        ):
            return True
    return False


def beginning(since: Vector, level: int, rows: int) -> int:
    """The number of rows that begin at this level, and are soft."""
    count = 0
    for row in range(rows):
        if since[row] == level:
            count += 1
    return count


def restrict(
    x: Vector, D: Matrix, since: Vector, guess: Vector, C: Matrix, Z: Matrix, bounds: Matrix, level: int, soft: int,
    free: int, n: int, rows: int,
) -> None:  # fmt: skip
    """Bounds of (x, D x) in the coordinates of the basis, and behind them of how far soft rows go beyond theirs:
    rows C, and what is left to go."""
    k = free + soft
    for i in range(k):
        bounds[LOWER_ROW, i] = -2.0 * FINITE
        bounds[UPPER_ROW, i] = 2.0 * FINITE
        bounds[GUESS_ROW, i] = 0.0
    s = free
    for j in range(n + rows):
        there = value(x, D, j, n)
        bounds[LOWER_ROW, k + j] = bounds[KEPT_LOWER, j] - there
        bounds[UPPER_ROW, k + j] = bounds[KEPT_UPPER, j] - there
        bounds[GUESS_ROW, k + j] = guess[j]
        for i in range(free, k):
            C[j, i] = 0.0
        size = 1.0
        is_fixed = False
        if j < n:
            for i in range(free):
                C[j, i] = Z[n - free + i, j]
        else:
            along(C[j], Z[n - free :], D[j - n], free, n)
            size = dot(D[j - n], D[j - n], n)
        if dot(C[j], C[j], free) <= FIXED * size:  # earlier levels have fixed it, but for rounding
            for i in range(free):
                C[j, i] = 0.0
            is_fixed = not beyond(there, bounds[KEPT_LOWER, j], bounds[KEPT_UPPER, j], KEPT)
        if is_fixed or not counts(j, since, level, n):
            bounds[LOWER_ROW, k + j] = -2.0 * FINITE
            bounds[UPPER_ROW, k + j] = 2.0 * FINITE
            bounds[GUESS_ROW, k + j] = 0.0
        if j >= n and since[j - n] == level:
            C[j, s] = 1.0
            s += 1


def relax(x: Vector, D: Matrix, since: Vector, bounds: Matrix, level: int, n: int, rows: int) -> None:
    """Bounds of soft rows of this level that x violates move to where it is."""
    for row in range(rows):
        if since[row] == level:
            there = dot(D[row], x, n)
            if beyond(there, bounds[KEPT_LOWER, n + row], 2.0 * FINITE, 0.0):
                bounds[KEPT_LOWER, n + row] = there
            if beyond(there, -2.0 * FINITE, bounds[KEPT_UPPER, n + row], 0.0):
                bounds[KEPT_UPPER, n + row] = there


def broken(
    D: Matrix, since: Vector, B: Matrix, Z: Matrix, bounds: Matrix, k: int, level: int, free: int, weak: float, n: int,
    rows: int,
) -> int:  # fmt: skip
    """Soft rows of this level that are violated, and by more than its damping alone would, in `weak`: of length one, in
    what is left of the basis, in B; how many."""
    count = 0
    for row in range(rows):
        if (
            since[row] == level
            and bounds[ACTIVE_ROW, k + n + row] != 0.0
            and abs(bounds[MULTIPLIER_ROW, k + n + row]) > BROKEN + weak
        ):
            along(B[count], Z[n - free :], D[row], free, n)
            size = 1.0 / sqrt(dot(D[row], D[row], n))
            for i in range(free):
                B[count, i] = B[count, i] * size
            count += 1
    return count


def kept(x: Vector, D: Matrix, since: Vector, bounds: Matrix, level: int, n: int, rows: int) -> bool:
    """Whether x keeps all bounds that are not soft at this level."""
    for row in range(n + rows):
        if counts(row, since, level - 1, n) and beyond(
            value(x, D, row, n), bounds[KEPT_LOWER, row], bounds[KEPT_UPPER, row], KEPT
        ):
            return False
    return True


def partway(x: Vector, there: Vector, D: Matrix, since: Vector, bounds: Matrix, level: int, n: int, rows: int) -> float:
    """The part of the way from x, which keeps all bounds, to `there` that keeps them, from 0 to 1."""
    farthest = 1.0
    for row in range(n + rows):
        if counts(row, since, level - 1, n):
            start = value(x, D, row, n)
            end = value(there, D, row, n)
            room = 0.0
            if end > bounds[KEPT_UPPER, row]:
                room = bounds[KEPT_UPPER, row] - start
            elif end < bounds[KEPT_LOWER, row]:
                room = start - bounds[KEPT_LOWER, row]
            else:
                continue
            way = abs(end - start)
            if room < farthest * way:
                farthest = room / way if room > 0.0 else 0.0
    return farthest
