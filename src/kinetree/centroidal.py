"""The robot as a whole: its momentum about the centre of mass, and what follows from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from numpy.typing import ArrayLike

from kinetree.binding import native
from kinetree.ops import Array


class CentroidalQuantities(ABC):
    """What a `Robot` knows of itself as a whole, of all that moves. 6-vectors are about the centre of mass G, in world
    axes, in the robot's `spatial_order`. Orin, Goswami and Lee 2013."""

    @abstractmethod
    def _call(self, name: str, values: tuple[Any, ...], out: Array | None) -> Any: ...

    @native
    def centroidal_momentum(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """h_G = [m ċ, k_G], linear momentum and angular momentum about the centre of mass, (…, 6) [N s, N m s]."""
        return self._call("centroidal_momentum", (q, v), out)

    @native
    def centroidal_momentum_matrix(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """A_G with h_G = A_G v, (…, 6, nv)."""
        return self._call("centroidal_momentum_matrix", (q,), out)

    @native
    def centroidal_momentum_bias(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """Ȧ_G v, the rate of centroidal momentum at a = 0, (…, 6) [N, N m]."""
        return self._call("centroidal_momentum_bias", (q, v), out)

    @native
    def centroidal_momentum_rate(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, out: Array | None = None) -> Array:
        """ḣ_G = A_G a + Ȧ_G v, (…, 6) [N, N m]: the sum of all external forces and of their moments about G, weight
        included."""
        return self._call("centroidal_momentum_rate", (q, v, a), out)

    @native
    def centroidal_momentum_matrix_rate(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """Ȧ_G, the time derivative of A_G along v, (…, 6, nv)."""
        return self._call("centroidal_momentum_matrix_rate", (q, v), out)

    @native
    def centroidal_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike
    ) -> tuple[Array, Array, Array, Array]:
        """∂h_G/∂q, ∂ḣ_G/∂q, ∂ḣ_G/∂v and ∂ḣ_G/∂a, (…, 6, nv) each, q moved by `integrate`; the last is A_G, and so is
        ∂h_G/∂v."""
        slopes: tuple[Array, Array, Array, Array] = self._call("centroidal_dynamics_derivatives", (q, v, a), None)
        return slopes
