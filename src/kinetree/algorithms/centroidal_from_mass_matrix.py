"""Centroidal quantities of a floating base from its mass matrix H and Coriolis forces C v alone.

    I_b^c = S_b H S_bᵀ = [[Ī_b^c, m [p_G]×], [-m [p_G]×, m 1]]                          (23), angular first
    ^b X_Gᵀ = [[R_b, -R_b [p_G]×], [0, R_b]]                                            (24)
    A_G = ^b X_Gᵀ S_b H                                                                 (25)
    Ȧ_G v = ^b X_Gᵀ S_b C v                                                             (26)

S_b selects the rows of the base; I_b^c is the inertia of the whole robot with locked joints, p_G where its centre of
mass is, both at the base in the axes of its velocity. R_b turns these to the world: it is 1 for a mixed base velocity.
The recursions of `centroidal` need fewer operations; this is for who has H and C v already. Wensing and Orin 2016.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.model.joints import Free
from kinetree.model.tree import Model
from kinetree.ops import Array, skew
from kinetree.spatial import SpatialOrder, pack, unpack


@dataclass(frozen=True, eq=False)
class FromMassMatrix:
    """Of one state of a robot with a floating base: H, (nv, nv), without rotors of the base."""

    H: Array
    R_b: Array
    order: SpatialOrder

    @staticmethod
    def of(model: Model, q: Array, H: Array) -> FromMassMatrix:
        base = model.floating_base
        assert isinstance(base, Free)
        turned = base.transform(q).R.T if base.frame == "body" else np.eye(3)
        return FromMassMatrix(H, turned, model.spatial_order)

    @property
    def composite_inertia(self) -> Array:
        """I_b^c, (6, 6)."""
        return self.H[:6, :6]

    @property
    def mass(self) -> Array:
        """m [kg], from the block m 1."""
        return self._block("linear", "linear")[0, 0]

    @property
    def center(self) -> Array:
        """p_G, (3,) [m], from the block m [p_G]×."""
        moment = self._block("angular", "linear")
        return np.array([moment[2, 1], moment[0, 2], moment[1, 0]]) / self.mass

    def _block(self, row: str, column: str) -> Array:
        at = {"linear": unpack(np.arange(6), self.order)[0], "angular": unpack(np.arange(6), self.order)[1]}
        return self.H[np.ix_(at[row], at[column])]

    def _at_center(self, rows: Array) -> Array:
        """^b X_Gᵀ of forces or momenta at the base, (6, …)."""
        force, moment = unpack(rows, self.order)
        return pack(self.R_b @ force, self.R_b @ (moment - skew(self.center) @ force), self.order)

    @property
    def momentum_matrix(self) -> Array:
        """A_G, (6, nv)."""
        return self._at_center(self.H[:6])

    def momentum_bias(self, Cv: Array) -> Array:
        """Ȧ_G v from C v, (nv,), gravity left out, (6,) [N, N m]."""
        return self._at_center(Cv[:6])
