"""Forces of a fluid around the bodies. With U = X V - (R w, 0) the velocity of a shape relative to a wind w, and f(U)
the force on it by `kinetree.model.fluid`,

    F = -Σ Jᵀ f(U),        ∂F/∂v = -Σ Jᵀ ∂f/∂U J,        ∂F/∂q = -Σ (Jᵀ ∂f/∂U ∂U/∂q + ∂Jᵀ/∂q f)

where J is the Jacobian of the shape, in its own axes. F is what motors have to overcome.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.kinematics import velocities, world_transforms
from kinetree.algorithms.passes.forward_pass import SubtreeSums
from kinetree.algorithms.passes.torque_derivatives import torque_derivatives, torques
from kinetree.model.fluid import DragShape, Fluid
from kinetree.model.tree import Model
from kinetree.ops import Array, cross, zeros
from kinetree.spatial import Force, Inertia, Motion


def immersed(model: Model) -> list[tuple[int, DragShape]]:
    """The shapes that a fluid acts on, with the bodies that they are fixed to, if it is part of the model."""
    return [each for each in model.drag if model.passive and model.fluid.is_present and each[0] in model.moving]


@of_one_state
def fluid_forces(model: Model, q: Array, v: Array) -> Array:
    """F, (nv,) [N m or N]."""
    tau, f = zeros(model.nv, q, v), _forces(model, q, v)
    for i, p in model.tips_to_root():
        if i in f:
            joint = model.joints[i]
            tau[joint.v_slice] -= joint.generalized_force(q, f[i])
            if p:
                X = joint.transform(q) * model.placements[i]
                f[p] = f.get(p, Force.zero()) + X.transpose() * f[i]
    return tau


@of_one_state
def fluid_force_derivatives(model: Model, q: Array, v: Array) -> tuple[Array, Array]:
    """∂F/∂q and ∂F/∂v, (nv, nv) each."""
    massless = replace(model, inertias=(Inertia.zero(),) * len(model.inertias))
    sums = SubtreeSums(massless, q, v, f_ext=_forces(model, q, v))
    dq, dv = torque_derivatives(sums, q, v)  # of forces that stay with their bodies
    for i, shape in immersed(model):
        X = shape.placement * sums.common.X[i]
        wind = X.R @ (sums.common.R @ np.array(model.fluid.wind))
        way, at = sums.way(i), list[int]()
        columns, by_q = list[Array](), list[Array]()
        for step in way:
            for k, (s, psi1) in enumerate(zip(step.S, step.psi1, strict=True), start=step.at.start):
                S, change = X * s, X * psi1
                at.append(k)
                columns.append(S.vector())
                by_q.append((change - Motion(cross(wind, S.angular), np.zeros(3))).vector())
        J = np.array(columns).T
        JW = J.T @ shape.slope(model.fluid, _relative(model.fluid, X * sums.V[i], wind))
        for row, k in enumerate(at):  # a follower has the same place as its leader
            for column, l in enumerate(at):
                dq[k, l] -= JW[row] @ by_q[column]
                dv[k, l] -= JW[row] @ columns[column]
    if sums.body.turns:
        dq, dv = sums.body.back(torques(sums, q, v), zeros((model.nv, model.nv), q), dq, dv)
    return dq, dv


def _forces(model: Model, q: Array, v: Array) -> dict[int, Force]:
    """Of the fluid on every body that it acts on, in body coordinates."""
    V, found, fluid = velocities(model, q, v), dict[int, Force](), model.fluid
    axes = world_transforms(model, q) if any(fluid.wind) else {}
    for i, shape in immersed(model):
        X = shape.placement
        wind = X.R @ (axes[i].R @ np.array(fluid.wind)) if axes else np.zeros(3)
        own = X.transpose() * shape.force(fluid, _relative(fluid, X * V[i], wind))
        found[i] = found[i] + own if i in found else own
    return found


def _relative(fluid: Fluid, V: Motion, wind: Array) -> Motion:
    return Motion(V.linear - wind, V.angular) if any(fluid.wind) else V
