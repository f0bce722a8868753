"""All bodies in a common frame, moving: how the columns of their joints move with them, and sums over subtrees.

For joint j with parent λ, S_j in the common frame, seen from a frame at rest:

    Ψ̇_j = v_λ × S_j,     Ψ̈_j = a_λ × S_j + v_λ × Ψ̇_j,     Ṡ_j = v_j × S_j

Ψ̇ and Ψ̈ are how S_j moves when an ancestor does. A joint whose S depends on q is a series of simpler ones without mass
between them: its columns are taken one by one, each as a step of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kinetree.algorithms.common_frame import CommonFrame
from kinetree.algorithms.rnea import NO_FORCES
from kinetree.model.joints import Joint
from kinetree.model.joints.joint import combination
from kinetree.model.tree import Model
from kinetree.ops import Array
from kinetree.spatial import CoriolisInertia, Force, Inertia, Motion


@dataclass(frozen=True)
class Step:
    """One joint, or one column of a joint that is a series: its place in v, and how its columns move."""

    at: slice
    S: Sequence[Motion]
    psi1: Sequence[Motion]
    psi2: Sequence[Motion]
    rate: Sequence[Motion]


class Outward:
    """Velocities V and accelerations A of all bodies, and the steps that lead to each; `root` accelerates the world."""

    def __init__(self, model: Model, frame: CommonFrame, v: Array, a: Array, root: Motion) -> None:
        self.model = model
        self.steps: dict[int, list[Step]] = {0: []}
        self.V, self.A = {0: Motion.zero()}, {0: root}
        V, A = self.V, self.A
        for i, p in model.root_to_tips():
            V[i], A[i], self.steps[i] = V[p], A[p], []
            for at, S in _series(model.joints[i], frame.S[i]):
                step = combination(tuple(S), v[at])
                psi1 = [V[i].cross(s) for s in S]
                psi2 = [A[i].cross(s) + V[i].cross(psi) for s, psi in zip(S, psi1, strict=True)]
                V[i] = V[i] + step
                A[i] = A[i] + combination(tuple(S), a[at]) + V[i].cross(step)
                self.steps[i].append(Step(at, S, psi1, psi2, [V[i].cross(s) for s in S]))

    def way(self, body: int) -> list[Step]:
        """The steps from the root to a body."""
        return [step for i in self.model.support(body) for step in self.steps[i]]

    def before(self, body: int, step: Step) -> list[Step]:
        """The steps on the way to this one, itself not included."""
        way = self.way(body)
        return way[: way.index(step)]


class Sweep(Outward):
    """The same with sums over the subtree of every body: inertia I, Coriolis inertia B and force f = Σ I a + v ×* I v,
    less external forces."""

    def __init__(
        self,
        model: Model,
        frame: CommonFrame,
        v: Array,
        a: Array,
        root: Motion,
        f_ext: Mapping[int, Force] = NO_FORCES,
    ) -> None:
        super().__init__(model, frame, v, a, root)
        self.I: dict[int, Inertia] = dict(frame.I)
        self.B: dict[int, CoriolisInertia] = {}
        self.f: dict[int, Force] = {}
        for i, _ in model.root_to_tips():
            self.B[i] = CoriolisInertia.of(self.I[i], self.V[i])
            self.f[i] = self.I[i].net_force(self.V[i], self.A[i])
            if i in f_ext:
                self.f[i] -= frame.X[i].transpose() * f_ext[i]
        for i, p in model.tips_to_root():
            if p:
                self.I[p] += self.I[i]
                self.B[p] += self.B[i]
                self.f[p] += self.f[i]

    def force_by_q(self, body: int, step: Step) -> list[Force]:
        """2 B Ψ̇ + I Ψ̈ for every column: how f changes with q, but for being carried along, S ×* f."""
        I, B = self.I[body], self.B[body]
        return [(B * psi1) * 2.0 + I * psi2 for psi1, psi2 in zip(step.psi1, step.psi2, strict=True)]

    def force_by_v(self, body: int, step: Step) -> list[Force]:
        """2 B S + I (Ψ̇ + Ṡ) for every column: how f changes with v."""
        I, B = self.I[body], self.B[body]
        return [(B * s) * 2.0 + I * (psi1 + rate) for s, psi1, rate in zip(step.S, step.psi1, step.rate, strict=True)]


def _series(joint: Joint, S: tuple[Motion, ...]) -> list[tuple[slice, tuple[Motion, ...]]]:
    if joint.is_series:
        return [(slice(joint.iv + k, joint.iv + k + 1), (s,)) for k, s in enumerate(S)]
    return [(joint.v_slice, S)]
