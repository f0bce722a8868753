"""The robot as one body whose inertia changes: Newton's and Euler's equations of the whole, in three forms.

    world axes          m c̈ = F                         L ω̄̇ + L̇ ω̄ = M_G
    turning axes        m (ċ° + Ω × ċ) = F              L ω̄° + L° ω̄ + Ω × L ω̄ = M_G
    about a point P     m c̈ = F                         L ω̄̇ + L̇ ω̄ + r × m c̈ = M_P,   r = c - x_P

F is the sum of all external forces, weight included, M_G and M_P = M_G + r × F their moments. x° is the rate of x as it
is seen from axes that turn with Ω: ω̄° = ω̄̇ - Ω × ω̄ and L° = L̇ - [Ω]× L + L [Ω]×. Of one rigid body L° = 0 in its own
axes, which leaves the textbook's L ω° + ω × L ω. Of a robot, with Ω = ω̄, L° ω̄ is its gesticulation. About P, the left
side is k̇_P + ẋ_P × m ċ with k_P = L ω̄ + r × m ċ.

Instead of ω̄ often the angular velocity of the base is taken. They differ by what the joints do:

    ω̄ - ω_b = L⁻¹ A_kj v_j

with A_kj the moments in the joints' columns of A_G.
"""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.arguments.one_state import NO_FORCES, ExternalForces, of_one_state
from kinetree.algorithms.centroidal import centroidal_momentum_matrix
from kinetree.algorithms.locked import locked_inertia, per_inertia
from kinetree.algorithms.passes.composite import total
from kinetree.model.tree import Model
from kinetree.ops import Array
from kinetree.spatial import Force
from kinetree.spatial.packing import unpack


@of_one_state
def centroidal_wrench(model: Model, q: Array, f_ext: ExternalForces = NO_FORCES) -> Force:
    """[F, M_G]: the sum of wrenches and weight, and of their moments about the centre of mass [N, N m]."""
    weight = Force(model.mass * model.gravity, np.zeros(3))
    on_robot = {i: f for i, f in f_ext.items() if i in model.moving}
    return total(model, q, on_robot) + weight if on_robot else weight


@of_one_state
def average_rotation_by_joints(model: Model, q: Array) -> Array:
    """L⁻¹ A_kj, (3, nv - 6): ω̄ = ω_b + L⁻¹ A_kj v_j, in world axes."""
    _, A_k = unpack(centroidal_momentum_matrix(model, q), model.spatial_order)
    return per_inertia(locked_inertia(model, q), A_k[:, 6:])
