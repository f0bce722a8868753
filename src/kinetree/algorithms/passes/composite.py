"""Subtrees as one body each, and where the bodies are seen from the centre of mass of all that moves.

    I_i^c = I_i + Σ_{j ∈ μ(i)} ^iX*_j I_j^c ^jX_i           (16)

in body coordinates, where most rotations have few entries. G is the frame of centroidal quantities: its origin is the
centre of mass, its axes are those of the world. Where the first body is does not matter, only how it is turned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from kinetree.model.joints import Free
from kinetree.model.tree import Model
from kinetree.ops import Array
from kinetree.spatial import Force, Inertia, Motion, Transform

Summed = TypeVar("Summed", Force, Inertia)


@dataclass(frozen=True)
class Composite:
    """up[i] = ^i X_λ(i); Ic[i] = I_i^c; X[i] = ^i X_G."""

    model: Model
    up: dict[int, Transform]
    Ic: dict[int, Inertia]
    X: dict[int, Transform]
    root_body: int
    """The body that the whole tree hangs on; 0, the world, if there are several or none."""

    @staticmethod
    def of(model: Model, q: Array) -> Composite:
        root_body = 1 if len(model.children(0)) == 1 else 0
        up = {i: model.joints[i].transform(q) * model.placements[i] for i, _ in model.root_to_tips()}
        moving = set(model.moving)
        Ic = {i: model.inertias[i] if i in moving else Inertia.zero() for i in range(model.n_bodies + 1)}
        _sum_up(model, up, Ic, root_body)
        R = up[root_body].R if root_body else np.eye(3)
        X = {root_body: Transform.unchecked(R, -(R.T @ (Ic[root_body].h / Ic[root_body].mass)))}
        for i, p in model.root_to_tips():
            if i != root_body:
                X[i] = up[i] * X[p]
        return Composite(model, up, Ic, X, root_body)

    @property
    def center(self) -> Array:
        """The centre of mass in the first body, in its axes, (3,) [m]."""
        return self.Ic[self.root_body].h / self.Ic[self.root_body].mass

    @property
    def locked(self) -> Inertia:
        """The inertia of the robot with its joints locked, about the centre of mass in the axes of the first body."""
        moved = self.Ic[self.root_body].placed(np.eye(3), -self.center)
        return Inertia(moved.mass, np.zeros(3), moved.I)  # h vanishes

    def at_center(self, total: Force) -> Force:
        """A force or momentum given in the first body's coordinates, in those of G."""
        return total.moved(self.center).rotated(self.X[self.root_body].R.T)

    def summed(self, values: Mapping[int, Summed], nothing: Summed) -> dict[int, Summed]:
        """Sums over subtrees, in body coordinates; values of bodies that are not listed are nothing."""
        sums = {i: values.get(i, nothing) for i in range(self.model.n_bodies + 1)}
        _sum_up(self.model, self.up, sums, self.root_body)
        return sums

    def rates_seen(self, vJ: Mapping[int, Motion]) -> dict[int, Inertia]:
        """I°_i, how I_i^c changes seen from body i, by joint velocities inside its subtree alone, in body coordinates:

            I°_i = Σ_{j ∈ μ(i)} ^iX*_j (I°_j + v_Jj ×* I_j^c - I_j^c v_Jj×) ^jX_i

        In coordinates that stand still, its rate is v_i ×* I_i^c - I_i^c v_i× + I°_i.
        """
        seen = dict.fromkeys(range(self.model.n_bodies + 1), Inertia.zero())
        for i, p in self.model.tips_to_root():
            if i != self.root_body and i in self.model.moving:
                seen[p] += self.up[i].transpose() * (seen[i] + self.Ic[i].rate(vJ[i]))
        return seen

    def momenta(self, body: int, motions: tuple[Motion, ...]) -> list[Force]:
        """The momenta in G of the subtree of a body that moves, as one body, along columns of its joint, given in body
        coordinates."""
        if body != self.root_body:
            return [self.X[body].transpose() * (self.Ic[body] * s) for s in motions]
        joint, locked, back = self.model.joints[body], self.locked, self.X[body].R.T
        if isinstance(joint, Free) and joint.frame == "mixed":
            return [self.locked_in_world_axes * s for s in self.mixed_columns(joint)]
        return [(locked * s.moved(self.center)).rotated(back) for s in motions]

    @property
    def locked_in_world_axes(self) -> Inertia:
        """The inertia of the robot with its joints locked, in G: [[m 1, 0], [0, L]]."""
        return self.locked.placed(self.X[self.root_body].R.T, np.zeros(3))

    def mixed_columns(self, joint: Free) -> tuple[Motion, ...]:
        """The columns of the first body's joint in G, where they have the axes of the world."""
        axes = self.model.placements[self.root_body].R.T
        return tuple(unit.rotated(axes).moved(-self.X[self.root_body].p) for unit in joint.units)


def total(model: Model, q: Array, forces: Mapping[int, Force]) -> Force:
    """The sum of forces or momenta that are given in body coordinates, in G."""
    composite = Composite.of(model, q)
    return composite.at_center(composite.summed(forces, Force.zero())[composite.root_body])


def _sum_up(model: Model, up: Mapping[int, Transform], sums: dict[int, Summed], root_body: int) -> None:
    """Adds to every body what its children have, down to the first body."""
    for i, p in model.tips_to_root():
        if i != root_body:
            sums[p] = sums[p] + up[i].transpose() * sums[i]
