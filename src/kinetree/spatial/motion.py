"""Spatial motions (twists and their rates): v_hat = (v, ω)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentTypeError, short
from kinetree.ops import Array, cross, skew
from kinetree.spatial.force import Force
from kinetree.spatial.last_axes import dot_last, times
from kinetree.spatial.operands import are_vectors, broadcast, is_scale, operands, require_broadcast
from kinetree.spatial.packing import SpatialOrder, block_matrix, pack_last, unpack_last


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """Velocity [m/s] of the body-fixed point at the origin and angular velocity [rad/s]; also an acceleration.

    Both are (…, 3): one motion, or any leading axes of them, which broadcast in sums and products.
    """

    linear: Array
    angular: Array
    __array_ufunc__ = None

    def __post_init__(self) -> None:
        if not are_vectors(self.linear, self.angular):
            linear, angular = operands("linear", self.linear, (3,)), operands("angular", self.angular, (3,))
            linear, angular = broadcast("linear", linear, 1, "angular", angular, 1)
            object.__setattr__(self, "linear", linear)
            object.__setattr__(self, "angular", angular)

    @staticmethod
    def zero() -> Motion:
        return Motion(np.zeros(3), np.zeros(3))

    @staticmethod
    def from_vector(six: ArrayLike, order: SpatialOrder = "linear-first") -> Motion:
        """The motion of 6-vectors, (…, 6)."""
        return Motion(*unpack_last(operands("six", six, (6,)), order))

    def vector(self, order: SpatialOrder = "linear-first") -> Array:
        """The 6-vector, (…, 6)."""
        return pack_last(self.linear, self.angular, order)

    def __add__(self, other: Motion) -> Motion:
        if not isinstance(other, Motion):
            return NotImplemented
        if self.linear.shape != other.linear.shape:
            require_broadcast("one", self.linear, "the other", other.linear)
        return Motion(self.linear + other.linear, self.angular + other.angular)

    def __sub__(self, other: Motion) -> Motion:
        if not isinstance(other, Motion):
            return NotImplemented
        if self.linear.shape != other.linear.shape:
            require_broadcast("one", self.linear, "the other", other.linear)
        return Motion(self.linear - other.linear, self.angular - other.angular)

    def __neg__(self) -> Motion:
        return Motion(-self.linear, -self.angular)

    def __mul__(self, scale: Any) -> Motion:
        if not is_scale(scale):
            return NotImplemented
        return Motion(self.linear * scale, self.angular * scale)

    __rmul__ = __mul__

    @overload
    def cross(self, other: Motion) -> Motion: ...
    @overload
    def cross(self, other: Force) -> Force: ...
    def cross(self, other: Motion | Force) -> Motion | Force:
        """V × for a motion, V ×* for a force: what a quantity fixed in a body moving with V changes by."""
        v, w = self.linear, self.angular
        if isinstance(other, Force):
            f, n = other.force, other.moment
            if v.shape != f.shape:
                require_broadcast("the motion", v, "the force", f)
            return Force(cross(w, f), cross(w, n) + cross(v, f))
        if not isinstance(other, Motion):
            raise ArgumentTypeError(f"a motion is crossed with {short(other)}; expected a Motion or a Force")
        if v.shape != other.linear.shape:
            require_broadcast("one", v, "the other", other.linear)
        return Motion(cross(w, other.linear) + cross(v, other.angular), cross(w, other.angular))

    def cross_matrix(self, order: SpatialOrder = "linear-first") -> Array:
        """V×, the matrix of `cross` for motions, (…, 6, 6): ``[[[ω]×, [v]×], [0, [ω]×]]``, linear first."""
        v, w = skew(self.linear), skew(self.angular)
        return block_matrix(w, v, np.zeros(w.shape), w, order)

    def cross_force_matrix(self, order: SpatialOrder = "linear-first") -> Array:
        """V×* = -(V×)ᵀ, the matrix of `cross` for forces, (…, 6, 6): ``[[[ω]×, 0], [[v]×, [ω]×]]``, linear first."""
        v, w = skew(self.linear), skew(self.angular)
        return block_matrix(w, np.zeros(w.shape), v, w, order)

    def dot(self, force: Force) -> Any:
        """The power of a force on this motion [W], (…); the one product that is the same in all frames."""
        if not isinstance(force, Force):
            raise ArgumentTypeError(f"the power of {short(force)} on a motion is asked for; expected a Force")
        if self.linear.shape != force.force.shape:
            require_broadcast("the motion", self.linear, "the force", force.force)
        return dot_last(self.linear, force.force) + dot_last(self.angular, force.moment)

    def rotated(self, R: Array) -> Motion:
        """The same motion about the same origin, in the axes that R leads to."""
        if type(R) is not np.ndarray or R.shape != (3, 3):
            R = operands("R", R, (3, 3))
            require_broadcast("linear", self.linear, "R", R, 2)
        return Motion(times(R, self.linear), times(R, self.angular))

    def moved(self, r: Array) -> Motion:
        """The same motion seen at a point displaced by r: v + ω × r."""
        if type(r) is not np.ndarray or r.shape != (3,):
            r = operands("r", r, (3,))
            require_broadcast("linear", self.linear, "r", r)
        return Motion(self.linear + cross(self.angular, r), self.angular)

    def classical(self, V: Motion) -> Motion:
        """The classical acceleration, of a spatial one and the velocity V: that of the body-fixed point at the origin,
        v̇ + ω × v [m/s²]."""
        return Motion(self.linear + cross(V.angular, V.linear), self.angular)
