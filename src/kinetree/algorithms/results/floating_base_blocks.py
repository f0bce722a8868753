"""The equation of motion of a floating base by blocks, and centroidal quantities from it alone.

    M_b a_b + M_bj a_j + h_b = Σ J_bᵀ w               M_bjᵀ a_b + M_j a_j + h_j = τ_j + Σ J_jᵀ w

    I_b^c = S_b H S_bᵀ = [[Ī_b^c, m [p_G]×], [-m [p_G]×, m 1]]                          (23), angular first
    ^b X_Gᵀ = [[R_b, -R_b [p_G]×], [0, R_b]]                                            (24)
    A_G = ^b X_Gᵀ S_b H                                                                 (25)
    Ȧ_G v = ^b X_Gᵀ S_b C v                                                             (26)

H is the mass matrix, M_b = I_b^c the inertia of the whole robot with locked joints, p_G where its centre of mass is,
both at the base in the axes of its velocity. R_b turns these to the world: it is 1 for a mixed base velocity. With
gravity, h = C v + G has -[m g, 0] more at G. For who has H and h already: the recursions of `centroidal` take fewer
operations. Wensing and Orin 2016.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.ops import Array
from kinetree.spatial.packing import SpatialOrder, halves, ordered, pack_last


@dataclass(frozen=True, eq=False)
class FloatingBaseBlocks:
    """Views of a mass matrix M and of bias forces h = C v + G by base, b, and joints, j; batch axes in front."""

    M: Array
    """(…, nv, nv)."""
    h: Array
    """(…, nv)."""
    R_b: Array
    """The rotation from the axes of the base velocity to those of the world, (…, 3, 3)."""
    gravity: Array
    order: SpatialOrder

    @property
    def M_b(self) -> Array:
        """S_b M S_bᵀ = I_b^c, also the composite inertia of the robot at its base, (…, 6, 6)."""
        return self.M[..., :6, :6]

    @property
    def M_bj(self) -> Array:
        """(…, 6, nv - 6)."""
        return self.M[..., :6, 6:]

    @property
    def M_j(self) -> Array:
        """(…, nv - 6, nv - 6)."""
        return self.M[..., 6:, 6:]

    @property
    def h_b(self) -> Array:
        """(…, 6)."""
        return self.h[..., :6]

    @property
    def h_j(self) -> Array:
        """(…, nv - 6)."""
        return self.h[..., 6:]

    @property
    def S_b(self) -> Array:
        """The selection of the base, v_b = S_b v, (6, nv)."""
        return np.eye(6, self.M.shape[-1])

    # -- the whole robot ---------------------------------------------------------------------------------------

    @property
    def mass(self) -> Array:
        """m, from the block m 1 of I_b^c, (…) [kg]."""
        first = halves(self.order)[0].start
        return self.M[..., first, first]

    @property
    def center(self) -> Array:
        """p_G, from the block m [p_G]× of I_b^c: the centre of mass from the base, in the axes of its velocity, (…, 3)
        [m]."""
        linear, angular = halves(self.order)
        moment = self.M[..., angular, linear]
        entries = [moment[..., 2, 1], moment[..., 0, 2], moment[..., 1, 0]]
        return np.stack(entries, axis=-1) / self.mass[..., None]

    @property
    def centroidal_momentum_matrix(self) -> Array:
        """A_G, (…, 6, nv)."""
        return self._at_center(self.M[..., :6, :])

    @property
    def centroidal_momentum_bias(self) -> Array:
        """Ȧ_G v, (…, 6) [N, N m]."""
        with_weight = self._at_center(self.h[..., :6, None])[..., 0]
        weight = self.mass[..., None] * self.gravity
        return with_weight + pack_last(weight, 0.0 * weight, self.order)

    def _at_center(self, rows: Array) -> Array:
        """^b X_Gᵀ of forces or momenta at the base, (…, 6, k)."""
        force, moment = (rows[..., half, :] for half in halves(self.order))
        x, y, z = (self.center[..., k, None] for k in range(3))
        a, b, c = (force[..., k, :] for k in range(3))
        lever = np.stack([y * c - z * b, z * a - x * c, x * b - y * a], axis=-2)  # p_G × f
        return np.concatenate(ordered([self.R_b @ force, self.R_b @ (moment - lever)], self.order), axis=-2)
