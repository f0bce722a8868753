"""Mass matrix and bias forces by other textbook methods, and the intermediate results of their recursions.

They agree with `mass_matrix`, `bias_forces` and `coriolis_matrix` to round-off, and need more operations.
"""

from __future__ import annotations

from typing import Unpack

from numpy.typing import ArrayLike

from kinetree.algorithms import newton_euler as vector_recursion
from kinetree.algorithms import projected, rnea
from kinetree.ops import Array
from kinetree.robot import shapes
from kinetree.robot.quantity import HasQuantities, Named, NamedOut, quantity
from kinetree.robot.wrench import Wrenches


class TextbookMethods(HasQuantities):
    """Quantities of a `Robot` by vector Newton-Euler equations, by columns of RNEA and by sums over Jacobians."""

    @quantity(vector_recursion.link_motions, shapes.body_vectors, 6, is_large=True)
    def newton_euler(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **named: Unpack[Named]
    ) -> tuple[Array, Array, Array, Array, Array, Array]:
        """ω, ω̇, v̇, v̇_C, F and N of every link by the vector recursion, in the link's own axes, (…, nbodies, 3) each.

        ω and ω̇ [rad/s, rad/s²]; v̇ of the link's origin and v̇_C of its centre of mass [m/s²], which include gravity
        because v̇_0 = -g; F = m v̇_C [N], N = I_C ω̇ + ω × I_C ω [N m]. f and n are `joint_reactions`.
        """

    @quantity(rnea.mass_matrix, shapes.square, is_large=True)
    def mass_matrix_by_rnea(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """M(q), (…, nv, nv), by columns: inverse dynamics of unit accelerations at rest, without gravity."""

    @quantity(projected.mass_matrix, shapes.square, is_large=True)
    def mass_matrix_by_jacobians(self, q: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """M(q) = Σ J_iᵀ I_i J_i over all bodies and rotors, (…, nv, nv)."""

    @quantity(vector_recursion.bias_forces, shapes.velocities, is_large=True)
    def bias_forces_by_newton_euler(
        self, q: ArrayLike, v: ArrayLike, wrenches: Wrenches | None = None, **named: Unpack[NamedOut]
    ) -> Array:
        """C v + G - Σ Jᵀ w, (…, nv) [N m or N], by the vector recursion."""

    @quantity(projected.bias_forces, shapes.velocities, is_large=True)
    def bias_forces_by_jacobians(
        self, q: ArrayLike, v: ArrayLike, wrenches: Wrenches | None = None, **named: Unpack[NamedOut]
    ) -> Array:
        """C v + G - Σ Jᵀ w, (…, nv) [N m or N], with C v + G = Σ J_iᵀ (I_i (J̇_i v - g) + V_i ×* I_i V_i) over all
        bodies."""

    @quantity(projected.coriolis_matrix, shapes.square, is_large=True)
    def coriolis_matrix_by_jacobians(self, q: ArrayLike, v: ArrayLike, **named: Unpack[NamedOut]) -> Array:
        """C = Σ J_iᵀ (I_i J̇_i + I_i V_i× J_i + V_i×* I_i J_i) over all bodies, J̇_i as body i sees it, (…, nv, nv).

        C v equals that of `coriolis_matrix`, and Ṁ - 2C is skew-symmetric; the entries differ, because C is not unique.
        """
