"""Steps that solve equations: one for stiff damping and springs, one that is true to energy and momentum for long.

Both run a fixed number of operations, so that they compile like the explicit ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import Any, TypeAlias

import numpy as np

from kinetree import linalg, ops
from kinetree.algorithms.configuration import integrate
from kinetree.algorithms.fluid import fluid_forces, immersed
from kinetree.algorithms.joint_forces import passive_force_derivatives, passive_forces
from kinetree.functions.derivatives import gradient, jacobian
from kinetree.functions.law import Law, compile
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.simulation.integrators import Motion

GAMMA = 1.0 - np.sqrt(0.5)
"""With it the method of Rosenbrock is L-stable: what is infinitely stiff is gone after one step."""
ITERATIONS = 5
"""Of the variational step; each gains about twice as many digits as dt · |v| has zeros."""
TERMS = 8
"""Of the series of exp and dexp: enough for turns of 0.3 rad a step."""
Adjoint: TypeAlias = list[tuple[slice, Array]]
CONVERGED = 1e-5
"""Relative change in the last iteration above which a variational step is not to be trusted."""


def rosenbrock(motion: Motion, q: Array, v: Array, dt: Any) -> tuple[Array, Array]:
    """Two stages, of order two and L-stable (ROS2 of Verwer et al. 1999), in θ and v:

        (1 - γ dt A) k₁ = f(u),   (1 - γ dt A) k₂ = f(u + dt k₁) - 2 k₁,   u' = u + dt (3 k₁ + k₂) / 2.

    A holds the derivatives of what is stiff, damping, friction and springs of joints, laws and forces, and leaves out
    those of inertial forces, by which the order does not change. With J_q and J_v the derivatives of efforts,

        (M - γ dt J_v - γ² dt² J_q) k_v = M r_v + γ dt J_q r_θ,   k_θ = r_θ + γ dt k_v,

    is the system to be solved, one of nv equations.
    """
    robot, g = motion.robot, GAMMA * dt
    M = robot.mass_matrix(q)
    dq, dv = passive_force_derivatives(robot.model, q, v)
    J_q, J_v = -dq, -dv
    if motion.reacts:
        law = compile(lambda robot, q, v: motion.efforts(q, v, 0.0))
        J_q, J_v = J_q + jacobian(law, "q")(robot, q, v), J_v + jacobian(law, "v")(robot, q, v)
    A = M - g * J_v - (g * g) * J_q
    is_symmetric = not motion.reacts and not any(tendon.path for tendon in robot.model.tendons)
    is_symmetric = is_symmetric and not immersed(robot.model)

    def solved(r_theta: Array, r_v: Array) -> tuple[Array, Array]:
        k_v = linalg.solve(A, M @ r_v + g * (J_q @ r_theta), positive_definite=is_symmetric)
        return r_theta + g * k_v, k_v

    k_theta, k_v = solved(v, motion.acceleration(q, v, 0.0))
    theta, v_at = dt * k_theta, v + dt * k_v
    rates = motion.rates(theta, v_at), motion.acceleration(motion.moved(q, theta), v_at, dt)
    l_theta, l_v = solved(rates[0] - 2.0 * k_theta, rates[1] - 2.0 * k_v)
    theta, v_next = dt * (1.5 * k_theta + 0.5 * l_theta), v + dt * (1.5 * k_v + 0.5 * l_v)
    return motion.moved(q, theta), v_next


LAGRANGIAN: Law = compile(lambda robot, q, v: robot.kinetic_energy(q, v) - robot.potential_energy(q))


def variational(motion: Motion, q: Array, v: Array, dt: Any) -> tuple[Array, Array]:
    """A step of order two, by the discrete principle of least action (Marsden and West 2001), on the manifold.

    The action of a step is dt L(q̄, ξ/dt) at its middle, q₀ = q̄ ⊕ -ξ/2 and q₁ = q̄ ⊕ ξ/2. That it is stationary says,
    for momenta p = M v, efforts f that do not come from energies, and with x = ξ/2,

        a₁ - a₀ = dt (∂L/∂q + f),   ½ (dexp₋ₓᵀ a₁ + dexpₓᵀ a₀) = ∂L/∂v,   p₁ = Adᵀ a₁,   a₀ = Adᵀ p₀,   Ad = exp(ad x),

    where for angles and displacements dexp and Ad are 1. It is symplectic: the energy of a motion without friction
    stays near where it was however long that takes, and momenta that are conserved are so to rounding. ξ is found by a
    fixed number of steps of Newton's method with the Jacobian M + ½ dt (∂τ/∂v + adᵀ M); `residual` is what one more
    would change.
    """
    robot = motion.robot
    M, zero = robot.mass_matrix(q), 0.0 * v
    by_v = robot.inverse_dynamics_derivatives(q, v, zero)[1]
    for at, matrix in _adjoint(robot, v):
        by_v[at] = by_v[at] + matrix.T @ M[at]
    newton = M + (0.5 * dt) * by_v
    momentum, xi = M @ v, dt * (v + (0.5 * dt) * motion.acceleration(q, v, 0.0))
    change: Any = zero
    for _ in range(ITERATIONS):
        xi = xi + change
        x, rate = 0.5 * xi, xi * (1.0 / dt)
        ad, middle = _adjoint(robot, x), integrate(robot.model, q, x)
        drag = passive_forces(robot.model, middle, rate) - passive_forces(robot.model, middle, zero)
        if immersed(robot.model):  # a wind pushes at rest, too, and has no energy
            drag = drag + fluid_forces(robot.model, middle, zero)
        push = motion.efforts(middle, rate, 0.5 * dt) - drag
        a0 = _series(ad, momentum, _EXP)
        a1 = a0 + dt * (gradient(LAGRANGIAN)(robot, middle, rate) + push)
        left = 0.5 * (_series(ad, a1, _LEFT) + _series(ad, a0, _RIGHT)) - robot.mass_matrix(middle) @ rate
        change = dt * linalg.solve(newton, left)
    q_next, p_next = integrate(robot.model, q, xi), _series(ad, a1, _EXP)  # of the same ξ, whatever is left
    residual, size = (sum(ops.absolute(x) for x in array) for array in (change, xi))
    converged = ops.logical_not(ops.less(CONVERGED * (size + dt), residual))
    ops.require(converged, "the equation of the variational step was not solved; expected a shorter step")
    motion.told["residual"] = residual
    return q_next, linalg.solve(robot.mass_matrix(q_next), p_next, positive_definite=True)


_EXP = [1.0 / factorial(k) for k in range(TERMS)]
_LEFT = [1.0 / factorial(k + 1) for k in range(TERMS)]
_RIGHT = [(-1.0) ** k / factorial(k + 1) for k in range(TERMS)]


def _adjoint(robot: Robot, x: Array) -> Adjoint:
    """Where v is not the rate of coordinates, the matrices of y ↦ ad_x y, which is the odd part of dexp⁻¹."""
    found = []
    for joint in robot.model.owners:
        if joint.nq != joint.nv:
            units = np.eye(robot.nv)[joint.v_slice]
            columns = [joint.tangent_rate(x, unit) - joint.tangent_rate(-x, unit) for unit in units]
            found.append((joint.v_slice, np.array(columns).T))
    return found


def _series(ad: Adjoint, p: Array, weights: Sequence[float]) -> Array:
    """Σ w_k (adᵀ)^k p."""
    result = np.array(p)
    for at, matrix in ad:
        power = total = p[at]
        for weight in weights[1:]:
            power = matrix.T @ power
            total = total + weight * power
        result[at] = total
    return result
