"""Kinetic and potential energy."""

from __future__ import annotations

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.center_of_mass import first_moment
from kinetree.algorithms.joint_forces import spring_energy
from kinetree.algorithms.kinematics import velocities
from kinetree.model.tree import Model
from kinetree.ops import Array, Scalar


@of_one_state
def kinetic_energy(model: Model, q: Array, v: Array) -> Scalar:
    """T = ½ Σ v_iᵀ I_i v_i [J], and ½ armature · q̇² of the rotors."""
    V = velocities(model, q, v)
    rotors = v @ (model.armature * v)
    return 0.5 * sum((V[i].dot(model.inertias[i] * V[i]) for i, _ in model.root_to_tips()), rotors)


@of_one_state
def potential_energy(model: Model, q: Array) -> Scalar:
    """U = -Σ m_i gᵀ c_i [J], zero with the centre of mass at the height of the world's origin, and that of springs."""
    return spring_energy(model, q) - model.gravity @ first_moment(model, q)
