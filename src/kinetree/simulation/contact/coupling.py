"""What impulses at some contacts do to the velocities of others, two ways.

With M = Lᵀ D L and Y = L⁻ᵀ Jᵀ as in `DelassusOperator`, W p = Yᵀ D⁻¹ Y p. Either W is there, and a row of blocks is
multiplied by all impulses; or w = D⁻¹ Y p is kept up to date, and every contact looks at the part of w that moves its
own bodies. The first costs more with every contact, the second with every joint on the way to one; the cheaper one is
taken.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from kinetree.algorithms.constraints import DelassusOperator
from kinetree.ops import Array, Scalar, zeros


@dataclass(frozen=True)
class Place:
    """A contact in the equations: its rows of J, and the entries of v that move its bodies."""

    rows: slice
    columns: Array

    @property
    def last(self) -> Place:
        """Its last row alone, the normal one."""
        return Place(slice(self.rows.stop - 1, self.rows.stop), self.columns)


class Coupling(ABC):
    """Impulses p of contacts."""

    def __init__(self, delassus: DelassusOperator, places: Sequence[Place], p: Array) -> None:
        self.delassus, self.places = delassus, places
        self.p = [p[at.rows] for at in places]

    @abstractmethod
    def velocity(self, k: int) -> Array:
        """What all impulses do to contact k."""

    @abstractmethod
    def change(self, k: int, p: Array) -> None:
        """Give contact k another impulse."""

    def change_normal(self, k: int, p_n: Scalar) -> None:
        """Give contact k another normal impulse."""
        self.change(k, np.array([*self.p[k][:-1], p_n]))


@final
class ByMatrix(Coupling):
    """Multiplies W."""

    def velocity(self, k: int) -> Array:
        total, rows = np.zeros(len(self.p[k])), self.places[k].rows
        for other, p in zip(self.places, self.p, strict=True):
            total = total + self.delassus.A[rows, other.rows] @ p
        return total

    def change(self, k: int, p: Array) -> None:
        self.p[k] = p


@final
class ByMotion(Coupling):
    """Keeps w = D⁻¹ Y p."""

    def __init__(self, delassus: DelassusOperator, places: Sequence[Place], p: Array) -> None:
        super().__init__(delassus, places, p)
        self.w = zeros(len(delassus.Y), delassus.Y)
        for at, own in zip(places, self.p, strict=True):
            self.w[at.columns] = self.w[at.columns] + delassus.W[at.columns, at.rows] @ own

    def velocity(self, k: int) -> Array:
        at = self.places[k]
        return self.delassus.Y[at.columns, at.rows].T @ self.w[at.columns]

    def change(self, k: int, p: Array) -> None:
        at = self.places[k]
        self.w[at.columns] = self.w[at.columns] + self.delassus.W[at.columns, at.rows] @ (p - self.p[k])
        self.p[k] = p


def coupling(delassus: DelassusOperator, places: Sequence[Place], p: Array) -> Coupling:
    """Impulses p with what they do computed the cheaper way."""
    sizes = [at.rows.stop - at.rows.start for at in places]
    by_motion = sum(2 * size * len(at.columns) for at, size in zip(places, sizes, strict=True))
    return (ByMotion if by_motion < sum(sizes) ** 2 else ByMatrix)(delassus, places, p)


def block(delassus: DelassusOperator, at: Place) -> Array:
    """W of one contact."""
    return delassus.Y[at.columns, at.rows].T @ delassus.W[at.columns, at.rows]
