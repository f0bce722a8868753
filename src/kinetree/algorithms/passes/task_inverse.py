"""The inverses of a Jacobian in which inertia weighs the joints, at full rank and at any.

With M = Lᵀ D L and G = D^(-½) L⁻ᵀ Jᵀ, A = J M⁻¹ Jᵀ = Gᵀ G. So

    Λ = A⁺ = G⁺ (G⁺)ᵀ         symmetric and positive semidefinite
    J̄ = M⁻¹ Jᵀ Λ = L⁻¹ D^(-½) (Gᵀ)⁺
    N = 1 - J̄ J = 1 - L⁻¹ D^(-½) Q Qᵀ D^½ L, with an orthonormal basis Q of the columns of G

and for M = 1 these are J⁺ and 1 - J⁺ J. `AnyRank` has them by orthogonal factors of G. `FullRank` factors A instead,
which takes a third of the work and squares what is small; it says where that is not good enough.

J may be some rows of a larger Jacobian, all of them small or rounding. `columns`, (nv,), are then the sums of squares
of the columns of that one: what is small beside Σ columns_j / M_jj counts as zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.base.lazy import lazy
from kinetree.base.precision import tolerance
from kinetree.linalg import (
    RANK_TOLERANCE,
    RANK_TOLERANCE_FLOAT32,
    CompleteOrthogonal,
    inverse,
    ltdl,
    ltdl_solve,
    orthonormal_basis,
    unit_lower_solve,
    unit_upper_solve,
)
from kinetree.ops import Array, Scalar, divide, less_equal, logical_not, logical_or, maximum, mirrored, require, sqrt

INDEPENDENT = 1e-7
"""The determinant of A with its diagonal scaled to 1 is 1 for orthogonal rows and 0 for dependent ones. Below this the
factors of A lose more digits than Λ can spare: that decides no rank, but which of the two ways is taken."""


class Factors:
    """Orthogonal factors of a matrix G of any shape and rank: those of Gᵀ where that is taller. `size` is what ranks
    are measured by, squared."""

    def __init__(self, G: Array, size: Scalar | None = None) -> None:
        self._is_tall = G.shape[0] >= G.shape[1]
        self._factors = CompleteOrthogonal(G if self._is_tall else G.T, size)

    def solve(self, b: Array) -> Array:
        """G⁺ b."""
        return self._factors.solve(b) if self._is_tall else self._factors.solve_transposed(b)

    def solve_transposed(self, c: Array) -> Array:
        """(Gᵀ)⁺ c."""
        return self._factors.solve_transposed(c) if self._is_tall else self._factors.solve(c)

    @property
    def basis(self) -> Array:
        """Orthonormal columns that span those of G."""
        return self._factors.Q if self._is_tall else self._factors.V.T

    def projector(self) -> Array:
        """R Rᵀ with an orthonormal basis R of the rows of G: it projects on what Gᵀ x can be."""
        R = self._factors.V.T if self._is_tall else self._factors.Q
        return mirrored(R @ R.T)


class AnyRank:
    """Inverses by orthogonal factors of G, whose rank `RANK_TOLERANCE` decides."""

    def __init__(self, M: Array, J: Array, columns: Array | None = None) -> None:
        self.J = J
        self.whole = None if columns is None else size_of(M, columns)
        self.L, self.d = ltdl(M)
        self.root = sqrt(self.d)
        self.G = self._halved(J.T)

    @lazy
    def _factors(self) -> Factors:
        return Factors(self.G, self._size)

    @lazy
    def _size(self) -> Scalar | None:
        """The size that ranks are measured by, squared."""
        return None if self.whole is None else maximum(self.whole, (self.G * self.G).sum())

    def _halved(self, tau: Array) -> Array:
        """D^(-½) L⁻ᵀ τ."""
        scaled = divide(1.0, self.root)
        return unit_upper_solve(self.L, tau) * (scaled if tau.ndim == 1 else scaled[:, None])

    def _doubled(self, x: Array) -> Array:
        """L⁻¹ D^(-½) x."""
        scaled = divide(1.0, self.root)
        return unit_lower_solve(self.L, x * (scaled if x.ndim == 1 else scaled[:, None]))

    def inertia(self) -> Array:
        """Λ, (k, k)."""
        P = self._factors.solve(np.eye(len(self.d)))
        return mirrored(P @ P.T)

    def force(self, acceleration: Array) -> Array:
        """Λ times an acceleration of the task."""
        return self._factors.solve(self._factors.solve_transposed(acceleration))

    def force_of(self, tau: Array, drift: Array | None = None) -> Array:
        """Λ (J M⁻¹ τ - drift): J̄ᵀ τ is the force that torques make at the task."""
        halved = self._halved(tau)
        return self._factors.solve(halved if drift is None else halved - self._factors.solve_transposed(drift))

    def consistent_inverse(self) -> Array:
        """J̄, (nv, k)."""
        return self._doubled(self._factors.solve_transposed(np.eye(len(self.J))))

    def null_space(self) -> Array:
        """N, (nv, nv)."""
        Q = orthonormal_basis(self.G, self._size)
        rooted = self.L * self.root[:, None]
        return np.eye(len(self.d)) - self._doubled(Q) @ (Q.T @ rooted)

    def directions(self) -> Array:
        """Λ A, (k, k), which projects on the accelerations that the task can have."""
        return self._factors.projector()


class Delassus:
    """A = J M⁻¹ Jᵀ = Yᵀ D⁻¹ Y with Y = L⁻ᵀ Jᵀ: accelerations along the rows of J due to forces along them."""

    def __init__(self, M: Array, J: Array) -> None:
        self.J = J
        self.L, self.d = ltdl(M)
        self.inverse_d = divide(1.0, self.d)
        self.Y = unit_upper_solve(self.L, J.T)
        self.W = self.Y * self.inverse_d[:, None]

    @lazy
    def A(self) -> Array:
        """J M⁻¹ Jᵀ, (k, k)."""
        return mirrored(self.Y.T @ self.W)

    def acceleration(self, tau: Array) -> Array:
        """J M⁻¹ τ: in these directions, due to torques."""
        return self.W.T @ unit_upper_solve(self.L, tau)


class FullRank(Delassus):
    """Inverses by factors of A, for a J of full row rank."""

    def __init__(self, M: Array, J: Array, columns: Array | None = None) -> None:
        super().__init__(M, J)
        self.whole = None if columns is None else columns @ self.inverse_d  # not less than with M_jj
        require(logical_not(self._is_doubtful()), _no_error)

    @lazy
    def _factors(self) -> tuple[Array, Array]:
        return ltdl(self.A)

    def _is_doubtful(self) -> Any:
        """Whether A is too near to singular: `AnyRank` then serves."""
        diagonal = self.A.diagonal()
        size = diagonal.sum() if self.whole is None else maximum(self.whole, diagonal.sum())
        tiny = tolerance(RANK_TOLERANCE, RANK_TOLERANCE_FLOAT32) * size  # a row this small may count as zero
        independence, doubtful = 1.0, False
        for pivot, entry in zip(self._factors[1], diagonal, strict=True):
            independence = independence * pivot * divide(1.0, entry)
            doubtful = logical_or(doubtful, less_equal(pivot, tiny))
        return logical_or(doubtful, less_equal(independence, tolerance(INDEPENDENT, 1e-3)))

    def inertia(self) -> Array:
        """Λ, (k, k)."""
        return inverse(self.A, positive_definite=True)

    def force(self, acceleration: Array) -> Array:
        """Λ times an acceleration of the task."""
        return ltdl_solve(*self._factors, acceleration)

    def force_of(self, tau: Array, drift: Array | None = None) -> Array:
        """Λ (J M⁻¹ τ - drift)."""
        acceleration = self.acceleration(tau)
        return self.force(acceleration if drift is None else acceleration - drift)

    def consistent_inverse(self) -> Array:
        """J̄, (nv, k)."""
        return unit_lower_solve(self.L, self.W @ self.inertia())

    def null_space(self) -> Array:
        """N, (nv, nv)."""
        return np.eye(len(self.d)) - unit_lower_solve(self.L, self.W) @ self.force(self.J)

    def directions(self) -> Array:
        """All of them."""
        return np.eye(len(self.J))


def _no_error() -> None:
    """rows of the task depend on each other at this state, or nearly so

    On numbers nothing is refused: who asks for full rank knows what he does.
    """


def size_of(M: Array, columns: Array) -> Scalar:
    """Σ columns_j / M_jj."""
    return (columns * divide(1.0, M.diagonal())).sum()


def generic_rank(jacobians: list[Array], columns: list[int] | None = None, sizes: list[float] | None = None) -> int:
    """The largest rank of some Jacobians, or of some of their columns: wherever the robot is, it is not more. Sizes are
    their own unless given."""
    whole = [float(np.linalg.norm(J)) for J in jacobians] if sizes is None else sizes
    parts = [J if columns is None else J[:, columns] for J in jacobians]
    pairs = zip(parts, whole, strict=True)
    return max(
        (int(np.linalg.matrix_rank(part, RANK_TOLERANCE * size)) for part, size in pairs if part.size), default=0
    )
