"""Factorisations against NumPy's, and over the scalars that can meet in them."""

import numpy as np
import pytest

from kinetree.linalg import ltdl, ltdl_solve, solve
from peers import close


@pytest.fixture
def M():
    A = np.random.default_rng(0).normal(size=(5, 5))
    return A @ A.T + np.eye(5)


def test_factors_and_solution(M):
    L, d = ltdl(M)
    close(L.T @ np.diag(d) @ L, M, 1e-13)
    assert np.array_equal(L, np.tril(L)) and np.all(L.diagonal() == 1.0)
    b = np.arange(10.0).reshape(5, 2)
    close(solve(M, b, positive_definite=True), np.linalg.solve(M, b), 1e-12)
    close(solve(M, b[:, 0], positive_definite=True), np.linalg.solve(M, b[:, 0]), 1e-12)


def test_the_result_holds_what_any_of_the_factors_holds(M):
    L, d = ltdl(M)
    b = np.ones(5)
    for factors in ((L, d * (1 + 1e-8j), b), (L + 0j, d, b), (L, d, b + 1e-8j)):
        assert ltdl_solve(*factors).dtype == complex
    assert ltdl_solve(L, d.astype(object), b).dtype == object
