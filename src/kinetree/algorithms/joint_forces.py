"""The forces of joints themselves: rotors, friction and springs.

For a joint with position x, speed ẋ and acceleration ẍ:

    armature · ẍ                        the rotor behind the gear
    damping · ẋ                         viscous friction
    friction · ẋ / √(ẋ² + w²)           Coulomb friction, smoothed over a width w
    stiffness · (x - rest)              a spring

A mimic joint with x = r q + offset has ẋ = r v and passes its effort on to its leader, times r. Where ẋ is not v, as in
the rotation vector of a spherical joint with ẋ = D v, a spring's effort is Dᵀ stiffness · (x - rest). Where v is in
axes that turn, as of a free joint, rotors add a Coriolis term. A tendon of length ℓ has damping, friction and a spring
too, for ℓ instead of x: its force f gives the efforts Jᵀ f, with ℓ̇ = J v. Gravity compensation and the forces of a
fluid are `passive` forces as well.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.fluid import fluid_force_derivatives, fluid_forces, immersed
from kinetree.algorithms.gravity_compensation import (
    compensates,
    compensation_derivative,
    compensation_energy,
    compensation_forces,
)
from kinetree.algorithms.passes.forward_pass import ForwardPass
from kinetree.algorithms.passes.tendon_paths import jacobian_slope, tendon_states
from kinetree.linalg import outer
from kinetree.model.joints import Joint
from kinetree.model.joints.dynamics import is_present
from kinetree.model.tendons import Tendon
from kinetree.model.tree import Model
from kinetree.ops import Array, Scalar, less, logical_and, sqrt, where, zeros


@of_one_state
def joint_forces(model: Model, q: Array, v: Array, a: Array) -> Array:
    """All four, (nv,) [N m or N]."""
    return model.armature * a + rotor_bias(model, v) + passive_forces(model, q, v)


@of_one_state
def rotor_coriolis(model: Model, v: Array) -> Array:
    """C of the rotors alone, (nv, nv), skew-symmetric and linear in v."""
    C = zeros((model.nv, model.nv), v, model.armature)
    for joint, own in _turning_rotors(model, v):
        C[joint.v_slice, joint.v_slice] = own
    return C


@of_one_state
def rotor_bias(model: Model, v: Array) -> Array:
    """C v of the rotors alone, (nv,) [N m or N]."""
    b = zeros(model.nv, v, model.armature)
    for joint, own in _turning_rotors(model, v):
        b[joint.v_slice] = own @ v[joint.v_slice]
    return b


@of_one_state
def rotor_bias_derivative(model: Model, v: Array) -> Array:
    """∂(C v)/∂v of the rotors, (nv, nv): C is linear in v, so that column k is C(v) e_k + C(e_k) v."""
    slope = rotor_coriolis(model, v)
    for joint, _ in _turning_rotors(model, v):
        for k in range(joint.iv, joint.iv + joint.nv):
            slope[:, k] += rotor_coriolis(model, np.eye(model.nv)[k]) @ v
    return slope


@of_one_state
def passive_forces(model: Model, q: Array, v: Array) -> Array:
    """Damping, friction, springs, gravity compensation and a fluid, if they are part of the model, (nv,) [N m or N]:
    what a motor has to overcome."""
    tau = zeros(model.nv, q, v)
    for joint in _passive_joints(model):
        own, lever = joint.dynamics, joint.lever
        speed = lever * v[joint.v_slice]
        effort = np.asarray(own.damping) * speed
        if is_present(own.stiffness):
            effort = effort + joint.displacement_rates(q).T @ (np.asarray(own.stiffness) * joint.displacement(q))
        if is_present(own.friction):
            effort = effort + np.asarray(own.friction) * speed / sqrt(speed * speed + model.friction_width**2)
        tau[joint.v_slice] += lever * effort
    for tendon, length, J in tendon_states(model, _pulling(model), q):
        tau = tau + J * _pull(model, tendon, length, J @ v)
    tau = tau + fluid_forces(model, q, v) if immersed(model) else tau
    return tau + compensation_forces(model, q) if compensates(model) else tau


@of_one_state
def passive_force_derivatives(model: Model, q: Array, v: Array) -> tuple[Array, Array]:
    """∂/∂q and ∂/∂v of the passive forces, (nv, nv) each; friction · w² / (ẋ² + w²)^{3/2} is the slope of friction."""
    dq, dv = zeros((model.nv, model.nv), q), zeros((model.nv, model.nv), v)
    width = model.friction_width**2
    for joint in _passive_joints(model):
        own, lever, at = joint.dynamics, joint.lever, joint.v_slice
        square = (lever * v[at]) ** 2 + width
        slope = np.asarray(own.damping) + np.asarray(own.friction) * width / (square * sqrt(square))
        dv[at, at] += lever**2 * np.diag(slope)
        if is_present(own.stiffness):
            dq[at, at] += lever**2 * joint.spring_slope(q)
    by_q, by_v = _pull_derivatives(model, q, v)
    dq = dq + compensation_derivative(model, q) if compensates(model) else dq
    if immersed(model):
        in_fluid = fluid_force_derivatives(model, q, v)
        by_q, by_v = by_q + in_fluid[0], by_v + in_fluid[1]
    return dq + by_q, dv + by_v


def _pull_derivatives(model: Model, q: Array, v: Array) -> tuple[Array, Array]:
    """Those of the efforts J f of tendons, (nv, nv) each: ∂f/∂ℓ J Jᵀ + ∂f/∂ℓ̇ J (Dᵀ v)ᵀ + f D and ∂f/∂ℓ̇ J Jᵀ, with D the
    slope of J."""
    dq, dv = zeros((model.nv, model.nv), q, v), zeros((model.nv, model.nv), q, v)
    tendons, width = _pulling(model), model.friction_width**2
    moving = ForwardPass(model, q, v) if any(tendon.path for tendon in tendons) else None
    own, speed = (model, v) if moving is None else (moving.model, moving.body.v_b)
    tau = zeros(model.nv, q, v)
    for tendon, length, J in tendon_states(own, tendons, q):
        rate = J @ speed
        square = rate * rate + width
        is_slack = logical_and(less(tendon.rest[0], length), less(length, tendon.rest[1]))
        by_rate = tendon.damping + tendon.friction * width / (square * sqrt(square))
        dq = dq + where(is_slack, 0.0, tendon.stiffness) * outer(J, J)
        dv = dv + by_rate * outer(J, J)
        if moving is not None and tendon.path:
            D, pull = jacobian_slope(moving, tendon, q), _pull(model, tendon, length, rate)
            dq, tau = dq + by_rate * outer(J, speed @ D) + pull * D, tau + J * pull
    if moving is not None and moving.body.turns:
        dq, dv = moving.body.back(tau, zeros((model.nv, model.nv), q), dq, dv)
    return dq, dv


@of_one_state
def spring_energy(model: Model, q: Array) -> Scalar:
    """½ Σ stiffness · (x - rest)², and that of gravity compensation, if these are part of the model [J]."""
    energy: Scalar = np.float64(0.0)
    for joint in _passive_joints(model):
        if is_present(joint.dynamics.stiffness):
            x = joint.displacement(q)
            energy = energy + 0.5 * x @ (np.asarray(joint.dynamics.stiffness) * x)
    for tendon, length, _ in tendon_states(model, _pulling(model), q):
        energy = energy + 0.5 * tendon.stiffness * tendon.stretch(length) ** 2
    return energy + compensation_energy(model, q) if compensates(model) else energy


@of_one_state
def dissipation(model: Model, q: Array, v: Array) -> Scalar:
    """D = Σ ½ damping · ẋ² + friction · √(ẋ² + w²), whose slope ∂D/∂v are damping and friction [W]. Forces of a fluid
    are no such slope."""
    total: Scalar = np.float64(0.0)
    for joint in _passive_joints(model):
        own, speed = joint.dynamics, joint.lever * v[joint.v_slice]
        total = total + 0.5 * speed @ (np.asarray(own.damping) * speed)
        if is_present(own.friction):
            total = total + (np.asarray(own.friction) * sqrt(speed * speed + model.friction_width**2)).sum()
    for tendon, _, J in tendon_states(model, _pulling(model), q):
        rate = J @ v
        total = total + 0.5 * tendon.damping * rate * rate
        if tendon.friction:
            total = total + tendon.friction * sqrt(rate * rate + model.friction_width**2)
    return total


def _pulling(model: Model) -> tuple[Tendon, ...]:
    """Tendons with a force that is part of the model."""
    return tuple(tendon for tendon in model.tendons if model.passive and tendon.pulls)


def _pull(model: Model, tendon: Tendon, length: Scalar, rate: Scalar) -> Scalar:
    """f of a tendon [N]."""
    force = tendon.stiffness * tendon.stretch(length) + tendon.damping * rate
    if tendon.friction:
        force = force + tendon.friction * rate / sqrt(rate * rate + model.friction_width**2)
    return force


def _turning_rotors(model: Model, v: Array) -> Iterator[tuple[Joint, Array]]:
    """Joints with a rotor whose axes turn, and the C of it."""
    for joint in model.joints:
        if is_present(joint.dynamics.armature):
            own = joint.rotor_coriolis(v, np.broadcast_to(joint.dynamics.armature, joint.nv))
            if own is not None:
                yield joint, own


def _passive_joints(model: Model) -> list[Joint]:
    return [joint for joint in model.joints if model.passive and joint.nv and joint.dynamics.is_passive]
