"""Spatial forces (wrenches): f_hat = (f, n), a force through the origin and a moment about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.ops import Array, cross
from kinetree.spatial.last_axes import times
from kinetree.spatial.operands import are_vectors, broadcast, is_scale, operands, require_broadcast
from kinetree.spatial.packing import SpatialOrder, pack_last, unpack_last


@dataclass(frozen=True, slots=True, eq=False)
class Force:
    """Force [N] and moment [N m] about the origin of the frame in whose axes both are expressed; also a momentum.

    Both are (…, 3): one force, or any leading axes of them, which broadcast in sums and products.
    """

    force: Array
    moment: Array
    __array_ufunc__ = None

    def __post_init__(self) -> None:
        if not are_vectors(self.force, self.moment):
            force, moment = operands("force", self.force, (3,)), operands("moment", self.moment, (3,))
            force, moment = broadcast("force", force, 1, "moment", moment, 1)
            object.__setattr__(self, "force", force)
            object.__setattr__(self, "moment", moment)

    @staticmethod
    def zero() -> Force:
        return Force(np.zeros(3), np.zeros(3))

    @staticmethod
    def from_vector(six: ArrayLike, order: SpatialOrder = "linear-first") -> Force:
        """The force of 6-vectors, (…, 6)."""
        return Force(*unpack_last(operands("six", six, (6,)), order))

    def vector(self, order: SpatialOrder = "linear-first") -> Array:
        """The 6-vector, (…, 6)."""
        return pack_last(self.force, self.moment, order)

    def __add__(self, other: Force) -> Force:
        if not isinstance(other, Force):
            return NotImplemented
        if self.force.shape != other.force.shape:
            require_broadcast("one", self.force, "the other", other.force)
        return Force(self.force + other.force, self.moment + other.moment)

    def __sub__(self, other: Force) -> Force:
        if not isinstance(other, Force):
            return NotImplemented
        if self.force.shape != other.force.shape:
            require_broadcast("one", self.force, "the other", other.force)
        return Force(self.force - other.force, self.moment - other.moment)

    def __neg__(self) -> Force:
        return Force(-self.force, -self.moment)

    def __mul__(self, scale: Any) -> Force:
        if not is_scale(scale):
            return NotImplemented
        return Force(self.force * scale, self.moment * scale)

    __rmul__ = __mul__

    def rotated(self, R: Array) -> Force:
        """The same wrench about the same origin, in the axes that R leads to."""
        if type(R) is not np.ndarray or R.shape != (3, 3):
            R = operands("R", R, (3, 3))
            require_broadcast("force", self.force, "R", R, 2)
        return Force(times(R, self.force), times(R, self.moment))

    def moved(self, r: Array) -> Force:
        """The same wrench about a point displaced by r: n - r × f."""
        if type(r) is not np.ndarray or r.shape != (3,):
            r = operands("r", r, (3,))
            require_broadcast("force", self.force, "r", r)
        return Force(self.force, self.moment - cross(r, self.force))
