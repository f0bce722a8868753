"""Free joints whose velocities are given in their parent's axes, by way of their own: derivatives there and back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinetree.model.joints import Free
from kinetree.model.tree import Model
from kinetree.ops import Array, cross, skew, zeros
from kinetree.spatial import SpatialOrder, pack, unpack
from kinetree.spatial.packing import block_matrix


@dataclass(frozen=True)
class BodyVelocities:
    """A motion with v_b = T v and a_b = T a + Ṫ v, where T turns the velocities of free joints that are given in
    their parent's axes, [ẋ, ω], into their own: by E = ^i R_λ. Then τ = Tᵀ τ_b, and

        ∂τ/∂v = Tᵀ (∂τ_b/∂v_b T + M_b ∂(Ṫ v)/∂v)
        ∂τ/∂q = Tᵀ (∂τ_b/∂q_b T + ∂τ_b/∂v_b ∂(T v)/∂q + M_b ∂(T a + Ṫ v)/∂q) + ∂Tᵀ/∂q τ_b

    With q moved by exp([δ]×) R, the change of E x is E [x]× δ, and that of Eᵀ f is -[Eᵀ f]× δ; Ṫ v = (E (ẋ × ω), 0).
    """

    model: Model
    turns: tuple[tuple[Free, Array], ...]
    v: Array
    a: Array
    """The velocity and acceleration in the conventions of the model, (nv,) each."""
    v_b: Array
    a_b: Array

    @staticmethod
    def of(model: Model, q: Array, v: Array | None = None, a: Array | None = None) -> BodyVelocities:
        """The motion of v and a; without v the robot is at rest, and without a, a_b = 0."""
        still = np.zeros(model.nv)
        free = (joint for joint in model.joints if isinstance(joint, Free) and joint.frame == "mixed")
        turns = tuple((joint, joint.transform(q).R) for joint in free)
        if turns:
            joints = (replace(joint, frame="body") if isinstance(joint, Free) else joint for joint in model.joints)
            model = replace(model, joints=tuple(joints))
        v_b = still if v is None else _turned(turns, v)
        a_b = still if a is None else _turned(turns, a)
        v, a = still if v is None else v, still if a is None else a
        for joint, E in turns if a is not still else ():
            x, w = unpack(v[joint.v_slice], joint.order)
            a_b[joint.v_slice] += pack(E @ cross(x, w), np.zeros(3), joint.order)
        return BodyVelocities(model, turns, v, a, v_b, a_b)

    def chained(self, dq: Array, dv: Array, da: Array | None = None) -> tuple[Array, Array, Array]:
        """∂y/∂q, ∂y/∂v and ∂y/∂a from those by body velocities, (…, nv) each."""
        da = zeros(dq.shape, dq, dv) if da is None else da
        if self.turns:
            dq, dv, da = dq.copy(), dv.copy(), da.copy()
        for joint, E in self.turns:
            at, order = joint.v_slice, joint.order
            (x, w), (xx, ww) = (unpack(part[at], order) for part in (self.v, self.a))
            T = _blocks(E, 0, 0, E, order)
            by_v = _blocks(-E @ skew(w), E @ skew(x), 0, 0, order)
            v_by_q = _blocks(0, E @ skew(x), 0, E @ skew(w), order)
            a_by_q = _blocks(0, E @ skew(xx + cross(x, w)), 0, E @ skew(ww), order)
            dq[:, at] = dq[:, at] @ T + dv[:, at] @ v_by_q + da[:, at] @ a_by_q
            dv[:, at] = dv[:, at] @ T + da[:, at] @ by_v
            da[:, at] = da[:, at] @ T
        return dq, dv, da

    def back(self, tau: Array, M: Array, dq: Array, dv: Array) -> tuple[Array, Array]:
        """∂τ/∂q and ∂τ/∂v from those by body velocities; forces are turned as well."""
        dq, dv, _ = self.chained(dq, dv, M)
        for joint, E in self.turns:
            at, order = joint.v_slice, joint.order
            f, n = unpack(tau[at], order)
            T = _blocks(E, 0, 0, E, order)
            for matrix in (dq, dv):
                matrix[at] = T.T @ matrix[at]
            dq[at, at] += _blocks(0, -skew(E.T @ f), 0, -skew(E.T @ n), order)
        return dq, dv


def _turned(turns: tuple[tuple[Free, Array], ...], v: Array) -> Array:
    """T v, (nv,)."""
    v = v.copy()
    for joint, E in turns:
        six = v[joint.v_slice]
        v[joint.v_slice] = np.concatenate([E @ six[:3], E @ six[3:]])
    return v


def _blocks(ll: Any, la: Any, al: Any, aa: Any, order: SpatialOrder) -> Array:
    """A 6×6 matrix from its linear and angular blocks, 0 for an empty one."""
    ll, la, al, aa = (np.zeros((3, 3)) if np.isscalar(block) else block for block in (ll, la, al, aa))
    return block_matrix(ll, la, al, aa, order)
