"""kt.linalg.pseudo_inverse gives least squares of minimum norm for matrices of every rank, compiled too."""

import numpy as np
import pytest

import kinetree as kt
from extended_precision import Decomposed, agree
from kinetree import linalg

SHAPES = [(6, 7), (7, 6), (3, 3), (1, 4), (4, 1), (2, 2), (6, 6), (5, 8)]


def undamped(A):
    return linalg.pseudo_inverse(A)


def degenerate(rng, m, n):
    """A matrix of any rank, of singular values of many sizes, but none near the tolerance."""
    k = min(m, n)
    U, V = (np.linalg.qr(rng.normal(size=(size, size)))[0] for size in (m, n))
    s = np.where(rng.random(k) < 0.5, rng.uniform(0.5, 2.0, k), 10.0 ** rng.uniform(-7.0, 0.0, k))
    s[rng.random(k) < 0.3] = 0.0
    A = U[:, :k] @ np.diag(s) @ V[:k]
    if rng.random() < 0.3 and m > 1:
        A[-1] = A[0] * rng.choice([1.0, -2.0, 0.0])
    return A * 10.0 ** rng.uniform(-3.0, 3.0)


def check(draws, seed, function=linalg.pseudo_inverse, shapes=SHAPES):
    rng, lost = np.random.default_rng(seed), 0
    for k in range(draws):
        A = degenerate(rng, *shapes[k % len(shapes)])
        exact = Decomposed(A)
        if exact.is_clear:
            assert agree(function(A) * np.linalg.norm(A), exact.inverse() * np.linalg.norm(A), 3 * exact.accuracy)
            lost += exact.rank < min(A.shape)
    assert lost > draws / 5


def test_hundreds_of_matrices_beside_forty_digits():
    check(160, 0)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 11))
def test_thousands_of_matrices_beside_forty_digits(seed):
    check(500, seed)


def test_compiled_for_one_matrix_and_for_batches():
    law = kt.compile(shapes={"A": (6, 7)})(undamped)
    check(30, 1, law, [(6, 7)])
    rng = np.random.default_rng(2)
    batch = np.array([degenerate(rng, 6, 7) for _ in range(30)])
    for A, got in zip(batch, law(batch), strict=True):
        np.testing.assert_array_equal(got, law(A))


def test_matrices_without_any_direction():
    for shape in SHAPES:
        np.testing.assert_array_equal(linalg.pseudo_inverse(np.zeros(shape)), np.zeros(shape[::-1]))


@pytest.mark.sweep
def test_derivatives_are_right_along_matrices_of_the_same_rank():
    """d(A⁺) of A = x yᵀ, whose pseudo-inverse is y xᵀ / (‖x‖² ‖y‖²); and finite where every direction gives another
    rank."""
    law = kt.compile(shapes={"x": (3,), "y": (4,)})(lambda x, y: linalg.pseudo_inverse(linalg.outer(x, y)))
    plain = kt.compile(shapes={"x": (3,), "y": (4,)})(lambda x, y: linalg.outer(y, x) / ((x @ x) * (y @ y)))
    x, y = np.array([0.3, -1.0, 0.7]), np.array([1.0, 2.0, -0.5, 0.1])
    for name in "xy":
        got = kt.jacobian(law, name)(x, y)
        np.testing.assert_allclose(got, kt.jacobian(plain, name)(x, y), atol=1e-12)
        assert np.isfinite(kt.jacobian(law, name)(0.0 * x, y)).all()
    of_matrix = kt.compile(shapes={"A": (3, 4)})(undamped)
    assert np.isfinite(kt.jacobian(of_matrix, "A")(np.ones((3, 4)))).all()


def test_full_rank_can_be_promised_for_speed():
    A = np.random.default_rng(0).normal(size=(6, 7))
    np.testing.assert_allclose(linalg.pseudo_inverse(A, full_rank=True), linalg.pseudo_inverse(A), atol=1e-11)


def test_a_basis_of_the_columns():
    rng = np.random.default_rng(3)
    for m, n, rank in ((7, 4, 2), (4, 9, 3), (5, 5, 5)):
        A = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n))
        Q = linalg.orthonormal_basis(A)
        assert Q.shape == (m, min(m, n)) and np.count_nonzero(np.abs(Q).max(axis=0)) == rank
        np.testing.assert_allclose(Q @ (Q.T @ A), A, atol=1e-12)
        np.testing.assert_allclose(Q.T @ Q, np.diag((np.abs(Q).max(axis=0) > 0).astype(float)), atol=1e-14)


ZEROS = (0, 0.0, -0.0, False, np.float64(0.0), np.float32(0.0), np.int64(0), np.array(0.0))


@pytest.mark.parametrize("zero", ZEROS, ids=repr)
def test_every_zero_is_no_damping(zero):
    A = np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 0.5, 2.0])
    np.testing.assert_array_equal(linalg.pseudo_inverse(A, zero), linalg.pseudo_inverse(A))
    np.testing.assert_allclose(linalg.pseudo_inverse(A, zero), np.linalg.pinv(A), atol=1e-14)


def by_singular_values(A, damping):
    U, s, V = np.linalg.svd(A, full_matrices=False)
    kept = s > 1e-10 * s[0]
    return V.T @ np.diag(np.where(kept, s / np.where(kept, s * s + damping**2, 1.0), 0.0)) @ U.T


def test_damping_of_every_size_as_an_argument_and_as_a_number():
    law = kt.compile(shapes={"A": (3, 4), "damping": ()})(linalg.pseudo_inverse)
    tall = kt.compile(shapes={"A": (4, 3), "damping": ()})(linalg.pseudo_inverse)
    slopes = kt.jacobian(law, "damping")
    full = np.random.default_rng(0).normal(size=(3, 4))
    full[2] = full[0] + 1e-5 * full[2]
    for A in (full, np.outer([1.0, 2.0, 3.0], [1.0, -1.0, 0.5, 2.0])):
        for damping in (0.0, 1e-12, 1e-8, 1e-6, 1e-4, 1e-2, 1.0, 1e3):
            exact = by_singular_values(A, damping)
            for got in (law(A, damping), tall(A.T, damping).T, linalg.pseudo_inverse(A, damping)):
                np.testing.assert_allclose(got, exact, atol=1e-6 * np.abs(exact).max())
            assert np.isfinite(slopes(A, damping)).all()


def test_matrices_of_every_size():
    law = kt.compile(shapes={"A": (2, 2)})(undamped)
    for function in (undamped, law):
        for size in (1e-300, 1e-250, 1e-200, 1e-20, 1.0, 1e20, 1e200, 1e300):
            if size > 1e-290:
                np.testing.assert_allclose(function(np.diag([2.0 * size, size])), np.diag([0.5 / size, 1.0 / size]))
            rank_one = function(np.full((2, 2), size))
            assert np.isfinite(rank_one).all()


def test_what_it_cannot_take_is_said():
    for damping in (-1.0, np.nan, np.inf, np.array([0.1]), "0.1", 1j):
        with pytest.raises(kt.ArgumentError, match=r"damping is .*; expected a positive number or zero"):
            linalg.pseudo_inverse(np.eye(2), damping)
    with pytest.raises(kt.ArgumentTypeError, match="the matrix is complex; expected real numbers"):
        linalg.pseudo_inverse(np.eye(2) * 1j)
