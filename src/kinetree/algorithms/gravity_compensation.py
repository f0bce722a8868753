"""Forces that hold bodies up against gravity: by -m̃ g at the centre of the part m̃ of their mass that is compensated.

    F = Σ m̃_i J_iᵀ g,        U = Σ m̃_i gᵀ c_i

F is what motors have to overcome, the opposite of the gravity forces of these parts; U is its potential.
"""

from __future__ import annotations

from dataclasses import replace

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.center_of_mass import center_of_mass_jacobian, first_moment
from kinetree.algorithms.passes.forward_pass import SubtreeSums
from kinetree.algorithms.passes.torque_derivatives import torque_derivatives, torques
from kinetree.model.tree import Model
from kinetree.ops import Array, Scalar, zeros


def compensates(model: Model) -> bool:
    """Whether compensation is part of the model."""
    return bool(model.passive and any(model.compensated[i].mass for i in model.moving if model.compensated))


@of_one_state
def compensation_forces(model: Model, q: Array) -> Array:
    """F, (nv,) [N m or N]."""
    held = _held(model)
    return center_of_mass_jacobian(held, q).T @ (held.mass * model.gravity)


@of_one_state
def compensation_derivative(model: Model, q: Array) -> Array:
    """∂F/∂q, (nv, nv)."""
    sums = SubtreeSums(_held(model), q, gravity=True)
    dq, dv = torque_derivatives(sums, q)
    if sums.body.turns:
        dq, _ = sums.body.back(torques(sums, q), zeros((model.nv, model.nv), q), dq, dv)
    return -dq


@of_one_state
def compensation_energy(model: Model, q: Array) -> Scalar:
    """U [J]."""
    return model.gravity @ first_moment(_held(model), q)


def _held(model: Model) -> Model:
    """The robot of the parts that are compensated."""
    return replace(model, inertias=model.compensated)
