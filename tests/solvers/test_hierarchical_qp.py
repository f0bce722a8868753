"""Levels in strict order: against projectors and pseudo-inverses, and against one quadratic program per level.

Covers: compiler/runtime/chain.py, solvers/hierarchical_qp_kernel.py, solvers/level_bounds.py, solvers/orthogonal.py.
"""

import numpy as np
import pytest

import kinetree as kt
from kinetree.solvers import hierarchical_qp, qp


def random_levels(rng, n, sizes, dependent=False):
    pairs = [(rng.normal(size=(k, n)), rng.normal(size=k)) for k in sizes]
    if dependent:  # part of the first level again, contradicting it, a level within that, and one of low rank
        pairs[1][0][0] = pairs[0][0][0]
        pairs[1:1] = [(2.0 * pairs[0][0][:1], rng.normal(size=1))]
        pairs[-1][0][:] = np.outer(rng.normal(size=sizes[-1]), rng.normal(size=n))
    return pairs


def by_projectors(pairs, n):
    """Siciliano and Slotine: v += (J N)⁺ (e - J v), N -= (J N)⁺ J N."""
    x, N = np.zeros(n), np.eye(n)
    for J, e in pairs:
        u, s, vt = np.linalg.svd(J @ N, full_matrices=False)
        inverse = vt.T @ np.diag(np.where(s > 1e-9 * np.linalg.norm(J), 1 / np.maximum(s, 1e-300), 0.0)) @ u.T
        x = x + inverse @ (e - J @ x)
        N = N - inverse @ (J @ N)
    return x


@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize(("n", "sizes"), [(7, (3, 3)), (6, (6, 6)), (20, (6, 3, 6, 20)), (12, (1, 2, 3, 4, 5))])
def test_without_bounds_it_is_the_recursive_null_space_solution(n, sizes, dependent):
    rng = np.random.default_rng(n)
    for _ in range(10):
        pairs = random_levels(rng, n, sizes, dependent)
        np.testing.assert_allclose(hierarchical_qp.solve(pairs), by_projectors(pairs, n), atol=1e-9)


def test_one_level_with_damping_is_a_damped_pseudo_inverse():
    rng = np.random.default_rng(0)
    for shape in ((3, 7), (7, 7), (9, 4)):
        J, e = rng.normal(size=shape), rng.normal(size=shape[0])
        n = shape[1]
        expected = np.linalg.solve(J.T @ J + 0.04 * np.eye(n), J.T @ e)
        np.testing.assert_allclose(hierarchical_qp.solve([(J, e)], damping=0.2), expected, atol=1e-12)
        np.testing.assert_allclose(hierarchical_qp.solve([(J, e)]), np.linalg.pinv(J) @ e, atol=1e-11)


def level_by_level(pairs, lower, upper, D):
    """One quadratic program after the other, earlier residuals as equations."""
    n = pairs[0][0].shape[1]
    A, b = np.zeros((0, n)), np.zeros(0)
    residuals = []
    for J, e in pairs:
        bounds = {"x_lower": lower[:n], "x_upper": upper[:n], "C": D, "lower": lower[n:], "upper": upper[n:]}
        x = qp.solve(J.T @ J, -J.T @ e, A, b, **bounds).x
        A, b = np.concatenate([A, J]), np.concatenate([b, J @ x])
        residuals.append(J @ x - e)
    return residuals


@pytest.mark.parametrize(("n", "sizes", "rows"), [(7, (3, 3), 0), (7, (3, 3, 7), 4), (20, (6, 3, 6, 20), 5)])
def test_within_bounds_every_level_is_the_best_that_earlier_ones_allow(n, sizes, rows):
    rng = np.random.default_rng(n + rows)
    active = 0
    for _ in range(10):
        pairs, D = random_levels(rng, n, sizes), rng.normal(size=(rows, n))
        upper = np.concatenate([np.full(n, 0.3), np.full(rows, 0.4)])
        x = hierarchical_qp.solve(pairs, -upper, upper, D)
        active += (np.abs(x) > 0.3 - 1e-9).sum()
        assert (np.abs(np.concatenate([x, D @ x])) <= upper + 1e-9).all()
        for (J, e), best in zip(pairs, level_by_level(pairs, -upper, upper, D), strict=True):
            np.testing.assert_allclose(np.linalg.norm(J @ x - e), np.linalg.norm(best), atol=1e-6)
    assert active > 10


def test_later_levels_never_change_the_residuals_of_earlier_ones():
    rng = np.random.default_rng(5)
    changed = 0
    for bound in (np.inf, 0.3):
        for _ in range(10):
            pairs = random_levels(rng, 18, (6, 3, 6, 18))
            bounds = np.full(18, bound)
            for k in range(1, 4):
                few, more = (hierarchical_qp.solve(pairs[:count], -bounds, bounds) for count in (k, k + 1))
                for J, e in pairs[:k]:
                    np.testing.assert_allclose(J @ more - e, J @ few - e, atol=1e-10)
                changed += np.abs(more - few).max() > 1e-3
    assert changed > 40


def test_refusals():
    with pytest.raises(kt.ArgumentError, match="J of level 1"):
        hierarchical_qp.solve([(np.eye(2), [1, 1]), (np.eye(3), [1, 1, 1])])
    with pytest.raises(kt.InfeasibleError) as caught:
        hierarchical_qp.solve([(np.eye(2), [1, 1])], [0, 1], [1, 0])
    assert caught.value.rows == (1,)
    with pytest.raises(kt.NotFiniteError):
        hierarchical_qp.solve([(np.eye(2), [1, np.nan])])


# -- rows that begin at a level ----------------------------------------------------------------------------------------


def softly_level_by_level(pairs, lower, upper, D, since):
    """One quadratic program after the other in x and slacks, with what earlier levels leave as it is."""
    n = pairs[0][0].shape[1]
    A, b = np.zeros((0, n)), np.zeros(0)
    lower, upper = lower.copy(), upper.copy()
    found = []
    for level, (J, e) in enumerate(pairs):
        soft = [k for k, begin in enumerate(since) if begin == level]
        held = [k for k, begin in enumerate(since) if begin < level]
        s = len(soft)
        H = np.zeros((n + s, n + s))
        H[:n, :n], H[n:, n:] = J.T @ J, np.eye(s)
        g = np.concatenate([-J.T @ e, np.zeros(s)])
        rows = np.block([[D[held], np.zeros((len(held), s))], [D[soft], np.eye(s)]])
        chosen = np.array([*held, *soft], dtype=int) + n
        free = np.full(s, np.inf)
        x = qp.solve(
            H, g, np.hstack([A, np.zeros((len(A), s))]), b, rows, lower[chosen], upper[chosen],
            np.concatenate([lower[:n], -free]), np.concatenate([upper[:n], free]),
        ).x[:n]  # fmt: skip
        A, b = np.concatenate([A, J]), np.concatenate([b, J @ x])
        excess = np.zeros(s)
        for i, k in enumerate(soft):
            there = D[k] @ x
            excess[i] = max(lower[n + k] - there, there - upper[n + k], 0.0)
            if excess[i] > 1e-9:
                lower[n + k] = upper[n + k] = there
        found.append((J @ x - e, excess))
    return found


def test_rows_that_begin_at_a_level_are_kept_as_well_as_its_tasks():
    rng = np.random.default_rng(4)
    violated = 0
    for _ in range(40):
        n, sizes, rows = 12, (2, 3, 3, 12), 9
        pairs, D = random_levels(rng, n, sizes), rng.normal(size=(rows, n))
        since = (-1, -1, 0, 0, 1, 1, 2, 2, 3)
        lower = np.concatenate([np.full(n, -3.0), np.full(2, -1.0), rng.uniform(-1.0, 1.0, rows - 2)])
        upper = np.concatenate([np.full(n, 3.0), np.full(2, 1.0), lower[n + 2 :] + rng.choice([0.0, 0.5], rows - 2)])
        expected = softly_level_by_level(pairs, lower, upper, D, since)
        x = hierarchical_qp.solve(pairs, lower, upper, D, since=since)
        for level, ((J, e), (residual, excess)) in enumerate(zip(pairs, expected, strict=True)):
            np.testing.assert_allclose(J @ x - e, residual, atol=2e-6)
            soft = [k for k, begin in enumerate(since) if begin == level]
            there = D[soft] @ x
            beyond = np.maximum(0.0, np.maximum(lower[n:][soft] - there, there - upper[n:][soft]))
            np.testing.assert_allclose(beyond, excess, atol=2e-6)
            violated += np.count_nonzero(excess > 1e-3)
    assert violated > 20  # else the test says nothing


def test_a_wrong_level_is_refused():
    with pytest.raises(kt.ArgumentError, match="since"):
        hierarchical_qp.solve([(np.eye(2), [0, 0])], D=[[1, 0]], since=[1])
