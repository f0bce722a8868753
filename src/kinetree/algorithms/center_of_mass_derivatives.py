"""Derivatives of the centre of mass's velocity and acceleration by q, v and a, on the tangent space of q.

m ċ is the linear part of the momentum Σ I v, and m c̈ that of the force Σ I a + v ×* I v. With Ψ̇, Ψ̈, Ṡ of
`moving_columns` and sums over the subtree of joint j, momentum h, inertia I, Coriolis inertia B, force f:

    m ∂ċ/∂q_j = I_j Ψ̇_j + S_j ×* h_j                            m ∂ċ/∂v_j = I_j S_j
    m ∂c̈/∂q_j = 2 B_j Ψ̇_j + I_j Ψ̈_j + S_j ×* f_j               m ∂c̈/∂v_j = 2 B_j S_j + I_j (Ψ̇_j + Ṡ_j)
    m ∂c̈/∂a_j = I_j S_j

of which the linear part is taken.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.passes.forward_pass import SubtreeSums
from kinetree.algorithms.passes.moving_columns import MovingColumns
from kinetree.model.tree import Model
from kinetree.ops import Array, zeros
from kinetree.spatial import Force


@of_one_state
def center_of_mass_velocity_derivatives(model: Model, q: Array, v: Array) -> tuple[Array, Array]:
    """∂ċ/∂q and ∂ċ/∂v in the world, (3, nv) each; the second is the Jacobian."""
    sums = SubtreeSums(model, q, v)
    momentum = {i: sums.common.I[i] * sums.V[i] for i, _ in model.root_to_tips()}
    by_q, by_v = (zeros((3, model.nv), q, v) for _ in range(2))
    for j, p in model.tips_to_root():
        if p:
            momentum[p] += momentum[j]
        for step in sums.steps[j]:
            carried = [s.cross(momentum[j]) + sums.I[j] * psi for s, psi in zip(step.S, step.psi1, strict=True)]
            _add(by_q, step, carried)
            _add(by_v, step, [sums.I[j] * s for s in step.S])
    scale = sums.common.R.T / model.mass
    by_q, by_v, _ = sums.body.chained(scale @ by_q, scale @ by_v)
    return by_q, by_v


@of_one_state
def center_of_mass_acceleration_derivatives(model: Model, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
    """∂c̈/∂q, ∂c̈/∂v and ∂c̈/∂a in the world, (3, nv) each; the third is the Jacobian."""
    sums = SubtreeSums(model, q, v, a)
    by_q, by_v, by_a = (zeros((3, model.nv), q, v, a) for _ in range(3))
    for j, _ in model.tips_to_root():
        for step in sums.steps[j]:
            _add(by_q, step, [s.cross(sums.f[j]) for s in step.S])
            _add(by_q, step, step.force_by_q(sums.I[j], sums.B[j]))
            _add(by_v, step, step.force_by_v(sums.I[j], sums.B[j]))
            _add(by_a, step, [sums.I[j] * s for s in step.S])
    scale = sums.common.R.T / model.mass
    return sums.body.chained(scale @ by_q, scale @ by_v, scale @ by_a)


def _add(matrix: Array, step: MovingColumns, forces: Sequence[Force]) -> None:
    for k, force in enumerate(forces, start=step.at.start):
        matrix[:, k] += force.force
