"""Centroidal momentum: the momentum of all bodies about their common centre of mass G, in world axes.

    h_G = Σ ^G X*_i I_i v_i = A_G v                         (21)
    ḣ_G = A_G a + Ȧ_G v                                     (22)

Its force part is m ċ, its moment part k_G the angular momentum about the centre of mass. Momenta and net forces of
bodies are summed in body coordinates from the tips to the first body, as RNEA does. The columns of A_G are momenta of
subtrees that move as one body, for a column k of joint i

    A_G e_k = ^G X*_i I_i^c S_k

G does not turn, and its velocity ċ is parallel to the linear momentum m ċ, so that h_G is differentiated as if G stood
still; a column of A_G is not. Rotors (armature) count only in the joint space. Orin, Goswami and Lee 2013.
"""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.kinematics import accelerations, velocities
from kinetree.algorithms.passes.composite import Composite, total
from kinetree.model.tree import Model
from kinetree.ops import Array, zeros
from kinetree.spatial import Force


@of_one_state
def centroidal_momentum(model: Model, q: Array, v: Array) -> Force:
    """h_G = [m ċ, k_G] [N s, N m s]."""
    V = velocities(model, q, v)
    return total(model, q, {i: model.inertias[i] * V[i] for i in model.moving})


@of_one_state
def centroidal_momentum_rate(model: Model, q: Array, v: Array, a: Array) -> Force:
    """ḣ_G = A_G a + Ȧ_G v: the force and moment about G that move the robot so, gravity included in them [N, N m]."""
    V, A = velocities(model, q, v), accelerations(model, q, v, a)
    return total(model, q, {i: model.inertias[i].net_force(V[i], A[i]) for i in model.moving})


@of_one_state
def centroidal_momentum_bias(model: Model, q: Array, v: Array) -> Force:
    """Ȧ_G v, the rate at a = 0 [N, N m]."""
    return centroidal_momentum_rate(model, q, v, np.zeros(model.nv))


@of_one_state
def centroidal_momentum_matrix(model: Model, q: Array) -> Array:
    """A_G with h_G = A_G v, (6, nv)."""
    composite = Composite.of(model, q)
    A_G = zeros((6, model.nv), q)
    for i, _ in model.root_to_tips():
        joint = model.joints[i]
        for k, momentum in enumerate(composite.momenta(i, joint.motion_subspace(q)), start=joint.iv):
            A_G[:, k] += momentum.vector(model.spatial_order)  # +=: a mimic joint adds to its leader's column
    return A_G
