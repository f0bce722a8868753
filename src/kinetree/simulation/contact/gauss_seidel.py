"""Impulses of rigid contact with dry friction, by projected Gauss-Seidel iteration.

For every contact, with u = W p + b the velocity after the step in axes (t₁, t₂, n),

    0 ≤ p_n ⟂ u_n ≥ 0                    it does not penetrate, and pushes only where it touches
    ‖p_t‖ ≤ μ p_n                        Coulomb's cone
    p_t = -μ p_n u_t / ‖u_t‖             where it slips: friction is all there is, against the motion

One sweep takes the contacts in turn, each with the others' impulses as they are. If the impulse that would stop a
contact lies in its cone, it sticks and that is it. Otherwise its normal impulse is chosen such that u_n vanishes, or
zero if that would pull, and then friction is moved against u_t and brought back to the disk of radius μ p_n. Where
nothing changes any more all three conditions hold, whatever the steps were scaled by. The number of sweeps is fixed;
started from the impulses of the step before, they go on where those left off.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import final

import numpy as np

from kinetree import ops
from kinetree.algorithms.constraints import DelassusOperator
from kinetree.linalg import inverse
from kinetree.ops import Array, Scalar
from kinetree.simulation.contact.coupling import Coupling, Place, block, coupling
from kinetree.simulation.contact.load_sharing import shared

DAMPING = 1e-7
"""Of the inverse of a block of W, relative to its trace: a planar robot has directions in which it cannot move."""
LEAST = 1e-300
"""Stands in for zero below a fraction line."""


class ContactProblem:
    """Contacts of a robot: u = W p + b with the Delassus operator W, and b the velocities without impulses.

    friction   μ of contacts with three rows; None for those that have one, and only push
    repeated   groups of contacts that may share their load in many ways
    """

    def __init__(
        self,
        delassus: DelassusOperator,
        places: Sequence[Place],
        b: Array,
        friction: Sequence[float | None],
        repeated: Sequence[Sequence[int]] = (),
    ) -> None:
        self.delassus, self.places, self.repeated = delassus, places, repeated
        self.b = [b[at.rows] for at in places]
        self.contacts: list[_OneContact] = [
            _Push(block(delassus, at)) if mu is None else _Cone(block(delassus, at), mu)
            for at, mu in zip(places, friction, strict=True)
        ]

    def solve(self, start: Array, sweeps: int) -> Array:
        """p after so many sweeps over all contacts; after a third of them load is spread."""
        effect = coupling(self.delassus, self.places, start)
        for sweep in range(sweeps):
            if sweep == sweeps // 3:
                self._share(effect)
            for k, contact in enumerate(self.contacts):
                effect.change(k, contact.solve(self.b[k] + effect.velocity(k), effect.p[k]))
        return np.concatenate(effect.p)

    def _share(self, effect: Coupling) -> None:
        for group in self.repeated:
            normals = [self.places[k].last for k in group]
            loads, opening = [effect.p[k][-1] for k in group], [self.b[k][-1] for k in group]
            for k, p_n in zip(group, shared(self.delassus, normals, loads, opening), strict=True):
                effect.change_normal(k, p_n)

    def residual(self, p: Array) -> Scalar:
        """The largest velocity by which a contact breaks one of the conditions [m/s]: how far a step of projected
        gradient would move p, times the inverse inertia it meets."""
        effect, worst = coupling(self.delassus, self.places, p), np.float64(0.0)
        for k, contact in enumerate(self.contacts):
            worst = ops.maximum(worst, contact.error(self.b[k] + effect.velocity(k), effect.p[k]))
        return worst


class _OneContact(ABC):
    """One contact while the others rest; u is its velocity with its present impulse p."""

    def __init__(self, W: Array) -> None:
        self.W = W
        self.damping = DAMPING * W.diagonal().sum() + LEAST
        self.normal_mass = ops.divide(1.0, W[-1, -1] + self.damping)

    @abstractmethod
    def solve(self, u: Array, p: Array) -> Array:
        """The next p."""

    @abstractmethod
    def error(self, u: Array, p: Array) -> Scalar:
        """The change of u by a step of projected gradient [m/s]."""

    def normal(self, u: Array, p: Array) -> Scalar:
        """The normal impulse after which u_n is zero, or none if that would pull."""
        return ops.maximum(p[-1] - u[-1] * self.normal_mass, 0.0)


@final
class _Push(_OneContact):
    """A single row without friction."""

    def solve(self, u: Array, p: Array) -> Array:
        return np.array([self.normal(u, p)])

    def error(self, u: Array, p: Array) -> Scalar:
        return ops.absolute((self.normal(u, p) - p[-1]) * ops.divide(1.0, self.normal_mass))


@final
class _Cone(_OneContact):
    """Three rows with Coulomb friction."""

    def __init__(self, W: Array, friction: float) -> None:
        super().__init__(W)
        self.friction = friction
        self.inverse = inverse(W + np.eye(3) * self.damping, positive_definite=True)
        mean, half, mixed = 0.5 * (W[0, 0] + W[1, 1]), 0.5 * (W[0, 0] - W[1, 1]), W[0, 1]
        self.tangent_mass = ops.divide(1.0, mean + ops.sqrt(half * half + mixed * mixed) + self.damping)

    def solve(self, u: Array, p: Array) -> Array:
        if not self.friction:
            return self._slipping(u, p)
        stopped = p - self.inverse @ u
        reach = self.friction * stopped[2]
        square = stopped[0] * stopped[0] + stopped[1] * stopped[1]
        sticks = ops.logical_and(ops.less_equal(0.0, reach), ops.less_equal(square, reach * reach))
        return ops.where(sticks, stopped, self._slipping(u, p))

    def error(self, u: Array, p: Array) -> Scalar:
        moved = (self._slipping(u, p) - p) * ops.divide(1.0, self.normal_mass)
        return ops.sqrt(moved @ moved)

    def _slipping(self, u: Array, p: Array) -> Array:
        normal = self.normal(u, p)
        if not self.friction:
            return np.array([0.0, 0.0, normal])
        u_t = u[:2] + self.W[:2, 2] * (normal - p[2])
        tangent = p[:2] - u_t * self.tangent_mass
        radius = self.friction * normal
        square = tangent @ tangent
        beyond = ops.less(radius * radius, square)
        scale = ops.where(beyond, radius * ops.divide(1.0, ops.sqrt(ops.where(beyond, square, 1.0))), 1.0)
        return np.array([tangent[0] * scale, tangent[1] * scale, normal])
