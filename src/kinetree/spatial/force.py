"""Spatial forces (wrenches): f_hat = (f, n), a force through the origin and a moment about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.ops import Array, cross
from kinetree.spatial.packing import SpatialOrder, pack, unpack


@dataclass(frozen=True, slots=True, eq=False)
class Force:
    """Force [N] and moment [N m] about the origin of the frame in whose axes both are expressed; also a momentum."""

    force: Array
    moment: Array
    __array_ufunc__ = None

    @staticmethod
    def zero() -> Force:
        return Force(np.zeros(3), np.zeros(3))

    @staticmethod
    def from_vector(six: Array, order: SpatialOrder = "linear-first") -> Force:
        return Force(*unpack(six, order))

    def vector(self, order: SpatialOrder = "linear-first") -> Array:
        return pack(self.force, self.moment, order)

    def __add__(self, other: Force) -> Force:
        return Force(self.force + other.force, self.moment + other.moment)

    def __sub__(self, other: Force) -> Force:
        return Force(self.force - other.force, self.moment - other.moment)

    def __neg__(self) -> Force:
        return Force(-self.force, -self.moment)

    def __mul__(self, scale: Any) -> Force:
        return Force(self.force * scale, self.moment * scale)

    __rmul__ = __mul__

    def rotated(self, R: Array) -> Force:
        """The same wrench about the same origin, in the axes that R leads to."""
        return Force(R @ self.force, R @ self.moment)

    def moved(self, r: Array) -> Force:
        """The same wrench about a point displaced by r: n - r × f."""
        return Force(self.force, self.moment - cross(r, self.force))
