"""The robot as one body: its inertia with all joints locked, and the velocity at which that body had its momentum.

    L = Σ R_i I_i R_iᵀ, each about the centre of mass of the robot                    locked inertia
    ω̄ = L⁻¹ k_G                                                                       average angular velocity
    [ċ, ω̄] = ^G M_b⁻¹ h_G,  ^G M_b = diag(m 1, L)                                     average spatial velocity
    V_lock = ^b X_G [ċ, ω̄] = M_b⁻¹ (M_b v_b + M_bj v_j) = v_b + M_b⁻¹ M_bj v_j        locked velocity, at the base
    k̇_G = L ω̄̇ + L̇ ω̄ = L ω̄̇ + ω̄ × L ω̄ + (L̇ ω̄ - ω̄ × L ω̄)                             the last is gesticulation

With the joints at rest ω̄ is the angular velocity of the base, L̇ ω̄ = ω̄ × L ω̄ and gesticulation is zero; while they move,
no frame turns with ω̄ in general. Essén 1993, Orin, Goswami and Lee 2013, Saccon et al. 2017.
"""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.centroidal import centroidal_momentum, centroidal_momentum_rate
from kinetree.algorithms.kinematics import velocities
from kinetree.algorithms.passes.composite import Composite
from kinetree.base.precision import tolerance
from kinetree.linalg import ltdl, ltdl_solve
from kinetree.model.tree import Model
from kinetree.ops import Array, cross, less_equal, where
from kinetree.spatial import Motion

ON_A_LINE = 1e-12
"""A moment of inertia this small, relative to the sum of all three, means that all mass lies on one line."""


@of_one_state
def locked_inertia(model: Model, q: Array) -> Array:
    """L about the centre of mass, in world axes, (3, 3) [kg m²]."""
    return Composite.of(model, q).locked_in_world_axes.I


@of_one_state
def locked_inertia_rate(model: Model, q: Array, v: Array) -> Array:
    """L̇ along v, (3, 3) [kg m²/s]: it turns with the first body, and changes seen from there. As if G stood still, for
    moving the origin away from the centre of mass changes an inertia only by second order."""
    composite = Composite.of(model, q)
    root_body = composite.root_body
    seen = composite.rates_seen({i: model.joints[i].velocity(q, v) for i, _ in model.root_to_tips()})[root_body]
    turning = composite.locked.rate(velocities(model, q, v)[root_body])
    back = composite.X[root_body].R.T
    return (turning + seen.placed(np.eye(3), -composite.center)).placed(back, np.zeros(3)).I


@of_one_state
def average_velocity(model: Model, q: Array, v: Array) -> Motion:
    """[ċ, ω̄] in G [m/s, rad/s]; ω̄ is NaN where all mass lies on one line."""
    h_G, L = centroidal_momentum(model, q, v), locked_inertia(model, q)
    return Motion(h_G.force / model.mass, per_inertia(L, h_G.moment))


@of_one_state
def average_acceleration(model: Model, q: Array, v: Array, a: Array) -> Motion:
    """[c̈, ω̄̇] in G, the rate of the average velocity [m/s², rad/s²]: L ω̄̇ = k̇_G - L̇ ω̄."""
    rate, L = centroidal_momentum_rate(model, q, v, a), locked_inertia(model, q)
    turning = locked_inertia_rate(model, q, v) @ average_velocity(model, q, v).angular
    return Motion(rate.force / model.mass, per_inertia(L, rate.moment - turning))


def per_inertia(L: Array, k: Array) -> Array:
    """L⁻¹ k of a vector or of columns; NaN where all mass lies on one line."""
    factor, pivots = ltdl(L)
    least = tolerance(ON_A_LINE, 1e-5) * (L[0, 0] + L[1, 1] + L[2, 2])
    pivots = np.array([where(less_equal(pivot, least), np.nan, pivot) for pivot in pivots])
    return ltdl_solve(factor, pivots, k)


@of_one_state
def gesticulation(model: Model, q: Array, v: Array) -> Array:
    """L̇ ω̄ - ω̄ × L ω̄: what the motion of the joints adds to Euler's equation of one rigid body, (3,) [N m]."""
    L, L_rate = locked_inertia(model, q), locked_inertia_rate(model, q, v)
    omega = average_velocity(model, q, v).angular
    return L_rate @ omega - cross(omega, L @ omega)
