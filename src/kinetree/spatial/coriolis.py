"""The part of a body's inertia force that is bilinear in velocities: B(V) with B V = V ×* I V."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.ops import Array, cross, skew
from kinetree.spatial.force import Force
from kinetree.spatial.inertia import Inertia
from kinetree.spatial.motion import Motion


@dataclass(frozen=True, slots=True, eq=False)
class CoriolisInertia:
    """B = ½ (V ×* I - I V× + (I V) ×̄*), where f ×̄* stands for the matrix with (f ×̄*) U = U ×* f.

    Multiplied out, linear first, with momentum π = m v + ω × h and second moments Σ = ½ tr(I) 1 - I:

        B = [[0, -[π]×], [0, N]],     N = -[h]× [v]× - [ω]× Σ

    B + Bᵀ = V ×* I - I V× is the rate of I seen from a frame at rest, which makes Ṁ - 2C skew-symmetric (Echeandia and
    Wensing 2021). Sums over bodies have the same form, in any one frame.
    """

    momentum: Array
    N: Array

    @staticmethod
    def zero() -> CoriolisInertia:
        return CoriolisInertia(np.zeros(3), np.zeros((3, 3)))

    @staticmethod
    def of(inertia: Inertia, V: Motion) -> CoriolisInertia:
        """B of a body that moves with V."""
        v, w = V.linear, V.angular
        momentum = v * inertia.mass + cross(w, inertia.h)
        return CoriolisInertia(momentum, -(skew(inertia.h) @ skew(v)) - skew(w) @ inertia.second_moments)

    def __add__(self, other: CoriolisInertia) -> CoriolisInertia:
        return CoriolisInertia(self.momentum + other.momentum, self.N + other.N)

    def __mul__(self, U: Motion) -> Force:
        """B U."""
        return Force(-cross(self.momentum, U.angular), self.N @ U.angular)

    def transposed_times(self, U: Motion) -> Force:
        """Bᵀ U."""
        return Force(np.zeros(3), cross(self.momentum, U.linear) + self.N.T @ U.angular)
