"""Mass matrix and bias forces by the other methods of the lectures, and what their recursions find on the way.

They agree with `mass_matrix`, `bias_forces` and `coriolis_matrix` to round-off, and need more operations.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from kinetree.functions.binding import native
from kinetree.ops import Array
from kinetree.robot.compiled import CompiledQuantities, Wrenches


class TextbookMethods(CompiledQuantities):
    """What a `Robot` computes by vector Newton-Euler equations, by columns of RNEA and by sums over Jacobians."""

    @native
    def newton_euler(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> tuple[Array, Array, Array, Array, Array, Array]:
        """ω, ω̇, v̇, v̇_C, F and N of every link by the vector recursion, in the link's own axes, (…, nbodies, 3) each.

        ω and ω̇ [rad/s, rad/s²]; v̇ of the link's origin and v̇_C of its centre of mass [m/s²], from v̇_0 = -g, so that
        weight is part of them; F = m v̇_C [N], N = I_C ω̇ + ω × I_C ω [N m]. f and n are `joint_reactions`.
        """
        links: tuple[Array, Array, Array, Array, Array, Array] = self._several("newton_euler", (q, v, a))
        return links

    @native
    def mass_matrix_by_rnea(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """M(q), (…, nv, nv), by columns: inverse dynamics at rest of unit accelerations, without gravity."""
        return self._call("mass_matrix_by_rnea", (q,), out)

    @native
    def mass_matrix_by_jacobians(self, q: ArrayLike, *, out: Array | None = None) -> Array:
        """M(q) = Σ J_iᵀ I_i J_i over all bodies, and rotors, (…, nv, nv)."""
        return self._call("mass_matrix_by_jacobians", (q,), out)

    @native
    def bias_forces_by_newton_euler(
        self, q: ArrayLike, v: ArrayLike, wrenches: Wrenches | None = None, *, out: Array | None = None
    ) -> Array:
        """C v + G - Σ Jᵀ w, (…, nv) [N m or N], by the vector recursion."""
        return self._call("bias_forces_by_newton_euler", (q, v), out, wrenches)

    @native
    def bias_forces_by_jacobians(
        self, q: ArrayLike, v: ArrayLike, wrenches: Wrenches | None = None, *, out: Array | None = None
    ) -> Array:
        """C v + G - Σ Jᵀ w, (…, nv) [N m or N], with C v + G = Σ J_iᵀ (I_i (J̇_i v - g) + V_i ×* I_i V_i) over all
        bodies."""
        return self._call("bias_forces_by_jacobians", (q, v), out, wrenches)

    @native
    def coriolis_matrix_by_jacobians(self, q: ArrayLike, v: ArrayLike, *, out: Array | None = None) -> Array:
        """C = Σ J_iᵀ (I_i J̇_i + I_i V_i× J_i + V_i×* I_i J_i) over all bodies, J̇_i as body i sees it, (…, nv, nv).

        C v are the forces of `coriolis_matrix`, and Ṁ - 2C is skew-symmetric; its entries are others, as C is not
        unique.
        """
        return self._call("coriolis_matrix_by_jacobians", (q, v), out)
