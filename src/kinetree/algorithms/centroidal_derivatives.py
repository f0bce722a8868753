"""Derivatives of centroidal momentum and of its rate, on the tangent space of q, and the rate of its matrix, in O(n).

For joint j, with sums over its subtree: inertia I and its rate İ, momentum h and force f = Σ I a + v ×* I v; Ψ̇, Ψ̈ and Ṡ
as in `moving_columns`, a_0 = 0:

    A_G e_j    = I S                                        Ȧ_G e_j    = İ S + I Ṡ                       - ċ × (I S)
    ∂h_G/∂q_j  = S ×* h + I Ψ̇ + ċ × (I S)                   ∂ḣ_G/∂v_j  = İ S + S ×* h + I (Ψ̇ + Ṡ)
    ∂ḣ_G/∂q_j  = S ×* f + İ Ψ̇ + Ψ̇ ×* h + I Ψ̈ + c̈ × (I S)

The terms with a plain × are moments, by the force part of I S: they come from the moments' being about a point, the
centre of mass, that moves with q and in time. From 2 B U = İ U + U ×* h, with B of `CoriolisInertia`, they are columns
of the derivatives of RNEA. All are computed in body coordinates and then expressed in G, with
İ = v ×* I - I v× + I° as in `Composite.rates_seen`, so that

    İ S + I Ṡ = v ×* I S + I° S + I S°                      İ Ψ̇ + I Ψ̈ = v ×* I Ψ̇ + I° Ψ̇ + I (Ψ̈ - v × Ψ̇)

I° and what it is multiplied by have few entries where joints have one axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.passes.composite import Composite
from kinetree.algorithms.passes.moving_columns import MovingColumns, moving_columns
from kinetree.model.joints import Free
from kinetree.model.tree import Model
from kinetree.ops import Array, cross, zeros
from kinetree.spatial import Force, Inertia, Motion


@dataclass(frozen=True)
class _Subtree:
    """One step of a joint with what it carries, in body coordinates, and the way from there to G."""

    columns: MovingColumns
    apart: tuple[Motion, ...]
    """S°, what Ṡ has beside v × S."""
    V: Motion
    I: Inertia
    seen: Inertia
    """I°."""
    h: Force
    f: Force
    momenta: list[Force]
    """I S, in G already."""
    to_G: Callable[[Force], Force]

    def rate_along(self, motion: Motion, own: Motion) -> Force:
        """v ×* I U + I° U + I W: the rate of I U, for a motion U that moves by W beside v × U."""
        return self.V.cross(self.I * motion) + self.seen * motion + self.I * own


class _SubtreeSums:
    """All bodies moving with v and a, subtrees as one body each."""

    def __init__(self, model: Model, q: Array, v: Array, a: Array) -> None:
        self.model, self.composite = model, Composite.of(model, q)
        V, A = {0: Motion.zero()}, {0: Motion.zero()}
        self.S = {i: model.joints[i].motion_subspace(q) for i, _ in model.root_to_tips()}
        self.steps: dict[int, list[MovingColumns]] = {}
        momenta, forces = {}, {}
        for i, p in model.root_to_tips():
            up, I = self.composite.up[i], model.inertias[i]
            self.steps[i], V[i], A[i] = moving_columns(model.joints[i], self.S[i], up * V[p], up * A[p], v, a)
            if i in model.moving:
                momenta[i], forces[i] = I * V[i], I.net_force(V[i], A[i])
        self.apart = {i: model.joints[i].motion_subspace_rate(q, v) for i, _ in model.root_to_tips()}
        self.seen = self.composite.rates_seen({i: model.joints[i].velocity(q, v) for i, _ in model.root_to_tips()})
        self.momenta = self.composite.summed(momenta, Force.zero())
        self.forces = self.composite.summed(forces, Force.zero())
        root_body = self.composite.root_body
        self.h_G, self.f_G = (self.composite.at_center(total[root_body]) for total in (self.momenta, self.forces))
        self.velocity, self.acceleration = self.h_G.force / model.mass, self.f_G.force / model.mass  # of G
        self.V, self.v, self.a = V, v, a
        self.subtrees = list(self._subtrees())

    def _subtrees(self) -> Iterator[_Subtree]:
        composite = self.composite
        for i, _ in self.model.root_to_tips():
            X, joint = composite.X[i], self.model.joints[i]
            V, I, seen, h, f = self.V[i], composite.Ic[i], self.seen[i], self.momenta[i], self.forces[i]
            to_G: Callable[[Force], Force] = X.transpose().__mul__
            steps, apart = self.steps[i], self.apart[i]
            if i == composite.root_body and isinstance(joint, Free) and joint.frame == "mixed":  # simpler in G itself
                I, seen, h, f = composite.locked_in_world_axes, X.transpose() * seen, self.h_G, self.f_G
                S, still = composite.mixed_columns(joint), Motion.zero()
                steps, V, _ = moving_columns(joint, S, still, still, self.v, self.a)
                rates = [rate for step in sorted(steps, key=lambda step: step.at.start) for rate in step.rate]
                apart = tuple(x - V.cross(s) for x, s in zip(rates, S, strict=True))
                to_G = _as_it_is
            momenta = composite.momenta(i, self.S[i])
            for columns in steps:
                first = columns.at.start - joint.iv
                own = slice(first, first + len(columns.S))
                yield _Subtree(columns, apart[own], V, I, seen, h, f, momenta[own], to_G)

    def table(self, columns: Callable[[_Subtree], list[Force]], *like: Array) -> Array:
        """A matrix from its columns in G, (6, nv); a mimic joint adds to its leader's."""
        table = zeros((6, self.model.nv), *like)
        for subtree in self.subtrees:
            for k, column in enumerate(columns(subtree), start=subtree.columns.at.start):
                table[:, k] += column.vector(self.model.spatial_order)
        return table


@of_one_state
def centroidal_momentum_matrix_rate(model: Model, q: Array, v: Array) -> Array:
    """Ȧ_G along v, (6, nv)."""
    sums = _SubtreeSums(model, q, v, np.zeros(model.nv))

    def columns(at: _Subtree) -> list[Force]:
        moved = [at.to_G(at.rate_along(s, own)) for s, own in zip(at.columns.S, at.apart, strict=True)]
        return [x - _moment(sums.velocity, p) for x, p in zip(moved, at.momenta, strict=True)]

    return sums.table(columns, q, v)


@of_one_state
def centroidal_dynamics_derivatives(model: Model, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array, Array]:
    """∂h_G/∂q, ∂ḣ_G/∂q, ∂ḣ_G/∂v and ∂ḣ_G/∂a = A_G, (6, nv) each; ∂h_G/∂v is A_G, too."""
    sums = _SubtreeSums(model, q, v, a)

    def momentum_by_q(at: _Subtree) -> list[Force]:
        moved = [at.to_G(s.cross(at.h) + at.I * psi) for s, psi in zip(at.columns.S, at.columns.psi1, strict=True)]
        return [x + _moment(sums.velocity, p) for x, p in zip(moved, at.momenta, strict=True)]

    def rate_by_q(at: _Subtree) -> list[Force]:
        moved = [
            at.to_G(s.cross(at.f) + psi1.cross(at.h) + at.rate_along(psi1, psi2))
            for s, psi1, psi2 in zip(at.columns.S, at.columns.psi1, at.columns.psi2_seen, strict=True)
        ]
        return [x + _moment(sums.acceleration, p) for x, p in zip(moved, at.momenta, strict=True)]

    def rate_by_v(at: _Subtree) -> list[Force]:
        return [
            at.to_G(s.cross(at.h) + at.rate_along(s, psi + own))
            for s, psi, own in zip(at.columns.S, at.columns.psi1, at.apart, strict=True)
        ]

    derivatives = [sums.table(columns, q, v, a) for columns in (momentum_by_q, rate_by_q, rate_by_v)]
    return derivatives[0], derivatives[1], derivatives[2], sums.table(lambda at: at.momenta, q, v, a)


def _moment(x: Array, momentum: Force) -> Force:
    """x × f as a moment."""
    return Force(np.zeros(3), cross(x, momentum.force))


def _as_it_is(force: Force) -> Force:
    return force
