"""The spatial inertia of a rigid body, (m, h, I): mass, first moment and rotational inertia about the origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.arguments import as_constant, as_number
from kinetree.ops import Array, cross, skew
from kinetree.spatial.force import Force
from kinetree.spatial.motion import Motion
from kinetree.spatial.packing import SpatialOrder


@dataclass(frozen=True, slots=True, eq=False)
class Inertia:
    """Mass [kg], first moment h = m c [kg m] and rotational inertia about the *origin* [kg m²].

    As a matrix that maps a motion to a momentum, linear first: ``[[m 1, -[h]×], [[h]×, I]]``.
    """

    mass: Any
    h: Array
    I: Array  # noqa: E741 - the textbook's name

    @staticmethod
    def zero() -> Inertia:
        return Inertia(0.0, np.zeros(3), np.zeros((3, 3)))

    @staticmethod
    def from_com(mass: float, com: ArrayLike, rotational: ArrayLike) -> Inertia:
        """From the rotational inertia about the centre of mass `com`, (3, 3) and (3,) (parallel-axis theorem)."""
        m, c = as_number("mass", mass), as_constant("com", com, (3,))
        about_com = as_constant("rotational", rotational, (3, 3))
        with np.errstate(all="ignore"):  # what is not finite is refused where a link takes it
            return Inertia(m, m * c, about_com - m * (skew(c) @ skew(c)))

    @property
    def com(self) -> Array:
        """Centre of mass [m]; the origin for a massless body."""
        return self.h / self.mass if self.mass else np.zeros(3)

    @property
    def about_com(self) -> Array:
        """Rotational inertia about the centre of mass [kg m²]."""
        c = skew(self.com)
        return self.I + self.mass * (c @ c)

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.mass + other.mass, self.h + other.h, self.I + other.I)

    def __mul__(self, V: Motion) -> Force:
        """The momentum of the body moving with V; the net force, for an acceleration."""
        v, w = V.linear, V.angular
        return Force(v * self.mass + cross(w, self.h), self.I @ w + cross(self.h, v))

    def net_force(self, V: Motion, A: Motion) -> Force:
        """I a + v ×* I v, the force that moves the body so, summed over its points in the cheapest way known.

        The point at r accelerates by a' + W r with a' = a + ω × v and W = [α]× + [ω]×². With the second moments
        Σ = ∫ r rᵀ dm = ½ tr(I) 1 - I the force is m a' + W h, and the moment h × a' + ∫ r × W r dm, where the integral
        is the axial vector of W Σ - (W Σ)ᵀ.
        """
        linear = A.classical(V).linear
        w = skew(V.angular)
        W = skew(A.angular) + w @ w
        second = 0.5 * np.trace(self.I) * np.eye(3) - self.I
        P = W @ second
        turning = np.array([P[2, 1] - P[1, 2], P[0, 2] - P[2, 0], P[1, 0] - P[0, 1]])
        return Force(linear * self.mass + W @ self.h, turning + cross(self.h, linear))

    def matrix(self, order: SpatialOrder = "linear-first") -> Array:
        """The 6×6 matrix, (6, 6)."""
        units = (Motion.from_vector(e, order) for e in np.eye(6))
        return np.array([(self * unit).vector(order) for unit in units]).T
