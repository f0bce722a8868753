"""Kinetic and potential energy."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.center_of_mass import first_moment
from kinetree.algorithms.kinematics import velocities
from kinetree.model.tree import Model
from kinetree.ops import Array, Scalar


def kinetic_energy(model: Model, q: Array, v: Array) -> Scalar:
    """T = ½ Σ v_iᵀ I_i v_i [J]."""
    V = velocities(model, q, v)
    return 0.5 * sum((V[i].dot(model.inertias[i] * V[i]) for i, _ in model.root_to_tips()), np.float64(0.0))


def potential_energy(model: Model, q: Array) -> Scalar:
    """U = -Σ m_i gᵀ c_i [J], zero with the centre of mass at the height of the world's origin."""
    return -(model.gravity @ first_moment(model, q))
