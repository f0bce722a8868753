"""Small dense factorisations over any scalars that `ops` knows."""

from __future__ import annotations

import numpy as np

from kinetree import ops
from kinetree.ops import Array


def ltdl(M: Array) -> tuple[Array, Array]:
    """Factors of a symmetric positive-definite M = Lᵀ D L, as (L, d) with unit lower-triangular L and D = diag(d).

    Eliminating from the last row to the first keeps the zeros of a mass matrix: L has a non-zero at (i, j) only where
    joint j supports body i (Featherstone 2008, section 6.5). Nothing is raised here: the caller judges the pivots d.
    """
    n = len(M)
    L = M.copy()
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
    n = len(d)
    x = ops.zeros(b.shape, L, d, b)
    x[...] = b
    for i in reversed(range(n)):  # Lᵀ y = b
        for j in range(i):
            x[j] = x[j] - L[i, j] * x[i]
    for i in range(n):  # D z = y, L x = z
        x[i] = x[i] * ops.divide(1.0, d[i])
        for j in range(i):
            x[i] = x[i] - L[i, j] * x[j]
    return x


def solve(M: Array, b: Array) -> Array:
    """x with M x = b for symmetric positive-definite M."""
    return ltdl_solve(*ltdl(M), b)
