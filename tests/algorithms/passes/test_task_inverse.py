"""Two ways to the same inverses, where both serve; and which of them says that it does not."""

import numpy as np
import pytest

from kinetree.algorithms.passes.task_inverse import AnyRank, FullRank, generic_rank


def problem(rng, k, nv=7):
    root = rng.normal(size=(nv, nv))
    return root @ root.T + 0.1 * np.eye(nv), rng.normal(size=(k, nv))


@pytest.mark.parametrize("k", [1, 3, 6, 7])
def test_both_ways_agree_at_full_rank(k):
    rng = np.random.default_rng(k)
    M, J = problem(rng, k)
    a, b = AnyRank(M, J), FullRank(M, J)
    assert not b._is_doubtful()
    acceleration, tau = rng.normal(size=k), rng.normal(size=7)
    Lambda = np.linalg.inv(J @ np.linalg.solve(M, J.T))
    for got in (a, b):
        np.testing.assert_allclose(got.inertia(), Lambda, atol=1e-10 * np.abs(Lambda).max())
        np.testing.assert_allclose(got.force(acceleration), Lambda @ acceleration, atol=1e-9 * np.abs(Lambda).max())
        np.testing.assert_allclose(got.force_of(tau), Lambda @ J @ np.linalg.solve(M, tau), atol=1e-9)
        np.testing.assert_allclose(got.consistent_inverse(), np.linalg.solve(M, J.T) @ Lambda, atol=1e-9)
        np.testing.assert_allclose(J @ got.null_space(), 0.0, atol=1e-9)


def test_only_one_way_serves_where_rows_repeat_or_are_many():
    rng = np.random.default_rng(0)
    M, J = problem(rng, 5)
    nearly = np.vstack([J[:2], J[:1] + 1e-13 * J[1:2]])
    for rows in (J[[0, 1, 1]], np.zeros((2, 7)), np.vstack([J, J]), J[:2] * [[1.0], [1e-12]], nearly):
        with np.errstate(all="ignore"):
            assert FullRank(M, rows)._is_doubtful()
        felt = AnyRank(M, rows)
        A, Lambda = rows @ np.linalg.solve(M, rows.T), felt.inertia()
        np.testing.assert_array_equal(Lambda, Lambda.T)
        np.testing.assert_allclose(Lambda, np.linalg.pinv(A, rcond=1e-9), atol=1e-9 * max(1.0, np.abs(Lambda).max()))
        N = felt.null_space()
        np.testing.assert_allclose(N, N @ N, atol=1e-9)
        assert round(np.trace(N)) == 7 - np.linalg.matrix_rank(rows, 1e-10)


def test_the_rank_that_a_jacobian_can_have():
    J = np.eye(3)
    assert generic_rank([J[:1], J[[0, 1, 1]], np.zeros((3, 3))]) == 2 and generic_rank([]) == 0
