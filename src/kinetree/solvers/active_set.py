"""A dense quadratic program by a dual active-set method, in loops for `compiler.loops`.

    minimise ½ xᵀ H x + gᵀ x   with   lower ≤ (x, C x) ≤ upper

From the free minimum, bounds that are violated become *active*, one at a time, and those that pull the wrong way are
let go (Goldfarb and Idnani 1983). With H = Uᵀ U, rows v = U⁻ᵀ c of active rows c are kept as V = K Q, with a triangular
K and orthonormal rows of Q, whatever the order of magnitude of H. A guess of what is active saves the way there;
nothing else is carried from one problem to the next. A singular H is solved by proximal
steps, each of them a problem with H + ε 1.
"""

from __future__ import annotations

from math import sqrt

from kinetree.compiler import Matrix, Vector
from kinetree.linalg import RANK_TOLERANCE
from kinetree.solvers.dense import (
    along,
    dot,
    factor,
    solve_lower,
    solve_lower_transposed,
    solve_transposed,
    solve_upper,
    take_away,
)

SOLVED, INFEASIBLE, NOT_CONVEX, ENDLESS, UNBOUNDED, NOT_FINITE, REDUNDANT = 0, 1, 2, 3, 4, 5, 6
"""Statuses; REDUNDANT if shared equations depend on each other, and are to be made `independent` first."""

LOWER, FREE, UPPER, EQUAL, SKIPPED = -1.0, 0.0, 1.0, 2.0, 3.0
"""States of a row: at its lower bound, between, at its upper, an equation, an equation that follows from others."""

RHS, PARTLY, MULTIPLIER, GOAL, NEW, ROW, RECIPROCAL, DIRECTION = 0, 1, 2, 3, 4, 5, 6, 7
"""Rows of `S`, with an entry for each active row: b - v y₀, K⁻¹ of that, λ, where λ is going, the new row of K, which
row of the problem it is, 1 / K's diagonal, a direction in which λ may grow without end."""
SET_ROWS = 8
START, VECTOR, STEP, BEFORE = 0, 1, 2, 3
"""Rows of `Z`, with an entry for each variable: y₀ = -U⁻ᵀ g, the new v, what is left of it, x of the last proximal
step."""
POINT_ROWS = 4

DEPENDENT = RANK_TOLERANCE * RANK_TOLERANCE
"""Squared sine of the angle to the others below which a row counts as dependent on them."""
DOUBTFUL = RANK_TOLERANCE
"""Squared sine below which a row may depend on the others, if H is far from a multiple of 1."""
PROXIMAL = 1e-7
"""ε of proximal steps, relative to the largest diagonal entry of H."""
MOST_PROXIMAL = 50
FLAT = 1e-9
"""The gradient in directions without an end, relative to that at x = 0, which counts as rounding."""
TOLERANCE = 1e-9
"""Tolerance of bounds, relative to 1 + |bound|, before the last correction."""
CONSISTENT = 1e-8
"""Largest residual of an equation that follows from others, relative to |row| + |bound|."""
ROUNDING = 1e-13
"""Residual of active equations that counts as rounding, relative to 1 + |bound|."""
NEAR = 1e-5
"""A violation that small is looked at again once x is as exact as it can be."""
FINITE = 1e300
STATUS, ITERATIONS, COUNT = 0, 1, 2
"""Entries of `info`: how it ended, changes of the active set, how many rows are active."""


def bound(at: float, row: int, lower: Vector, upper: Vector) -> float:
    """The bound at which a row is active."""
    if at == LOWER:
        return lower[row]
    return upper[row]


def value(x: Vector, C: Matrix, row: int, n: int) -> float:
    """The value of a row at x: an entry of x, or of C x."""
    if row < n:
        return x[row]
    return dot(C[row - n], x, n)


def size_of(C: Matrix, row: int, n: int) -> float:
    """The size of a row: 1 for an entry of x and for a row of zeros, else the length of a row of C."""
    size = 1.0
    if row >= n:
        size = sqrt(dot(C[row - n], C[row - n], n))
    if size == 0.0:
        size = 1.0
    return size


def extend(
    row: int, C: Matrix, right: float, U: Matrix, Q: Matrix, K: Matrix, S: Matrix, Z: Matrix, k: int, n: int
) -> bool:
    """Add a row as the k-th: v, its row of K, and what follows; false if it depends on the others."""
    first = 0
    if row < n:
        first = row
        for i in range(n):
            Z[VECTOR, i] = 0.0
        Z[VECTOR, row] = 1.0
    else:
        for i in range(n):
            Z[VECTOR, i] = C[row - n, i]
    solve_transposed(Z[VECTOR], U, first, n)
    S[ROW, k] = float(row)
    S[RHS, k] = right - dot(Z[VECTOR], Z[START], n)
    return connect(Q, K, S, Z, k, n)


def connect(Q: Matrix, K: Matrix, S: Matrix, Z: Matrix, k: int, n: int) -> bool:
    """The k-th rows of K and Q from v; false if that depends on those before.

    What v has along the rows of Q is taken away, and again where little is left: once would leave errors of the size of
    what was taken away.
    """
    square = dot(Z[VECTOR], Z[VECTOR], n)
    for i in range(n):
        Q[k, i] = Z[VECTOR, i]
    along(K[k], Q, Z[VECTOR], k, n)
    take_away(Q[k], K[k], Q, k, n)
    left = dot(Q[k], Q[k], n)
    if left < 0.01 * square:
        for i in range(n):
            Z[STEP, i] = Q[k, i]
        along(S[GOAL], Q, Z[STEP], k, n)
        take_away(Q[k], S[GOAL], Q, k, n)
        for i in range(k):
            K[k, i] = K[k, i] + S[GOAL, i]
        left = dot(Q[k], Q[k], n)
    if not left > DEPENDENT * square:
        return False
    K[k, k] = sqrt(left)
    inverse = 1.0 / K[k, k]
    S[RECIPROCAL, k] = inverse
    for i in range(n):
        Q[k, i] = Q[k, i] * inverse
    S[PARTLY, k] = (S[RHS, k] - dot(K[k], S[PARTLY], k)) * inverse
    return True


def shorten(p: int, Q: Matrix, K: Matrix, S: Matrix, k: int, n: int) -> None:
    """Take out the p-th of k rows: what follows moves up, and rotations make K triangular again."""
    for i in range(p, k - 1):
        for j in range(i + 2):
            K[i, j] = K[i + 1, j]
        S[ROW, i] = S[ROW, i + 1]
        S[RHS, i] = S[RHS, i + 1]
        S[MULTIPLIER, i] = S[MULTIPLIER, i + 1]
    for j in range(p, k - 1):
        length = sqrt(K[j, j] * K[j, j] + K[j, j + 1] * K[j, j + 1])
        c = K[j, j] / length
        s = K[j, j + 1] / length
        K[j, j] = length
        S[RECIPROCAL, j] = 1.0 / length
        for i in range(j + 1, k - 1):
            a = K[i, j]
            K[i, j] = c * a + s * K[i, j + 1]
            K[i, j + 1] = c * K[i, j + 1] - s * a
        rotate(Q[j], Q[j + 1], c, s, n)
        rotate(S[PARTLY, j:], S[PARTLY, j + 1 :], c, s, 1)


def rotate(x: Vector, y: Vector, c: float, s: float, n: int) -> None:
    """c x + s y in x, c y - s x in y."""
    for i in range(n):
        a = x[i]
        x[i] = c * a + s * y[i]
        y[i] = c * y[i] - s * a


def restart(
    k: int, Q: Matrix, K: Matrix, S: Matrix, Z: Matrix, active: Vector, lower: Vector, upper: Vector, n: int
) -> None:
    """Recompute what depends on y₀: V y₀ = K Q y₀."""
    along(S[GOAL], Q, Z[START], k, n)
    for i in range(k):
        row = int(S[ROW, i])
        S[RHS, i] = bound(active[row], row, lower, upper) - dot(K[i], S[GOAL], i + 1)
        S[PARTLY, i] = S[RHS, i]
    solve_lower(S[PARTLY], K, S[RECIPROCAL], 0, k)


def point(x: Vector, k: int, U: Matrix, Q: Matrix, S: Matrix, Z: Matrix, n: int) -> None:
    """x = U⁻¹ (y₀ + Qᵀ K⁻¹ (b - V y₀)): where all active rows are at their bounds."""
    for i in range(n):
        x[i] = Z[START, i]
    for i in range(k):
        S[NEW, i] = -S[PARTLY, i]
    take_away(x, S[NEW], Q, k, n)
    solve_upper(x, U, n)


def refine(
    x: Vector, k: int, C: Matrix, U: Matrix, Q: Matrix, K: Matrix, S: Matrix, Z: Matrix, active: Vector,
    lower: Vector, upper: Vector, n: int,
) -> float:  # fmt: skip
    """Correct x by what is left of the active equations there: the largest that there was."""
    most = 0.0
    for i in range(k):
        row = int(S[ROW, i])
        right = bound(active[row], row, lower, upper)
        S[GOAL, i] = right - value(x, C, row, n)
        if abs(S[GOAL, i]) > most * (1.0 + abs(right)):
            most = abs(S[GOAL, i]) / (1.0 + abs(right))
    if most > ROUNDING:
        solve_lower(S[GOAL], K, S[RECIPROCAL], 0, k)
        for i in range(n):
            Z[STEP, i] = 0.0
        take_away(Z[STEP], S[GOAL], Q, k, n)
        solve_upper(Z[STEP], U, n)
        for i in range(n):
            x[i] = x[i] - Z[STEP, i]
        for i in range(k):
            S[PARTLY, i] = S[PARTLY, i] + S[GOAL, i]
    return most


def correct(
    x: Vector, k: int, C: Matrix, U: Matrix, Q: Matrix, K: Matrix, S: Matrix, Z: Matrix, active: Vector,
    lower: Vector, upper: Vector, n: int,
) -> None:  # fmt: skip
    """Correct x as long as that helps."""
    last = FINITE
    left = refine(x, k, C, U, Q, K, S, Z, active, lower, upper, n)
    while left > ROUNDING and left < 0.5 * last:
        last = left
        left = refine(x, k, C, U, Q, K, S, Z, active, lower, upper, n)


def contradicted(
    x: Vector, k: int, C: Matrix, U: Matrix, Q: Matrix, K: Matrix, S: Matrix, Z: Matrix, active: Vector, lower: Vector,
    n: int, m: int,
) -> bool:  # fmt: skip
    """Whether an equation that depends on others does not follow from them; the factors are then in DIRECTION."""
    for row in range(n + m):
        if active[row] == SKIPPED:
            left = lower[row] - value(x, C, row, n)
            if not abs(left) <= CONSISTENT * (size_of(C, row, n) + abs(lower[row])):
                against(row, k, C, U, Q, K, S, Z, n)
                return True
    return False


def against(row: int, k: int, C: Matrix, U: Matrix, Q: Matrix, K: Matrix, S: Matrix, Z: Matrix, n: int) -> None:
    """The factors, in DIRECTION, with which active rows make up a row that depends on them; its own is -1."""
    if not extend(row, C, 0.0, U, Q, K, S, Z, k, n):
        for i in range(k):
            S[DIRECTION, i] = K[k, i]
        solve_lower_transposed(S[DIRECTION], K, S[RECIPROCAL], k)
    S[DIRECTION, k] = -1.0


def hold(
    row: int, C: Matrix, U: Matrix, Q: Matrix, K: Matrix, S: Matrix, Z: Matrix, active: Vector,
    lower: Vector, upper: Vector, k: int, n: int,
) -> int:  # fmt: skip
    """Make a row active before the first step if it is independent of the others: how many there are then."""
    if extend(row, C, bound(active[row], row, lower, upper), U, Q, K, S, Z, k, n):
        S[MULTIPLIER, k] = 0.0
        return k + 1
    active[row] = SKIPPED if active[row] == EQUAL else FREE
    return k


def blocking(S: Matrix, active: Vector, k: int, info: Vector) -> int:
    """The first multiplier to reach zero on the way from λ to its goal, -1 for none; how far, in info[3]."""
    size = 0.0
    for i in range(k):
        size += abs(S[GOAL, i])
    first = -1
    nearest = 1.0
    farthest = 0.0
    for i in range(k):
        at = active[int(S[ROW, i])]
        goal = S[GOAL, i] * at  # of an inequality it must not be positive
        if at != EQUAL and goal > 1e-13 * size:
            t = S[MULTIPLIER, i] / (S[MULTIPLIER, i] - S[GOAL, i])
            if t < nearest or (t == nearest and goal > farthest):
                first = i
                nearest = t
                farthest = goal
    info[3] = nearest
    return first


def yielding(S: Matrix, active: Vector, side: float, k: int, info: Vector) -> int:
    """The first multiplier to reach zero along the direction in which a dependent row may grow without end."""
    size = 0.0
    for i in range(k):
        size += abs(S[DIRECTION, i])
    first = -1
    nearest = 0.0
    for i in range(k):
        at = active[int(S[ROW, i])]
        rate = S[DIRECTION, i] * side * at  # λ is not positive at an upper bound, nor negative at a lower one
        if at != EQUAL and rate > 1e-12 * size:
            t = abs(S[MULTIPLIER, i]) / rate
            if first < 0 or t < nearest:
                first = i
                nearest = t
    info[3] = nearest
    return first


def violated(x: Vector, C: Matrix, active: Vector, lower: Vector, upper: Vector, n: int, m: int, info: Vector) -> int:
    """The free row that is farthest beyond a bound, -1 for none, -2 if that cannot be said; how far, in info[3],
    negative below the lower bound."""
    worst = -1
    most = 0.0
    for row in range(n + m):
        if active[row] == FREE:
            there = value(x, C, row, n)
            if not abs(there) < FINITE:
                return -2
            below = lower[row] - there
            above = there - upper[row]
            if below > most and below > TOLERANCE * (1.0 + abs(lower[row])):
                worst = row
                most = below
                info[3] = -below
            if above > most and above > TOLERANCE * (1.0 + abs(upper[row])):
                worst = row
                most = above
                info[3] = above
    return worst


def improve(
    x: Vector, C: Matrix, lower: Vector, upper: Vector, active: Vector, info: Vector, U: Matrix, Q: Matrix, K: Matrix,
    S: Matrix, Z: Matrix, limit: int, n: int, m: int,
) -> int:  # fmt: skip
    """Change the active set until x is the solution for the y₀ at hand, at most `limit` times."""
    k = int(info[COUNT])
    while info[ITERATIONS] < limit:
        for i in range(k):
            S[GOAL, i] = S[PARTLY, i]
        solve_lower_transposed(S[GOAL], K, S[RECIPROCAL], k)
        first = blocking(S, active, k, info)
        if first >= 0:
            for i in range(k):
                S[MULTIPLIER, i] = S[MULTIPLIER, i] + info[3] * (S[GOAL, i] - S[MULTIPLIER, i])
            active[int(S[ROW, first])] = FREE
            shorten(first, Q, K, S, k, n)
            k -= 1
            info[ITERATIONS] = info[ITERATIONS] + 1.0
            continue
        for i in range(k):
            S[MULTIPLIER, i] = S[GOAL, i]
        point(x, k, U, Q, S, Z, n)
        row = violated(x, C, active, lower, upper, n, m, info)
        if row == -1 or (row >= 0 and abs(info[3]) < NEAR):  # it may be rounding
            correct(x, k, C, U, Q, K, S, Z, active, lower, upper, n)
            if row >= 0:
                row = violated(x, C, active, lower, upper, n, m, info)
        info[COUNT] = float(k)
        if row == -2:
            return NOT_FINITE
        if row == -1:
            if contradicted(x, k, C, U, Q, K, S, Z, active, lower, n, m):
                info[COUNT] = float(k + 1)
                return INFEASIBLE
            for i in range(k):
                S[MULTIPLIER, i] = S[PARTLY, i]
            solve_lower_transposed(S[MULTIPLIER], K, S[RECIPROCAL], k)
            return SOLVED
        info[ITERATIONS] = info[ITERATIONS] + 1.0
        side = UPPER if info[3] > 0.0 else LOWER
        active[row] = side
        right = bound(side, row, lower, upper)
        independent = extend(row, C, right, U, Q, K, S, Z, k, n)
        S[MULTIPLIER, k] = 0.0
        while not independent:
            for i in range(k):
                S[DIRECTION, i] = K[k, i]
            solve_lower_transposed(S[DIRECTION], K, S[RECIPROCAL], k)
            first = yielding(S, active, side, k, info)
            if first < 0:
                info[COUNT] = float(k + 1)
                S[DIRECTION, k] = -1.0
                return INFEASIBLE
            for i in range(k):
                S[MULTIPLIER, i] = S[MULTIPLIER, i] + info[3] * side * S[DIRECTION, i]
            S[MULTIPLIER, k] = S[MULTIPLIER, k] - info[3] * side
            active[int(S[ROW, first])] = FREE
            shorten(first, Q, K, S, k, n)
            S[ROW, k - 1] = S[ROW, k]
            S[RHS, k - 1] = S[RHS, k]
            S[MULTIPLIER, k - 1] = S[MULTIPLIER, k]
            k -= 1
            info[ITERATIONS] = info[ITERATIONS] + 1.0
            independent = connect(Q, K, S, Z, k, n)
        k += 1
    return ENDLESS


def begin(g: Vector, shift: float, first: int, last: int, U: Matrix, Z: Matrix, n: int) -> None:
    """y₀ = -U⁻ᵀ (g - ε x) for x of the last proximal step, of the variables from `first` to before `last`."""
    for i in range(n):
        Z[START, i] = -g[i]
    for i in range(first, last):
        Z[START, i] = shift * Z[BEFORE, i] - g[i]
    solve_transposed(Z[START], U, 0, n)


def equations(
    C: Matrix, U: Matrix, Q: Matrix, K: Matrix, S: Matrix, Z: Matrix, active: Vector, multipliers: Vector,
    lower: Vector, upper: Vector, shared: int, n: int, m: int,
) -> int:  # fmt: skip
    """Make all equations active: how many there are, -1 if bounds contradict each other; `multipliers` then say
    which. -2 if the first `shared` rows of C may depend on each other."""
    k = 0
    for row in range(n + m):
        if not lower[row] <= upper[row]:
            multipliers[row] = 1.0
            return -1
        if lower[row] == upper[row]:
            active[row] = EQUAL
            k = hold(row, C, U, Q, K, S, Z, active, lower, upper, k, n)
            if row >= n and row < n + shared:
                if active[row] == SKIPPED:
                    return -2
                if not K[k - 1, k - 1] * K[k - 1, k - 1] > DOUBTFUL * dot(Z[VECTOR], Z[VECTOR], n):
                    return -2
    return k


def report(
    x: Vector, multipliers: Vector, active: Vector, info: Vector, S: Matrix, status: int, n: int, m: int
) -> None:
    """Results, once the active set is found or cannot be."""
    size = 0.0
    for i in range(n):
        size += abs(x[i])
    if status == SOLVED and not size < FINITE:
        info[STATUS] = float(NOT_FINITE)
    else:
        info[STATUS] = float(status)
    for i in range(int(info[COUNT])):
        if status == INFEASIBLE:
            multipliers[int(S[ROW, i])] = S[DIRECTION, i]
        elif active[int(S[ROW, i])] * S[MULTIPLIER, i] < 0.0 or active[int(S[ROW, i])] == EQUAL:
            multipliers[int(S[ROW, i])] = -S[MULTIPLIER, i]  # else it is rounding, of the wrong sign
    for row in range(n + m):
        if active[row] == SKIPPED:
            active[row] = EQUAL


def settled(x: Vector, Z: Matrix, n: int) -> bool:
    """Whether the last proximal step changed next to nothing."""
    change = 0.0
    size = 1.0
    for i in range(n):
        change += abs(x[i] - Z[BEFORE, i])
        size += abs(x[i])
    return change <= 1e-8 * size


def still(x: Vector, g: Vector, shift: float, first: int, last: int, Z: Matrix, n: int) -> bool:
    """Whether the gradient left after a proximal step, ε times its change, is next to nothing beside g: steps then go
    on in a direction in which the program is flat but for rounding."""
    change = 0.0
    size = 0.0
    for i in range(n):
        size += abs(g[i])
    for i in range(first, last):
        change += abs(x[i] - Z[BEFORE, i])
    return shift * change <= FLAT * size


def minimise(
    H: Matrix, g: Vector, C: Matrix, lower: Vector, upper: Vector, guess: Vector, limit: Vector, x: Vector,
    multipliers: Vector, active: Vector, info: Vector, U: Matrix, Q: Matrix, K: Matrix, S: Matrix, Z: Matrix, n: int,
    m: int,
) -> None:  # fmt: skip
    """Solve the program: x; its multipliers z with H x + g + (1, C)ᵀ z = 0, positive at upper bounds; what is active.
    Where there is no solution, z are the factors with which active rows contradict each other. limit[0] is how many
    times the active set may change; 0 leaves that to the size of the program."""
    search(H, g, C, lower, upper, guess, int(limit[0]), x, multipliers, active, info, U, Q, K, S, Z, 0, n, m)


def search(
    H: Matrix, g: Vector, C: Matrix, lower: Vector, upper: Vector, guess: Vector, limit: int, x: Vector,
    multipliers: Vector, active: Vector, info: Vector, U: Matrix, Q: Matrix, K: Matrix, S: Matrix, Z: Matrix,
    shared: int, n: int, m: int,
) -> None:  # fmt: skip
    """Solve the program as `minimise` does; it ends as REDUNDANT if the first `shared` rows of C depend on each
    other."""
    clear(x, multipliers, active, info, Z, n, m)
    size = 0.0
    for i in range(n):
        size += abs(H[i, i])
    if size == 0.0:
        size = 1.0
    shift = 0.0
    if not factor(U, H, 0.0, 1e-14 * size, n):
        shift = PROXIMAL * size
        if not factor(U, H, shift, 0.0, n):
            info[STATUS] = float(NOT_CONVEX)
            return
    search_factored(
        g, C, lower, upper, guess, limit, x, multipliers, active, info, U, Q, K, S, Z, shift, 0, n, shared, n, m
    )


def clear(x: Vector, multipliers: Vector, active: Vector, info: Vector, Z: Matrix, n: int, m: int) -> None:
    """Results before anything is known."""
    info[ITERATIONS] = 0.0
    info[COUNT] = 0.0
    for i in range(n):
        Z[BEFORE, i] = 0.0
        x[i] = 0.0
    for i in range(n + m):
        multipliers[i] = 0.0
        active[i] = FREE


def search_factored(
    g: Vector, C: Matrix, lower: Vector, upper: Vector, guess: Vector, limit: int, x: Vector, multipliers: Vector,
    active: Vector, info: Vector, U: Matrix, Q: Matrix, K: Matrix, S: Matrix, Z: Matrix, shift: float, first: int,
    last: int, shared: int, n: int, m: int,
) -> None:  # fmt: skip
    """Solve the program for a cleared result and H = Uᵀ U, the diagonal of U being reciprocals; if `shift` is not zero,
    that is H with ε added for the variables from `first` to before `last`, which proximal steps take out again."""
    most = limit
    if most <= 0:
        most = 20 * (n + m) + 100
    begin(g, shift, first, last, U, Z, n)
    k = equations(C, U, Q, K, S, Z, active, multipliers, lower, upper, shared, n, m)
    if k < 0:
        info[STATUS] = float(INFEASIBLE) if k == -1 else float(REDUNDANT)
        return
    for row in range(n + m):
        near = (guess[row] == LOWER and lower[row] > -FINITE) or (guess[row] == UPPER and upper[row] < FINITE)
        if near and active[row] == FREE and k < n:
            active[row] = guess[row]
            k = hold(row, C, U, Q, K, S, Z, active, lower, upper, k, n)
    info[COUNT] = float(k)
    status = improve(x, C, lower, upper, active, info, U, Q, K, S, Z, most, n, m)
    steps = 0
    while shift > 0.0 and status == SOLVED and not settled(x, Z, n):
        steps += 1
        if steps > MOST_PROXIMAL:
            if not still(x, g, shift, first, last, Z, n):
                status = UNBOUNDED
            break
        for i in range(n):
            Z[BEFORE, i] = x[i]
        begin(g, shift, first, last, U, Z, n)
        restart(int(info[COUNT]), Q, K, S, Z, active, lower, upper, n)
        status = improve(x, C, lower, upper, active, info, U, Q, K, S, Z, most, n, m)
    report(x, multipliers, active, info, S, status, n, m)
