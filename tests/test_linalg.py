"""Factorisations against NumPy's, and over the scalars that can meet in them."""

import numpy as np
import pytest

import kinetree as kt
from kinetree import linalg
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


def general(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, n))


def test_general_systems():
    for n in (0, 1, 2, 3, 6):
        A, b = general(n, n), np.random.default_rng(9).normal(size=(n, 2))
        close(linalg.solve(A, b), np.linalg.solve(A, b), 1e-11)
        if n:
            close(linalg.solve(A, b[:, 0]), np.linalg.solve(A, b[:, 0]), 1e-11)
            close(linalg.inverse(A), np.linalg.inv(A), 1e-11)
        close(linalg.determinant(A), np.linalg.det(A), 1e-12)
    needs_pivots = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [4.0, -3.0, 8.0]])
    close(linalg.solve(needs_pivots, np.eye(3)), np.linalg.inv(needs_pivots), 1e-13)
    tiny_pivot = np.array([[1e-20, 1.0], [1.0, 1.0]])
    close(linalg.solve(tiny_pivot, np.array([1.0, 2.0])), [1.0, 1.0], 1e-15)


def test_inverse_of_a_positive_definite_matrix_is_symmetric(M):
    inverse = linalg.inverse(M, positive_definite=True)
    close(inverse, np.linalg.inv(M), 1e-12)
    assert np.array_equal(inverse, inverse.T)


def test_pseudo_inverse():
    wide = np.random.default_rng(1).normal(size=(3, 5))
    for A in (wide, wide.T):
        close(linalg.pseudo_inverse(A), np.linalg.pinv(A), 1e-11)
        damped = linalg.pseudo_inverse(A, 0.3)
        close(damped, A.T @ np.linalg.inv(A @ A.T + 0.09 * np.eye(len(A))), 1e-11)
    singular = np.ones((2, 3))
    assert np.all(np.isfinite(linalg.pseudo_inverse(singular, 1e-3)))


def test_determinants_of_any_size():
    """By expansion and by elimination, single and compiled, for signs of all exchanges and for singular matrices."""
    for n in (1, 2, 5, 6, 7, 9, 12):
        A = general(n, n)
        close(linalg.determinant(A) / np.linalg.det(A), 1.0, 1e-12)
        close(linalg.determinant(A @ A.T, positive_definite=True) / np.linalg.det(A) ** 2, 1.0, 1e-9)
    A = general(8, 1)
    compiled = kt.compile(linalg.determinant, shapes={"A": (8, 8)})
    orders = np.array([np.random.default_rng(k).permutation(8) for k in range(20)])
    close(compiled(A[orders]), np.linalg.det(A[orders]), 1e-12)
    A[3] = 0.0
    cofactors = [(-1) ** j * np.linalg.det(np.delete(np.delete(A, 3, 0), j, 1)) for j in range(8)]
    for function in (linalg.determinant, compiled):
        assert function(A) == 0.0 and function(np.zeros((8, 8))) == 0.0
    close(kt.gradient(compiled, "A")(A)[3], -np.array(cofactors), 1e-11)
    robot = kt.load("arm7")
    q = np.full(7, 0.3)
    for flag in (False, True):
        law = kt.compile(lambda robot, q, flag=flag: linalg.determinant(robot.mass_matrix(q), flag))
        close(law(robot, q, flag) / np.linalg.det(robot.mass_matrix(q)), 1.0, 1e-9)


def test_whole_numbers_are_not_cut():
    A, b = np.array([[2, 1], [1, 3]]), np.array([1, 1])
    for flag in (False, True):
        close(linalg.solve(A, b, flag), [0.4, 0.2], 1e-15)
        close(linalg.inverse(A, flag), np.linalg.inv(A), 1e-15)
    L, d = linalg.ltdl(A)
    close(L.T @ np.diag(d) @ L, A, 1e-15)
    close(linalg.solve(A.tolist(), b.tolist()), [0.4, 0.2], 1e-15)


def test_norm_and_outer():
    x = np.array([3.0, -4.0])
    assert linalg.norm(x) == 5.0 and linalg.norm(np.zeros(3)) == 0.0 and np.isnan(linalg.norm(np.array([np.nan])))
    assert np.array_equal(linalg.outer(x, x), np.outer(x, x))


def test_all_of_it_traces():
    """Compiled, batched, and with pivots that differ between the states of a batch."""
    law = kt.compile(shapes={"A": (3, 3), "b": (3,)})(
        lambda A, b: (
            linalg.solve(A, b),
            linalg.inverse(A),
            linalg.determinant(A),
            linalg.solve(A @ A.T, b, positive_definite=True),
            linalg.pseudo_inverse(A[:2], 0.1),
            linalg.norm(b),
            linalg.outer(b, b),
            linalg.cross(b, A[0]),
        )
    )
    rng = np.random.default_rng(3)
    A, b = rng.normal(size=(100, 3, 3)), rng.normal(size=(100, 3))
    A[:50, 0, 0] = 0.0
    results = law(A, b)
    for k in range(100):
        for got, right in zip((result[k] for result in results), law.function(A[k], b[k]), strict=True):
            close(got, right, 1e-10)


def test_shapes_are_checked():
    for function in (linalg.solve, lambda A, b: linalg.inverse(A), lambda A, b: linalg.determinant(A)):
        with pytest.raises(kt.ArgumentError, match=r"the matrix has shape \(2, 3\); expected as many rows as columns"):
            function(np.ones((2, 3)), np.ones(2))
