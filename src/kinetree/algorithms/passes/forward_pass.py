"""All bodies in a common frame, moving: their columns with Ψ̇, Ψ̈ and Ṡ of `moving_columns`, and sums over subtrees."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.algorithms.arguments.one_state import NO_FORCES, ExternalForces
from kinetree.algorithms.passes.body_velocities import BodyVelocities
from kinetree.algorithms.passes.column_pairs import ColumnPairs
from kinetree.algorithms.passes.common_frame import CommonFrame
from kinetree.algorithms.passes.moving_columns import MovingColumns, moving_columns
from kinetree.model.tree import Model
from kinetree.ops import Array, for_each
from kinetree.spatial import CoriolisInertia, Force, Inertia, Motion


class ForwardPass:
    """Velocities V and accelerations A of all bodies, and the steps that lead to each.

    Free joints move with `body` velocities, whatever the model has. With gravity, the world accelerates by -g. Without
    v the robot is at rest; without a, its velocities alone count.
    """

    def __init__(
        self, model: Model, q: Array, v: Array | None = None, a: Array | None = None, gravity: bool = False
    ) -> None:  # fmt: skip
        self.body = BodyVelocities.of(model, q, v, a)
        self.model = self.body.model
        self.common = CommonFrame.of(self.model, q)
        self.steps: dict[int, list[MovingColumns]] = {0: []}
        self.V, self.A = {0: Motion.zero()}, {0: Motion.zero()}
        if gravity:
            self.A[0] = Motion(-self.common.gravity, np.zeros(3))
        V, A, body = self.V, self.A, self.body
        for i, p in self.model.root_to_tips():
            joint, S = self.model.joints[i], self.common.S[i]
            self.steps[i], V[i], A[i] = moving_columns(joint, S, V[p], A[p], body.v_b, body.a_b)

    def way(self, body: int) -> list[MovingColumns]:
        """The steps from the root to a body."""
        return [step for i in self.model.support(body) for step in self.steps[i]]

    def all_steps(self) -> list[tuple[int, MovingColumns]]:
        """The steps of all joints with their bodies, from the root to the tips."""
        return [(i, step) for i, _ in self.model.root_to_tips() for step in self.steps[i]]

    def pairs(self, steps: Sequence[tuple[int, MovingColumns]]) -> ColumnPairs:
        """The pairs of columns of these steps."""
        return ColumnPairs(self.model, [(i, step.at, step.S) for i, step in steps])


class SubtreeSums(ForwardPass):
    """A forward pass with sums over the subtree of every body: inertia I, Coriolis inertia B and force f = Σ I a + v ×*
    I v, less external forces."""

    def __init__(
        self,
        model: Model,
        q: Array,
        v: Array | None = None,
        a: Array | None = None,
        gravity: bool = False,
        f_ext: ExternalForces = NO_FORCES,
    ) -> None:
        super().__init__(model, q, v, a, gravity)
        self.I: dict[int, Inertia] = dict(self.common.I)
        I, V, A, bodies = self.I, self.V, self.A, [i for i, _ in model.root_to_tips()]
        coriolis = for_each(CoriolisInertia.of, [(I[i], V[i]) for i in bodies], q)
        net = for_each(Inertia.net_force, [(I[i], V[i], A[i]) for i in bodies], q)
        self.B: dict[int, CoriolisInertia] = dict(zip(bodies, coriolis, strict=True))
        self.f: dict[int, Force] = dict(zip(bodies, net, strict=True))
        for i in bodies:
            if i in f_ext:
                self.f[i] -= self.common.X[i].transpose() * f_ext[i]
        for i, p in model.tips_to_root():
            if p:
                self.I[p] += self.I[i]
                self.B[p] += self.B[i]
                self.f[p] += self.f[i]
