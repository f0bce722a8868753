"""Articulated-body inertia: the apparent inertia of a body whose subtree hangs on it by free joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.ops import Array, mirrored, skew
from kinetree.spatial.force import Force
from kinetree.spatial.inertia import Inertia
from kinetree.spatial.motion import Motion


@dataclass(frozen=True, slots=True, eq=False)
class ArticulatedInertia:
    """A symmetric 6×6 matrix, linear first ``[[M, Hᵀ], [H, I]]``; unlike a rigid body's, its mass M is a matrix."""

    M: Array
    H: Array
    I: Array  # noqa: E741 - the textbook's name

    @staticmethod
    def of(rigid: Inertia) -> ArticulatedInertia:
        return ArticulatedInertia(rigid.mass * np.eye(3), skew(rigid.h), rigid.I)

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.M + other.M, self.H + other.H, self.I + other.I)

    def __sub__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.M - other.M, self.H - other.H, self.I - other.I)

    def __mul__(self, A: Motion) -> Force:
        a, alpha = A.linear, A.angular
        return Force(self.M @ a + self.H.T @ alpha, self.H @ a + self.I @ alpha)

    @staticmethod
    def outer(F: Force, G: Force) -> ArticulatedInertia:
        """F Gᵀ where that is symmetric, or one term of a symmetric sum Σ F Gᵀ (only upper triangles are formed)."""
        M, I = np.outer(F.force, G.force), np.outer(F.moment, G.moment)  # noqa: E741
        return ArticulatedInertia(mirrored(M), np.outer(F.moment, G.force), mirrored(I))
