"""The least error that can be reached from a configuration: Newton's method within joint limits, always downhill.

Of f = ½ Σ ‖e‖² over all frames, gaps [m] and rotation vectors [rad] alike, the gradient is -Jᵀ e, and the Hessian
follows from differences of it: at a target out of reach e does not vanish, and the curvature that Gauss and Newton
leave out is most of it. Along directions of negative curvature the step leads down as well, so that saddles are left.
Coordinates that are at a limit, or nearly, and would go beyond take steps of their own (Bertsekas 1982), and what goes
beyond is cut off. Of eight step lengths the best is taken. It ends where no step leads lower: a local minimum.

All of it happens between evaluations of one kernel, f and its gradient at rows of configurations: for the Hessian one
row a coordinate, then one a step length. Written for `compiler.loops`.
"""

from __future__ import annotations

from math import sqrt

from kinetree.compiler import Matrix, Vector

# columns of the state
PHASE, TURN, VALUE, STALLED = 0, 1, 2, 3
STATE = 4
BEGIN, MEASURE, NEWTON, GRADIENT = 0.0, 1.0, 2.0, 3.0
"""Phases, by the rows evaluated last: nothing yet, differences, steps of Newton's, steps down the gradient."""
# columns of a coordinate
LOW, HIGH, PLACE, SLIDES, G, HELD, STEP, D = 0, 1, 2, 3, 4, 5, 6, 7
COORDINATE = 8
"""Its limits, where in q it is, whether it is a length; the gradient, whether it is held, its difference, its step."""

MOST_TURNS = 100.0
"""Steps of Newton's method; most that converge do so within fifteen."""
LENGTHS = 8
"""Steps that are tried, each half as long as the one before."""
DIFFERENCE = 1e-5
"""Step of finite differences of the gradient [rad or m]."""
FLAT = 1e-3
"""Part of the greatest curvature below which a direction counts as flat: it is followed if that makes f smaller by more
than `NOTICED` of it, so that joints that change nothing stay where they are."""
NOTICED = 1e-11
STRAIGHT = 1e-5
"""Part of the greatest curvature that is taken for that of directions with less."""
BENT = 1e-4
"""Part of the greatest curvature that is no rounding of differences: a negative one is that of a saddle."""
NEAR = 1e-3
"""Distance from a limit [rad or m] at which a coordinate may already be held by it."""
LONGEST = 1.0
"""The most that an angle changes in one step [rad]."""
AWAY = 0.1
"""The length of a step away from a saddle."""
WEAK = 1e-6
"""Part of ‖e‖ below which a gradient decides nothing: not on which side a saddle is left, nor that a limit holds."""
LITTLE = 1e-13
"""Part of f by which it must shrink, or the second such step is the last."""
SWEEPS = 30


def smaller(a: float, b: float) -> float:
    """The smaller of two."""
    return a if a < b else b


def larger(a: float, b: float) -> float:
    """The larger of two."""
    return a if a > b else b


def eigen(n: int, A: Matrix, V: Matrix) -> None:
    """Eigenvalues of a symmetric A, on its diagonal, and eigenvectors, the columns of V (Jacobi 1846)."""
    for i in range(n):
        for j in range(n):
            V[i, j] = 1.0 if i == j else 0.0
    for _ in range(SWEEPS):
        off = 0.0
        total = 0.0
        for i in range(n):
            total += A[i, i] * A[i, i]
            for j in range(i):
                off += A[i, j] * A[i, j]
        if not off > 1e-18 * total:
            break
        for p in range(n - 1):
            for r in range(p + 1, n):
                if A[p, r] != 0.0:
                    theta = (A[r, r] - A[p, p]) / (2.0 * A[p, r])
                    t = 1.0 / (abs(theta) + sqrt(theta * theta + 1.0))
                    if theta < 0.0:
                        t = -t
                    c = 1.0 / sqrt(t * t + 1.0)
                    s = t * c
                    for k in range(n):
                        a = A[k, p]
                        b = A[k, r]
                        A[k, p] = c * a - s * b
                        A[k, r] = s * a + c * b
                        a = V[k, p]
                        b = V[k, r]
                        V[k, p] = c * a - s * b
                        V[k, r] = s * a + c * b
                    for k in range(n):
                        a = A[p, k]
                        b = A[r, k]
                        A[p, k] = c * a - s * b
                        A[r, k] = s * a + c * b


def measure(nq: int, nv: int, q: Vector, C: Matrix, Q: Matrix, M: Matrix) -> None:
    """Rows at q, and a little away from it along every coordinate, to the side where there is room."""
    for row in range(nv + 1):
        for k in range(nq):
            Q[row, k] = q[k]
        for k in range(nv):
            M[row, k] = 0.0
    for k in range(nv):
        at = q[int(C[k, PLACE])]
        C[k, STEP] = -DIFFERENCE if at + DIFFERENCE > C[k, HIGH] else DIFFERENCE
        M[k + 1, k] = C[k, STEP]


def hold(nv: int, value: float, q: Vector, C: Matrix, gradients: Matrix) -> None:
    """The gradient, and which coordinates their limits hold, or will."""
    least = WEAK * sqrt(2.0 * value)
    for k in range(nv):
        g = gradients[0, k]
        C[k, G] = g
        low = C[k, LOW]
        high = C[k, HIGH]
        C[k, HELD] = 0.0
        if low > -1e300 or high < 1e300:
            at = q[int(C[k, PLACE])]
            near = smaller(NEAR, abs(at - larger(low, smaller(high, at - g))))
            is_held = (at <= low + near and g > least) or (at >= high - near and g < -least)
            if is_held or high - low <= DIFFERENCE:
                C[k, HELD] = 1.0


def leads_out(nv: int, i: int, step: float, q: Vector, C: Matrix, V: Matrix) -> bool:
    """Whether a step along an eigenvector leads a coordinate beyond the limit that it is at."""
    found = False
    for k in range(nv):
        move = step * V[k, i]
        at = q[int(C[k, PLACE])]
        if C[k, HELD] == 0.0 and abs(move) > NEAR * abs(step):
            found = found or (move < 0.0 and at <= C[k, LOW]) or (move > 0.0 and at >= C[k, HIGH])
    return found


def newton(nv: int, value: float, q: Vector, C: Matrix, gradients: Matrix, H: Matrix, V: Matrix) -> None:
    """The step, and curvatures on the diagonal of H."""
    for i in range(nv):
        for j in range(i + 1):
            a = (gradients[i + 1, j] - gradients[0, j]) / C[i, STEP]
            b = (gradients[j + 1, i] - gradients[0, i]) / C[j, STEP]
            curvature = 0.5 * (a + b)
            if i == j and C[i, HELD] > 0.0:
                curvature = larger(abs(curvature), abs(C[i, G]) / NEAR)
            if i != j and C[i, HELD] + C[j, HELD] > 0.0:
                curvature = 0.0
            if not abs(curvature) < 1e300:
                curvature = 0.0
            H[i, j] = curvature
            H[j, i] = curvature
    eigen(nv, H, V)
    most = 0.0
    for i in range(nv):
        most = larger(most, abs(H[i, i]))
        C[i, D] = 0.0
    floor = STRAIGHT * most + 1e-300
    for i in range(nv):
        along = 0.0
        for k in range(nv):
            along += V[k, i] * C[k, G]
        curvature = H[i, i]
        step = -along / larger(abs(curvature), floor)
        if abs(curvature) < FLAT * most and abs(along * step) < NOTICED * value:
            step = 0.0
        if curvature < -BENT * most and abs(step) < NEAR:
            step = -AWAY if along > 0.0 else AWAY
            if abs(along) < WEAK * sqrt(2.0 * value) and leads_out(nv, i, step, q, C, V):
                step = -step
        for k in range(nv):
            C[k, D] += V[k, i] * step


def room(k: int, q: Vector, C: Matrix) -> float:
    """The distance that a coordinate may go the way of its step."""
    if C[k, D] > 0.0:
        return C[k, HIGH] - q[int(C[k, PLACE])] if C[k, HIGH] < 1e300 else 1e300
    return q[int(C[k, PLACE])] - C[k, LOW] if C[k, LOW] > -1e300 else 1e300


def blocked(nv: int, q: Vector, C: Matrix) -> bool:
    """Whether a step leads out of limits at once; those coordinates are held from now on."""
    found = False
    for k in range(nv):
        if C[k, HELD] == 0.0 and abs(C[k, D]) > 0.0 and room(k, q, C) <= 0.0:
            C[k, HELD] = 1.0
            found = True
    return found


def attempt(nq: int, nv: int, q: Vector, C: Matrix, Q: Matrix, M: Matrix) -> None:
    """Rows at q with the step, its half, its quarter… and, if that is shorter than all of it, what leads to the first
    limit."""
    longest = LONGEST
    for k in range(nv):
        if C[k, SLIDES] == 0.0:
            longest = larger(longest, abs(C[k, D]))
    part = LONGEST / longest
    first = part
    for k in range(nv):
        if C[k, HELD] == 0.0 and abs(C[k, D]) > 0.0:
            first = smaller(first, room(k, q, C) / abs(C[k, D]))
    for row in range(LENGTHS):
        for k in range(nq):
            Q[row, k] = q[k]
        length = first if row == LENGTHS - 1 and first < LONGEST / longest else part
        for k in range(nv):
            M[row, k] = length * C[k, D]
        part *= 0.5


def choose(nq: int, nv: int, state: Vector, q: Vector, C: Matrix, Q: Matrix, M: Matrix, gradients: Matrix, H: Matrix,
    V: Matrix) -> None:  # fmt: skip
    """After differences were evaluated: rows along Newton's step."""
    hold(nv, state[VALUE], q, C, gradients)
    newton(nv, state[VALUE], q, C, gradients, H, V)
    while blocked(nv, q, C):
        newton(nv, state[VALUE], q, C, gradients, H, V)
    attempt(nq, nv, q, C, Q, M)
    state[PHASE] = NEWTON


def give_up(nq: int, nv: int, state: Vector, q: Vector, C: Matrix, Q: Matrix, M: Matrix, H: Matrix) -> bool:
    """After no step led lower: rows down the gradient, if that was not it."""
    if state[PHASE] == GRADIENT:
        return True
    most = 1e-300
    for i in range(nv):
        most = larger(most, abs(H[i, i]))
    for k in range(nv):
        C[k, D] = -C[k, G] / most
    attempt(nq, nv, q, C, Q, M)
    state[PHASE] = GRADIENT
    return False


def go(nq: int, row: int, q: Vector, squares: Vector, N: Matrix, E: Matrix) -> None:
    """Move q to the configuration of a row."""
    for k in range(nq):
        q[k] = N[row, k]
    for k in range(2):
        squares[k] = E[row, k]


def advance(
    nq: int, nv: int, state: Vector, q: Vector, squares: Vector, C: Matrix, Q: Matrix, M: Matrix, N: Matrix,
    F: Matrix, gradients: Matrix, E: Matrix, H: Matrix, V: Matrix,
) -> bool:  # fmt: skip
    """After rows (Q, M) were evaluated, to where they lead N, with values F, gradients and squared errors E: whether
    others are to be."""
    if state[PHASE] == BEGIN:
        measure(nq, nv, q, C, Q, M)
        state[PHASE] = MEASURE
        return True
    if state[PHASE] == MEASURE:
        if state[TURN] == 0.0:  # the start may have been beyond limits
            go(nq, 0, q, squares, N, E)
        state[VALUE] = F[0, 0]
        choose(nq, nv, state, q, C, Q, M, gradients, H, V)
        return nv > 0
    best = -1
    value = state[VALUE]
    for row in range(LENGTHS):
        if F[row, 0] < value:
            best = row
            value = F[row, 0]
    if best < 0:
        return not give_up(nq, nv, state, q, C, Q, M, H)
    go(nq, best, q, squares, N, E)
    state[TURN] += 1.0
    if state[VALUE] - value <= LITTLE * state[VALUE]:
        state[STALLED] += 1.0
    measure(nq, nv, q, C, Q, M)
    state[PHASE] = MEASURE
    return state[TURN] < MOST_TURNS and state[STALLED] < 2.0
