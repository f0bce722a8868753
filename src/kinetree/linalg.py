"""Small dense linear algebra over any scalars that `ops` knows, traced ones included: everything is unrolled."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from kinetree import ops
from kinetree.base.precision import tolerance
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.ops import Array, Scalar, cross, skew

__all__ = [
    "cross", "determinant", "inverse", "ltdl", "ltdl_solve", "minus_product", "norm", "orthonormal_basis", "outer",
    "pair_products", "plus_product", "pseudo_inverse", "skew", "solve", "unit_lower_solve", "unit_upper_solve",
]  # fmt: skip


RANK_TOLERANCE = 1e-10
"""A direction in which a matrix is smaller than this part of its size counts as zero.

This is the one threshold by which the library decides ranks: of Jacobians, of constraints and of the rows of solvers.
The size of a matrix is √(sum of squares of its entries). What is compared with it is how much is left of each row (or
column, whichever are fewer), the largest first, when its part along those before it is taken away. It applies to the
matrix itself, not to its square JᵀJ, whose rounding errors begin at 1e-8 of J. Where inertia weighs the directions, the
matrix is M^(-½) Jᵀ, of which A = J M⁻¹ Jᵀ is the square.

Some rows of a frame's Jacobian may be rounding alone, 1e-17 where the frame cannot move that way. So where rows are
some of those of a frame, the size is at least that of all its six rows, linear [m] and angular: with M, that of each
column j over √M_jj. For constraints these are all rows of the constrained frames.
"""
RANK_TOLERANCE_FLOAT32 = 1e-5
"""The same in compiled functions of float32 robots, whose rounding errors begin at 1e-7."""
MODERATE = 1e-4
"""Damping relative to a matrix from which on its square is formed, which then costs up to eight of sixteen digits."""
SQUARED = 1e-120
"""Numbers between this and its reciprocal can be squared and divided by."""
TINY = 1e-290
"""Largest entries below this are not divided by."""
FEW_ROWS = 6
"""Up to so many rows, expanding a determinant takes fewer operations than elimination."""


def ltdl(M: Array) -> tuple[Array, Array]:
    """Factors of a symmetric positive-definite M = Lᵀ D L, as (L, d) with unit lower-triangular L and D = diag(d).

    Eliminating from the last row to the first keeps the zeros of a mass matrix: L has a non-zero at (i, j) only where
    joint j supports body i (Featherstone 2008, section 6.5). Nothing is raised here: the caller judges the pivots d.
    """
    L = _floating(M).copy()
    n = len(L)
    for k in reversed(range(n)):
        scaled = L[k, :k] * ops.divide(1.0, L[k, k])  # one division a row: they take long
        for i in range(k):
            L[i, : i + 1] = L[i, : i + 1] - L[k, : i + 1] * scaled[i]
        L[k, :k] = scaled
    d = L.diagonal().copy()
    L[np.triu_indices(n)] = 0.0
    L[np.diag_indices(n)] = 1.0
    return L, d


def ltdl_solve(L: Array, d: Array, b: Array) -> Array:
    """x with Lᵀ D L x = b; b is a vector or the columns of a matrix."""
    found = ops.specialized("ltdl_solve", L, d, b)
    if found is not None:
        return np.asarray(found)
    return unit_lower_solve(L, unit_upper_solve(L, b), ops.divide(1.0, d))


def plus_product(C: Array, A: Array, B: Array) -> Array:
    """C + A B, of vectors or matrices C and B; large ones compile to loops."""
    found = ops.specialized("plus_product", C, A, B)
    return C + A @ B if found is None else np.asarray(found)


def minus_product(C: Array, A: Array, B: Array) -> Array:
    """C - A B, of vectors or matrices C and B; large ones compile to loops."""
    found = ops.specialized("minus_product", C, A, B)
    return C - A @ B if found is None else np.asarray(found)


def pair_products(A: Array, B: Array, pairs: Iterable[tuple[int, int]]) -> Mapping[tuple[int, int], Any] | Array:
    """A_i · B_j of the rows of two matrices, by (i, j), for these pairs at least; large ones compile to loops."""
    found = ops.specialized("pair_products", A, B)
    return {(i, j): A[i] @ B[j] for i, j in pairs} if found is None else np.asarray(found)


def unit_upper_solve(L: Array, b: Array) -> Array:
    """y with Lᵀ y = b, for a unit lower-triangular L."""
    found = ops.specialized("unit_upper_solve", L, b)
    if found is not None:
        return np.asarray(found)
    y = ops.zeros(b.shape, L, b)
    y[...] = b
    for i in reversed(range(len(L))):
        for j in range(i):
            y[j] = y[j] - L[i, j] * y[i]
    return y


def unit_lower_solve(L: Array, b: Array, scale: Array | None = None) -> Array:
    """x with L x = b, for a unit lower-triangular L; with a scale s, L x = diag(s) b."""
    found = ops.specialized("unit_lower_solve", L, b, scale)
    if found is not None:
        return np.asarray(found)
    x = ops.zeros(b.shape, L, b, *(() if scale is None else (scale,)))
    x[...] = b if scale is None else (b.T * scale).T
    for i in range(len(L)):
        for j in range(i):
            x[i] = x[i] - L[i, j] * x[j]
    return x


def solve(A: Array, b: Array, positive_definite: bool = False) -> Array:
    """x with A x = b for square A; b is a vector or the columns of a matrix.

    By elimination with pivoting, or by factors Lᵀ D L where A is known to be symmetric and positive definite: that
    takes a third of the work and keeps the zeros of a mass matrix.
    """
    A, b = _square(A), _floating(b)
    if b.ndim not in (1, 2) or len(b) != len(A):
        raise ArgumentError(f"the right-hand side has shape {b.shape}; expected {len(A)} rows, as the matrix has")
    if positive_definite:
        return ltdl_solve(*ltdl(A), b)
    n = len(A)
    rows = np.concatenate([A, b if b.ndim == 2 else b[:, None]], axis=1)
    for k in range(n):
        rows[k:], _ = _largest_first(rows[k:], k)
        reciprocal = ops.divide(1.0, rows[k, k])
        for i in range(k + 1, n):
            rows[i, k + 1 :] = rows[i, k + 1 :] - rows[k, k + 1 :] * (rows[i, k] * reciprocal)
    x = rows[:, n:]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            x[i] = x[i] - rows[i, j] * x[j]
        x[i] = x[i] * ops.divide(1.0, rows[i, i])
    return x.reshape(b.shape)


def _largest_first(rows: Array, column: int, sign: Any = 1.0) -> tuple[Array, Any]:
    """The rows with the one that is largest in a column moved to the first, also where that is not known yet; and the
    sign, turned round by every exchange."""
    rows = rows.copy()
    for i in range(1, len(rows)):
        swap = ops.less(ops.absolute(rows[0, column]), ops.absolute(rows[i, column]))
        rows[0], rows[i] = ops.where(swap, rows[i], rows[0]), ops.where(swap, rows[0], rows[i])
        sign = ops.where(swap, -sign, sign)
    return rows, sign


def inverse(A: Array, positive_definite: bool = False) -> Array:
    """A⁻¹; of a symmetric, positive-definite A it is exactly symmetric."""
    inverted = solve(A, np.eye(len(A)), positive_definite)
    return ops.mirrored(inverted) if positive_definite else inverted


def pseudo_inverse(A: Array, damping: float | Any = 0.0, *, full_rank: bool = False) -> Array:
    """A⁺: A⁺ b is the x of minimum norm among those with the least ‖A x - b‖, whatever the rank of A, which is decided
    by `RANK_TOLERANCE`.

    With damping λ ≥ 0 it is Aᵀ (A Aᵀ + λ² 1)⁻¹, for which x minimises ‖A x - b‖² + λ² ‖x‖². A damping that is traced
    may be zero. Where A is known to have full rank, or λ to be well above zero, `full_rank=True` takes this formula as
    it is: a third of the work, infinite or NaN if neither is so.
    """
    A, damping = _floating(_real(A)), _as_damping(damping)
    if A.ndim != 2:
        raise ArgumentError(f"the matrix has shape {A.shape}; expected two axes")
    if A.shape[0] > A.shape[1]:
        return pseudo_inverse(A.T, damping, full_rank=full_rank).T
    if not (full_rank or _is_large(damping, A)):
        return _by_orthogonal_factors(A.T, damping).T
    gram = ops.mirrored(A @ A.T)
    return solve(gram + np.eye(len(A)) * (damping * damping), A, positive_definite=True).T


def _by_orthogonal_factors(A: Array, damping: Any) -> Array:
    """A⁺ of a tall A, (n, k), that is first divided by its largest entry; with damping it is what (A, λ 1)⁺ does to the
    first n entries."""
    n, k = A.shape
    largest = reduce(ops.maximum, ops.absolute(A).ravel(), 0.0)
    scale = ops.divide(1.0, ops.where(ops.less(TINY, largest), largest, 1.0))
    if isinstance(damping, float) and damping == 0.0:
        return CompleteOrthogonal(A * scale).pseudo_inverse() * scale
    both = np.concatenate([A * scale, np.eye(k) * (damping * scale)])
    return CompleteOrthogonal(both).pseudo_inverse()[:, :n] * scale


def _as_damping(damping: Any) -> Any:
    """A number, or a scalar of a registered type."""
    if ops.is_registered(damping):
        return damping
    if isinstance(damping, np.ndarray) and damping.shape == () and ops.is_registered(damping.item()):
        return damping.item()
    number = np.asarray(damping)
    if number.shape != () or number.dtype.kind not in "biuf" or not 0.0 <= number < np.inf:
        raise ArgumentError(f"damping is {short(damping)}; expected a positive number or zero")
    return float(number)


def _is_large(damping: Any, A: Array) -> bool:
    """Whether λ is known to be so large beside A that A Aᵀ + λ² 1 loses nothing; entries that are not known count as
    1."""
    size = 1.0 if ops.is_scalar_array(A) else float(np.abs(A).max(initial=0.0))
    return (
        isinstance(damping, float)
        and damping > 0.0
        and MODERATE * size <= damping
        and SQUARED < damping < 1.0 / SQUARED
        and size < 1.0 / SQUARED
    )


def orthonormal_basis(A: Array, size: Scalar | None = None) -> Array:
    """Q, (n, min(n, k)), whose columns are orthonormal and span those of A, (n, k); as many are zero as the rank is
    less.

    Columns are orthogonalised one after another, the longest first (Gram and Schmidt, twice for each). Where A is what
    is left of a larger matrix, `size` is the sum of the squares of that one's entries, so that rounding counts as zero.
    """
    A = _floating(_real(A))
    n, k = A.shape
    steps = min(n, k)
    columns = [A[:, j] for j in range(k)]
    squares = [column @ column for column in columns]
    rank = tolerance(RANK_TOLERANCE, RANK_TOLERANCE_FLOAT32)
    least = (rank * rank) * (sum(squares, start=0.0) if size is None else size)
    Q = ops.zeros((n, steps), A)
    for s in range(steps):
        for j in range(s + 1, k):
            swap = ops.less(squares[s], squares[j])
            columns[s], columns[j] = ops.where(swap, columns[j], columns[s]), ops.where(swap, columns[s], columns[j])
            squares[s], squares[j] = ops.where(swap, squares[j], squares[s]), ops.where(swap, squares[s], squares[j])
        q = columns[s] - Q[:, :s] @ (Q[:, :s].T @ columns[s]) if s else columns[s]
        q = q * _reciprocal_root(q @ q, least)
        Q[:, s] = q
        for j in range(s + 1, k):
            along = q @ columns[j]
            columns[j] = columns[j] - q * along
            # the difference of squares says well enough which is the longest, unless some are never taken
            squares[j] = squares[j] - along * along if k == steps else columns[j] @ columns[j]
    return Q


class CompleteOrthogonal:
    """A = Q T V of a tall A, (n, k) with n ≥ k: Q has orthonormal columns and V orthonormal rows, as many as A has rank
    and zeros beyond, and T is lower triangular. So A⁺ = Vᵀ T⁻¹ Qᵀ (Golub and Van Loan, section 5.5)."""

    def __init__(self, A: Array, size: Scalar | None = None) -> None:
        self.Q = orthonormal_basis(A, size)
        W = self.Q.T @ A
        k = len(W)
        self.V, self.T = ops.zeros((k, A.shape[1]), A), ops.zeros((k, k), A)
        self.reciprocals = ops.zeros(k, A)
        for i in range(k):
            row = W[i]
            for _ in range(2 if i else 0):
                along = self.V[:i] @ row
                self.T[i, :i] = self.T[i, :i] + along
                row = row - along @ self.V[:i]
            self.reciprocals[i] = _reciprocal_root(row @ row, 0.0)
            self.V[i] = row * self.reciprocals[i]

    def pseudo_inverse(self) -> Array:
        """A⁺, (k, n)."""
        return self.V.T @ self._forward(self.Q.T)

    def solve(self, b: Array) -> Array:
        """A⁺ b; b is a vector of n or the columns of a matrix."""
        return self.V.T @ self._forward(self.Q.T @ b)

    def solve_transposed(self, c: Array) -> Array:
        """(Aᵀ)⁺ c; c is a vector of k or the columns of a matrix."""
        y = self.V @ c
        for i in reversed(range(len(y))):
            for j in range(i + 1, len(y)):
                y[i] = y[i] - self.T[j, i] * y[j]
            y[i] = y[i] * self.reciprocals[i]
        return self.Q @ y

    def _forward(self, b: Array) -> Array:
        """T⁻¹ b, with zeros beyond the rank."""
        y = b.copy()
        for i in range(len(y)):
            for j in range(i):
                y[i] = y[i] - self.T[i, j] * y[j]
            y[i] = y[i] * self.reciprocals[i]
        return y


def _reciprocal_root(square: Any, threshold: Any) -> Any:
    """1/√square where that is above the threshold, else zero; its derivatives are finite in both cases."""
    counts = ops.less(threshold, square)
    return ops.where(counts, ops.divide(1.0, ops.sqrt(ops.where(counts, square, 1.0))), 0.0)


def determinant(A: Array, positive_definite: bool = False) -> Scalar:
    """det A: of a few rows by expansion along the first column, of more by elimination with pivoting.

    Where A is known to be symmetric and positive definite, as the product of D in A = Lᵀ D L.
    """
    A = _square(A)
    if positive_definite:
        return _product(ltdl(A)[1])
    return _expanded(A) if len(A) <= FEW_ROWS else _eliminated(A)


def _expanded(A: Array) -> Scalar:
    if len(A) == 0:
        return 1.0
    total: Any = 0.0
    for i, first in enumerate(A[:, 0]):
        minor = _expanded(np.delete(A[:, 1:], i, axis=0))
        total = total - first * minor if i % 2 else total + first * minor
    return total


def _eliminated(A: Array) -> Scalar:
    """The product of the pivots, with a sign for every exchange of rows; a column of zeros makes it zero, not NaN."""
    rows = A.copy()
    sign: Any = 1.0
    for k in range(len(rows)):
        rows[k:], sign = _largest_first(rows[k:], k, sign)
        pivot = rows[k, k]
        reciprocal = ops.divide(1.0, ops.where(ops.equal(pivot, 0.0), 1.0, pivot))
        for i in range(k + 1, len(rows)):
            rows[i, k + 1 :] = rows[i, k + 1 :] - rows[k, k + 1 :] * (rows[i, k] * reciprocal)
    return sign * _product(rows.diagonal())


def _product(factors: Array) -> Scalar:
    return reduce(operator.mul, factors, 1.0)


def norm(x: Array) -> Scalar:
    """√Σx²; at zero its first derivative is taken to be zero, and so are the others."""
    x = _floating(x).ravel()
    squared = x @ x
    positive = ops.less(0.0, squared)
    return ops.where(positive, ops.sqrt(ops.where(positive, squared, 1.0)), ops.where(positive, 0.0, squared))


def outer(a: Array, b: Array) -> Array:
    """a bᵀ."""
    return np.multiply.outer(np.asarray(a), np.asarray(b))


def _floating(A: Array) -> Array:
    """An array that can hold quotients: integers and truth values become floats."""
    A = np.asarray(A)
    return A.astype(np.float64) if A.dtype.kind in "biu" else A


def _real(A: Array) -> Array:
    """The matrix, unless it is complex."""
    A = np.asarray(A)
    if A.dtype.kind == "c":
        raise ArgumentTypeError("the matrix is complex; expected real numbers")
    return A


def _square(A: Array) -> Array:
    A = _floating(A)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ArgumentError(f"the matrix has shape {A.shape}; expected as many rows as columns")
    return A
