"""Products of vectors and matrices along the last axes of batches, of numbers and of traced values."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.ops import Array, divide, skew


def times(A: Array, x: Array) -> Array:
    """A x, of matrices (…, m, n) and vectors (…, n)."""
    if A.ndim == 2 and x.ndim == 1:
        return A @ x
    return (A @ x[..., None])[..., 0]


def transposed_times(A: Array, x: Array) -> Array:
    """Aᵀ x, of matrices (…, m, n) and vectors (…, m)."""
    return (x[..., None, :] @ A)[..., 0, :]


def transposed(A: Array) -> Array:
    """Aᵀ, along the last two axes."""
    return A.T if A.ndim == 2 else np.swapaxes(A, -1, -2)


def cross_last(a: Array, b: Array) -> Array:
    """a × b, of vectors (…, 3)."""
    return times(skew(a), b)


def dot_last(a: Array, b: Array) -> Any:
    """aᵀ b, of vectors (…, n)."""
    return a @ b if a.ndim == b.ndim == 1 else (a * b).sum(-1)


def solved(A: Array, b: Array) -> Array:
    """A⁻¹ b of matrices (…, 3, 3) and vectors (…, 3), by Cramer's rule; infinite or NaN where A is singular."""
    x, y, z = (A[..., k] for k in range(3))  # columns
    volume = (x * cross_last(y, z)).sum(-1)
    parts = [(b * cross_last(y, z)).sum(-1), (x * cross_last(b, z)).sum(-1), (x * cross_last(y, b)).sum(-1)]
    return np.stack([divide(part, volume) for part in parts], axis=-1)
