"""Free joints whose velocities are given in their parent's axes, by way of their own: derivatives there and back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinetree.model.joints import Free
from kinetree.model.tree import Model
from kinetree.ops import Array, cross, skew
from kinetree.spatial import SpatialOrder, pack, unpack
from kinetree.spatial.packing import block_matrix


@dataclass(frozen=True)
class BodyVelocities:
    """The same motion with v_b = T v and a_b = T a + Ṫ v, where T turns the velocities of free joints that are given in
    their parent's axes, [ẋ, ω], into their own: by E = ^i R_λ. Then τ = Tᵀ τ_b, and

        ∂τ/∂v = Tᵀ (∂τ_b/∂v_b T + M_b ∂(Ṫ v)/∂v)
        ∂τ/∂q = Tᵀ (∂τ_b/∂q_b T + ∂τ_b/∂v_b ∂(T v)/∂q + M_b ∂(T a + Ṫ v)/∂q) + ∂Tᵀ/∂q τ_b

    With q moved by exp([δ]×) R, the change of E x is E [x]× δ, and that of Eᵀ f is -[Eᵀ f]× δ; Ṫ v = (E (ẋ × ω), 0).
    """

    model: Model
    turns: tuple[tuple[Free, Array], ...]

    @staticmethod
    def of(model: Model, q: Array) -> BodyVelocities:
        turns = [
            (joint, joint.transform(q).R)
            for joint in model.joints
            if isinstance(joint, Free) and joint.frame == "mixed"
        ]
        if not turns:
            return BodyVelocities(model, ())
        joints = [replace(joint, frame="body") if isinstance(joint, Free) else joint for joint in model.joints]
        return BodyVelocities(replace(model, joints=tuple(joints)), tuple(turns))

    def velocities(self, v: Array) -> Array:
        v_b = v.copy()
        for joint, E in self.turns:
            v_b[joint.v_slice] = self._turned(E, v[joint.v_slice])
        return v_b

    def accelerations(self, v: Array, a: Array) -> Array:
        a_b = self.velocities(a)
        for joint, E in self.turns:
            x, w = unpack(v[joint.v_slice], joint.order)
            a_b[joint.v_slice] += pack(E @ cross(x, w), np.zeros(3), joint.order)
        return a_b

    def chained(self, v: Array, a: Array, dq: Array, dv: Array, da: Array) -> tuple[Array, Array, Array]:
        """∂y/∂q, ∂y/∂v and ∂y/∂a from those by body velocities, (…, nv) each."""
        if self.turns:
            dq, dv, da = dq.copy(), dv.copy(), da.copy()
        for joint, E in self.turns:
            at, order = joint.v_slice, joint.order
            (x, w), (xx, ww) = (unpack(part[at], order) for part in (v, a))
            T = _blocks(E, 0, 0, E, order)
            by_v = _blocks(-E @ skew(w), E @ skew(x), 0, 0, order)
            v_by_q = _blocks(0, E @ skew(x), 0, E @ skew(w), order)
            a_by_q = _blocks(0, E @ skew(xx + cross(x, w)), 0, E @ skew(ww), order)
            dq[:, at] = dq[:, at] @ T + dv[:, at] @ v_by_q + da[:, at] @ a_by_q
            dv[:, at] = dv[:, at] @ T + da[:, at] @ by_v
            da[:, at] = da[:, at] @ T
        return dq, dv, da

    def back(self, v: Array, a: Array, tau: Array, M: Array, dq: Array, dv: Array) -> tuple[Array, Array]:
        """∂τ/∂q and ∂τ/∂v from those by body velocities; forces are turned as well."""
        dq, dv, _ = self.chained(v, a, dq, dv, M)
        for joint, E in self.turns:
            at, order = joint.v_slice, joint.order
            f, n = unpack(tau[at], order)
            T = _blocks(E, 0, 0, E, order)
            for matrix in (dq, dv):
                matrix[at] = T.T @ matrix[at]
            dq[at, at] += _blocks(0, -skew(E.T @ f), 0, -skew(E.T @ n), order)
        return dq, dv

    @staticmethod
    def _turned(E: Array, six: Array) -> Array:
        return np.concatenate([E @ six[:3], E @ six[3:]])


def _blocks(ll: Any, la: Any, al: Any, aa: Any, order: SpatialOrder) -> Array:
    """A 6×6 matrix from its linear and angular blocks, 0 for an empty one."""
    ll, la, al, aa = (np.zeros((3, 3)) if np.isscalar(block) else block for block in (ll, la, al, aa))
    return block_matrix(ll, la, al, aa, order)
