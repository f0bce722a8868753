"""Undamped differential IK is minimum-norm least squares: at singular states, within limits, at every level."""

from itertools import product

import mpmath
import numpy as np
import pytest
from scipy.optimize import lsq_linear

import kinetree as kt
from kinetree.ik import DifferentialIK, Limits, Orientation, Pose, Position, Posture
from kinetree.linalg import RANK_TOLERANCE
from kinetree.solvers import hierarchical_qp


def by_svd(J, e, tolerance):
    """J⁺ e in 40 digits, of singular values above a part of the largest."""
    with mpmath.workdps(40):
        U, s, V = mpmath.svd_r(mpmath.matrix(J.tolist()), full_matrices=False)
        weighted = U.T * mpmath.matrix(e.tolist())
        for i in range(len(s)):
            weighted[i] = weighted[i] / s[i] if s[i] > tolerance * s[0] else mpmath.mpf(0)
        return np.array([float(x) for x in V.T * weighted]), np.array([float(x) for x in s])


def assert_least_squares_of_least_norm(x, J, e):
    """x = J⁺ e, as exactly as rounding of J and what counts as zero in it allow: with an error E of J, that is
    ‖E‖ (‖x‖ / σ + ‖J x - e‖ / σ²) for the least σ that counts. Near the tolerance, either rank will do."""
    found = []
    for tolerance in (RANK_TOLERANCE / 30.0, RANK_TOLERANCE, RANK_TOLERANCE * 30.0):
        expected, s = by_svd(J, e, tolerance)
        kept, dropped = s[s > tolerance * s[0]], s[s <= tolerance * s[0]].max(initial=0.0)
        error = 10.0 * (dropped + 1e-15 * s[0])
        left = np.linalg.norm(J @ expected - e)
        accuracy = error * (np.linalg.norm(expected) / kept[-1] + left / kept[-1] ** 2)
        found.append(np.abs(x - expected).max() <= 1e-13 + accuracy)
    assert any(found)


def degenerate(rng, rows, n):
    """A matrix of any rank, with some singular values around the tolerance, and rows of other sizes."""
    k = min(rows, n)
    U, V = (np.linalg.qr(rng.normal(size=(size, size)))[0] for size in (rows, n))
    s = np.where(rng.random(k) < 0.5, rng.uniform(0.5, 2.0, k), 10.0 ** rng.uniform(-16.0, 0.0, k))
    s[rng.random(k) < 0.2] = 0.0
    return U[:, :k] @ np.diag(s) @ V[:k]


def check_matrices(draws, seed):
    rng = np.random.default_rng(seed)
    for _ in range(draws):
        rows, n = rng.integers(1, 9, size=2)
        J, e = degenerate(rng, rows, n), rng.normal(size=rows)
        if rng.random() < 0.3:  # repeated, and contradicting
            J[-1] = J[0]
        if not np.linalg.norm(J):
            continue
        assert_least_squares_of_least_norm(hierarchical_qp.solve([(J, e)]), J, e)


def test_one_level_is_the_pseudo_inverse_of_degenerate_matrices():
    check_matrices(100, 0)


@pytest.mark.long
def test_one_level_is_the_pseudo_inverse_of_thousands_of_degenerate_matrices():
    check_matrices(3000, 1)


def test_a_little_damping_is_not_lost():
    """λ far below the rounding of JᵀJ: v = Σ σ/(σ² + λ²) …, compared in 40 digits."""
    rng = np.random.default_rng(4)
    for _ in range(60):
        J, e = degenerate(rng, 5, 6), rng.normal(size=5)
        damping = 10.0 ** rng.uniform(-12.0, -1.0)
        with mpmath.workdps(60):
            A = mpmath.matrix(J.tolist())
            expected = mpmath.lu_solve(A.T * A + damping**2 * mpmath.eye(6), A.T * mpmath.matrix(e.tolist()))
        expected = np.array([float(x) for x in expected])
        x = hierarchical_qp.solve([(J, e)], damping=damping)
        s = np.linalg.svd(J)[1]
        lost = s[s < 100.0 * RANK_TOLERANCE * s[0]].max(initial=0.0)
        size = np.abs(expected).max() * (1e-5 + 1e-15 * s[0] / damping) + np.linalg.norm(e) * lost / damping**2
        assert np.abs(x - expected).max() <= 1e-9 + size


# -- robots --------------------------------------------------------------------------------------------------------


def singular_states(robot, rng, count, near=True):
    """Random states with joints at zero and at right angles: stretched arms, aligned wrists; some only nearly so."""
    for _ in range(count):
        q = robot.random(rng)
        chosen = rng.random(robot.nq) < rng.random()
        angles = [0.0, 0.5 * np.pi, np.pi, 1e-12, 1e-6][: 5 if near else 3]
        q[chosen] = rng.choice(angles, size=np.count_nonzero(chosen))
        yield q


def check_robot(name, count, seed):
    robot, rng = kt.load(name), np.random.default_rng(seed)
    tool = robot.frame("tool0")
    tasks = {
        "pose": (Pose("tool0"), slice(0, 6), np.ones(6)),
        "weighted": (Pose("tool0", weight=(3.0, 1.0, 0.1, 2.0, 2.0, 0.5)), slice(0, 6), [3.0, 1.0, 0.1, 2.0, 2.0, 0.5]),
    }
    singular = 0
    for task, rows, weights in tasks.values():
        ik = DifferentialIK(robot, task, None, damping=0.0)
        for q in singular_states(robot, rng, count):
            target = tool.pose(q).copy()
            target[:3, 3] += 0.05 * rng.normal(size=3)
            W = np.diag(weights)
            J, e = W @ tool.jacobian(q)[rows], W @ np.r_[10.0 * (target[:3, 3] - tool.pose(q)[:3, 3]), 0, 0, 0][rows]
            assert_least_squares_of_least_norm(ik(q, target), J, e)
            s = np.linalg.svd(J)[1]
            singular += s[-1] < 1e-9 * s[0]
    assert singular > count // 10


@pytest.mark.parametrize("name", ["arm7", "arm6"])
@pytest.mark.sampled(2)
@pytest.mark.sweep
def test_singular_arms_move_by_the_pseudo_inverse(name):
    check_robot(name, 30, 2)


@pytest.mark.long
@pytest.mark.parametrize("name", ["arm7", "arm6"])
def test_thousands_of_singular_arms_move_by_the_pseudo_inverse(name):
    check_robot(name, 1500, 3)


def test_the_state_at_which_a_rounding_error_passed_for_a_pivot():
    robot = kt.load("arm7")
    q = np.array([2.1, 0.2, 0.2, -1.2, 1.6, 2.0, -1.3])
    target = robot.frame("tool0").pose(q).copy()
    target[0, 3] += 0.05
    expected = np.linalg.pinv(robot.frame("tool0").jacobian(q)) @ [0.5, 0, 0, 0, 0, 0]
    for damping in (0.0, 1e-12, 1e-9):
        for limits in (None, Limits()):
            v = DifferentialIK(robot.eager, Pose("tool0"), limits, damping=damping)(q, target)
            np.testing.assert_allclose(v, expected, atol=1e-9)


def test_random_trees_move_by_the_pseudo_inverse():
    rng = np.random.default_rng(6)
    for seed in range(6):
        robot = kt.Robot(kt.random_model(np.random.default_rng(seed), 5)).eager
        frames = [frame for frame in robot.frame_names if robot.frame(frame).jacobian(robot.neutral()).any()]
        tasks = [
            Position(frames[-1]),
            Orientation(frames[-1], weight=0.5),
            Position(frames[len(frames) // 2], weight=2.0),
        ]
        ik = DifferentialIK(robot, tasks, None, damping=0.0)
        q = robot.random(rng)
        rows, errors, targets = [], [], []
        for task, frame, part in zip(tasks, (frames[-1], frames[-1], frames[len(frames) // 2]), (0, 3, 0), strict=True):
            T = robot.frame(frame).pose(q)
            step = 0.1 * rng.normal(size=3)
            targets.append(T[:3, 3] + step if part == 0 else T[:3, :3])
            rows.append(task.weight * robot.frame(frame).jacobian(q)[part : part + 3])
            errors.append(task.weight * (10.0 * step if part == 0 else np.zeros(3)))
        assert_least_squares_of_least_norm(ik(q, *targets), np.concatenate(rows), np.concatenate(errors))


# -- within limits, and several levels ------------------------------------------------------------------------------


def by_projectors(pairs, n):
    """The recursive null-space solution of least norm."""
    x, N = np.zeros(n), np.eye(n)
    for J, e in pairs:
        U, s, V = np.linalg.svd(J @ N, full_matrices=False)
        inverse = V.T @ np.diag([1.0 / size if size > 1e-9 * max(1.0, np.linalg.norm(J)) else 0.0 for size in s]) @ U.T
        x = x + inverse @ (e - J @ x)
        N = N - inverse @ (J @ N)
    return x


def by_enumeration(pairs, lower, upper):
    """The first in lexicographic order of residuals, then of minimum norm, over all sets of bounds that may hold, with
    the null-space solution of what is left."""
    n, found = len(lower), []
    for held in product((-1, 0, 1), repeat=n):
        at = np.array(held)
        x = np.where(at < 0, lower, np.where(at > 0, upper, 0.0))
        free = at == 0
        x[free] = by_projectors([(J[:, free], e - J @ x) for J, e in pairs], np.count_nonzero(free))
        if (x >= lower - 1e-10).all() and (x <= upper + 1e-10).all():
            found.append(x)
    for J, e in [*pairs, (np.eye(n), np.zeros(n))]:
        left = [np.linalg.norm(J @ x - e) for x in found]
        found = [x for x, size in zip(found, left, strict=True) if size < min(left) + 1e-8]
    return found[0]


def check_within_limits(draws, seed):
    rng, active = np.random.default_rng(seed), 0
    for _ in range(draws):
        n, count = 4, int(rng.integers(1, 4))
        pairs = []
        for _ in range(count):
            rows = int(rng.integers(1, 4))
            pairs.append((rng.integers(-2, 3, (rows, n)).astype(float), 2.0 * rng.normal(size=rows)))
            if rng.random() < 0.5:
                pairs[-1][0][-1] = pairs[-1][0][0]
        lower, upper = -rng.uniform(0.0, 0.5, n), rng.uniform(0.0, 0.5, n)
        lower[rng.random(n) < 0.1] = 0.0  # of a joint that stands still, with those below
        upper[lower == 0.0] = 0.0
        expected = by_enumeration(pairs, lower, upper)
        x = hierarchical_qp.solve([*pairs, (np.eye(n), np.zeros(n))], lower, upper)
        np.testing.assert_allclose(x, expected, atol=1e-6)
        active += np.count_nonzero(np.minimum(x - lower, upper - x) < 1e-9)
    assert active > draws


@pytest.mark.sweep
def test_within_limits_every_level_is_least_squares_and_the_whole_of_least_norm():
    check_within_limits(40, 0)


@pytest.mark.long
def test_thousands_within_limits():
    check_within_limits(2000, 1)


@pytest.mark.parametrize("near", [False, True], ids=["singular", "nearly singular"])
@pytest.mark.parametrize("priorities", [1, 2])
@pytest.mark.sampled(2)
def test_a_limited_arm_moves_by_least_squares_of_least_norm(priorities, near):
    """Beside SciPy, and by the conditions of optimality: what is not at a limit moves by the null-space solution of
    the rest. Where singular values are tiny, what they would add to a task is within rounding."""
    robot, rng = kt.load("arm7"), np.random.default_rng(5)
    tasks = [Pose("tool0")] if priorities == 1 else [Position("tool0"), Posture([robot.joint_names[1]], priority=1)]
    ik = DifferentialIK(robot.eager, tasks, Limits(slower=0.1), damping=0.0)
    held = 0
    for q in singular_states(robot, rng, 25, near):
        q = np.clip(q, robot.limits.lower, robot.limits.upper)
        target = robot.frame("tool0").pose(q).copy()
        target[:3, 3] += 0.1 * rng.normal(size=3)
        goals = [target] if priorities == 1 else [target[:3, 3], robot.neutral()]
        step = ik.step(q, *goals)
        given = dict(zip(ik.arguments, [q, *goals], strict=True))
        pairs = [(J, rate) for J, rate, _ in ik.problem.rows(robot.eager, given)]
        lower, upper = ik.problem._bounds(robot.eager, given)
        assert (step.v >= lower - 1e-9).all() and (step.v <= upper + 1e-9).all()
        J, e = pairs[0]
        best = lsq_linear(J, e, (lower - 1e-12, upper + 1e-12), method="bvls", tol=1e-14).x
        assert np.linalg.norm(J @ step.v - e) < np.linalg.norm(J @ best - e) + 1e-7
        free = step.at_limit == 0
        held += np.count_nonzero(~free)
        if not near:
            fixed = np.where(free, 0.0, step.v)
            rest = by_projectors([(J[:, free], e - J @ fixed) for J, e in pairs], np.count_nonzero(free))
            np.testing.assert_allclose(step.v[free], rest, atol=1e-6)
    assert held > 20


@pytest.mark.sweep
def test_rows_that_are_rounding_alone_ask_for_nothing_and_hold_nothing():
    """A straight arm that points along z: its tip cannot move along z."""
    robot, q = kt.load("planar2"), np.array([np.pi / 2, 0.0])
    there = robot.frame("tip").pose(q)[:3, 3]
    for contacts, limits in (((), None), ((), Limits()), ([kt.Contact("tip", "sliding")], None)):
        step = DifferentialIK(robot, Position("tip", weight=[0, 0, 1e3]), limits, damping=0.0, contacts=contacts)
        assert np.abs(step(q, there - [0.0, 0.0, 0.1])).max() < 1e-12
    posture = Posture(gain=1.0)
    free = DifferentialIK(robot, posture, None, damping=0.0)(q, np.zeros(2))
    for options in ({"damping": 0.0}, {"damping": 1e-8}):
        held = DifferentialIK(robot, posture, None, contacts=kt.Contact("tip", "sliding"), **options)
        np.testing.assert_allclose(held(q, np.zeros(2)), free, atol=1e-9)
    above = DifferentialIK(
        robot, [Position("tip", weight=[0, 0, 1], priority=0), Posture(priority=1)], None, damping=0.0
    )
    assert np.abs(above(q, there - [0.0, 0.0, 0.1], q)).max() < 1e-12
