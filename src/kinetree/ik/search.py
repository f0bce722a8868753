"""Lanes that search for poses side by side, each from its own start, and what happens to them after every step.

All lanes of a block take a step together. Then each is looked at: one that has arrived, or makes no headway, takes up
another start, of its own problem or of the next. Where there is no next, lanes that are free help with problems that
are still open. With a start that the caller chose, its outcome is waited for, so that solutions near it are preferred.

Written for `compiler.loops`.
"""

from __future__ import annotations

from kinetree.compiler import Matrix, Vector

# columns of a lane
PROBLEM, ATTEMPT, TURN, MARK = 0, 1, 2, 3
LANE = 4
# columns of a problem
STATUS, STARTED, WORKING, ITERATIONS, BEST, GAP, ANGLE, FIRST = 0, 1, 2, 3, 4, 5, 6, 7
REPORT = 8
OPEN, SOLVED, GIVEN_UP, PENDING = 0.0, 1.0, 2.0, 3.0
"""States of a problem; pending is one that is solved, but not from the start that was chosen, which is still under
way."""
# settings
GAP_LIMIT, ANGLE_LIMIT, MOST_ATTEMPTS, MOST_TURNS, CHOSEN, OFFSET, ONWARD = 0, 1, 2, 3, 4, 5, 6
SETTINGS = 7

PATIENCE = 4
"""Steps after which the error must have shrunk."""
HEADWAY = 0.5
"""The part to which it must have shrunk, squared."""
PATIENT_TURNS = 100.0
"""Steps that a chosen start is given, and it must shrink by a tenth only."""
PATIENT_HEADWAY = 0.9


def copy(source: Vector, target: Vector, count: int) -> None:
    """Numbers from one place to another."""
    for k in range(count):
        target[k] = source[k]


def begin(
    lane: int, problem: int, nq: int, nt: int, settings: Vector, free: Vector, Q: Matrix, L: Matrix, T: Matrix,
    targets: Matrix, starts: Matrix, seeds: Matrix, seed_count: int, report: Matrix,
) -> None:  # fmt: skip
    """The next attempt at a problem, in this lane: from its own start, then from seeds, but for
    coordinates that are not free."""
    attempt = int(report[problem, STARTED])
    report[problem, STARTED] = float(attempt + 1)
    report[problem, WORKING] += 1.0
    if attempt == 0:
        report[problem, FIRST] = 1.0
        copy(starts[problem], Q[lane], nq)
    else:
        place = int(settings[OFFSET]) + problem
        row = (place * 7 + attempt) % seed_count
        for k in range(nq):
            Q[lane, k] = seeds[row, k] if free[k] > 0.0 else starts[problem, k]
    copy(targets[problem], T[lane], nt)
    L[lane, PROBLEM] = float(problem)
    L[lane, ATTEMPT] = float(attempt)
    L[lane, TURN] = 0.0
    L[lane, MARK] = 1e300


def may_begin(problem: int, settings: Vector, report: Matrix) -> bool:
    """Whether another attempt at a problem is of use."""
    return report[problem, STATUS] == OPEN and report[problem, STARTED] < settings[MOST_ATTEMPTS]


def find(count: int, settings: Vector, report: Matrix) -> int:
    """A problem to work on: the next that nobody has begun, or one that is open; -1 if there is none."""
    first = int(settings[ONWARD])
    if first < count:
        settings[ONWARD] = float(first + 1)
        return first
    for problem in range(count):
        if may_begin(problem, settings, report):
            return problem
    return -1


def keep(
    lane: int, problem: int, nq: int, merit: float, Q: Matrix, E: Matrix, report: Matrix, solutions: Matrix
) -> None:
    """Keep what this lane has found as the best so far."""
    report[problem, BEST] = merit
    report[problem, GAP] = E[lane, 0]
    report[problem, ANGLE] = E[lane, 1]
    copy(Q[lane], solutions[problem], nq)


def look(
    lane: int, problem: int, nq: int, settings: Vector, Q: Matrix, E: Matrix, L: Matrix, report: Matrix,
    solutions: Matrix,
) -> bool:  # fmt: skip
    """Whether the attempt is over: it arrived, makes no headway, or has taken too many steps."""
    turn = L[lane, TURN] + 1.0
    L[lane, TURN] = turn
    report[problem, ITERATIONS] += 1.0
    merit = E[lane, 0] + E[lane, 1]
    chosen = settings[CHOSEN] > 0.0 and L[lane, ATTEMPT] == 0.0
    if E[lane, 0] <= settings[GAP_LIMIT] and E[lane, 1] <= settings[ANGLE_LIMIT]:
        if report[problem, STATUS] != PENDING or chosen:
            keep(lane, problem, nq, merit, Q, E, report, solutions)
        waits = settings[CHOSEN] > 0.0 and report[problem, FIRST] > 0.0 and not chosen
        report[problem, STATUS] = PENDING if waits else SOLVED
        return True
    over = not merit < 1e300 or turn >= (PATIENT_TURNS if chosen else settings[MOST_TURNS])
    if int(turn) % PATIENCE == 0:
        least = PATIENT_HEADWAY if chosen else HEADWAY
        over = over or merit > least * L[lane, MARK]
        L[lane, MARK] = merit
    if over and merit < report[problem, BEST] and report[problem, STATUS] == OPEN:
        keep(lane, problem, nq, merit, Q, E, report, solutions)
    return over


def leave(lane: int, problem: int, settings: Vector, L: Matrix, report: Matrix) -> None:
    """An attempt has ended: perhaps the problem is decided by that."""
    report[problem, WORKING] -= 1.0
    if L[lane, ATTEMPT] == 0.0:
        report[problem, FIRST] = 0.0
        if report[problem, STATUS] == PENDING:
            report[problem, STATUS] = SOLVED
    exhausted = report[problem, STARTED] >= settings[MOST_ATTEMPTS] and report[problem, WORKING] == 0.0
    if exhausted and report[problem, STATUS] == OPEN:
        report[problem, STATUS] = GIVEN_UP


def tend(
    lanes: int, count: int, nq: int, nt: int, seed_count: int, settings: Vector, free: Vector, Q: Matrix, N: Matrix,
    E: Matrix, L: Matrix, T: Matrix, targets: Matrix, starts: Matrix, seeds: Matrix, report: Matrix, solutions: Matrix,
) -> bool:  # fmt: skip
    """After a step of all lanes from Q to N, with errors E before it: whether any is still under way."""
    busy = False
    for lane in range(lanes):
        problem = int(L[lane, PROBLEM])
        over = problem < 0
        if not over:
            decided = report[problem, STATUS] == SOLVED
            decided = decided or (report[problem, STATUS] == PENDING and L[lane, ATTEMPT] > 0.0)
            over = decided or look(lane, problem, nq, settings, Q, E, L, report, solutions)
            if over:
                leave(lane, problem, settings, L, report)
        if not over:
            copy(N[lane], Q[lane], nq)
            busy = True
        else:
            following = -1
            if problem >= 0 and may_begin(problem, settings, report):
                following = problem
            if following < 0:
                following = find(count, settings, report)
            L[lane, PROBLEM] = -1.0
            if following >= 0:
                begin(lane, following, nq, nt, settings, free, Q, L, T, targets, starts, seeds, seed_count, report)
                busy = True
    return busy
