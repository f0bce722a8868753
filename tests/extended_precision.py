"""Pseudo-inverses by singular values in 40 digits, and how well a float can agree with them."""

from __future__ import annotations

import mpmath
import numpy as np

from kinetree.linalg import RANK_TOLERANCE

DIGITS = 40


class Decomposed:
    """Singular values and pseudo-inverse of M^(-½) Jᵀ with M = C Cᵀ, or of Jᵀ without M; `whole` has all the rows
    of which J are some, by whose size ranks are decided."""

    def __init__(self, J, M=None, whole=None):
        with mpmath.workdps(DIGITS):
            self.J = mpmath.matrix(J.tolist())
            self.C = mpmath.eye(J.shape[1]) if M is None else mpmath.cholesky(mpmath.matrix(M.tolist()))
            self.root = mpmath.inverse(self.C)
            G = self.root * self.J.T
            U, s, V = mpmath.svd_r(G, full_matrices=False)
            size = (
                mpmath.norm(s, 2) if whole is None else mpmath.mnorm(self.root * mpmath.matrix(whole.T.tolist()), "f")
            )
            self.relative = np.array([float(x / size) if size else 0.0 for x in s])
            kept = [x > RANK_TOLERANCE * size for x in s]
            self.rank = sum(kept)
            inverse = mpmath.diag([1 / x if keep else mpmath.mpf(0) for x, keep in zip(s, kept, strict=True)])
            self.pseudo = V.T * inverse * U.T

    @property
    def is_clear(self):
        """No singular value is so near to the tolerance that it may count or not."""
        return not np.any((self.relative > 1e-3 * RANK_TOLERANCE) & (self.relative < 1e2 * RANK_TOLERANCE))

    @property
    def accuracy(self):
        """By how much of its size a result may be off: the rounding of J over the least value that counts."""
        kept, dropped = self.relative[: self.rank], self.relative[self.rank :].max(initial=0.0)
        return 3.0 * (3e-15 + dropped) / kept.min(initial=1.0) + 1e-14

    def inertia(self):
        with mpmath.workdps(DIGITS):
            return as_floats(self.pseudo * self.pseudo.T)

    def inverse(self):
        """M⁻¹ Jᵀ Λ, or J⁺."""
        with mpmath.workdps(DIGITS):
            return as_floats(self.root.T * self.pseudo.T)

    def null_space(self):
        with mpmath.workdps(DIGITS):
            n = self.C.rows
            return as_floats(mpmath.eye(n) - self.root.T * self.pseudo.T * self.J)


def as_floats(matrix):
    return np.array(matrix.tolist(), dtype=np.float64).reshape(matrix.rows, matrix.cols)


def agree(got, expected, accuracy):
    """Whether results differ by less than this part of their size."""
    return np.abs(got - expected).max(initial=0.0) <= accuracy * max(1.0, np.abs(expected).max(initial=0.0))
