"""The forces of joints themselves: rotors, friction and springs.

For a joint with position x, speed ẋ and acceleration ẍ:

    armature · ẍ                        the rotor behind the gear
    damping · ẋ                         viscous friction
    friction · ẋ / √(ẋ² + w²)           Coulomb friction, smoothed over a width w
    stiffness · (x - rest)              a spring

A mimic joint with x = r q + offset has ẋ = r v and passes its effort on to its leader, times r. Where ẋ is not v, as in
the rotation vector of a spherical joint with ẋ = D v, a spring's effort is Dᵀ stiffness · (x - rest).
"""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.model.joints import Joint
from kinetree.model.tree import Model
from kinetree.ops import Array, Scalar, sqrt, zeros


@of_one_state
def joint_forces(model: Model, q: Array, v: Array, a: Array) -> Array:
    """All four, (nv,) [N m or N]."""
    return model.armature * a + passive_forces(model, q, v)


@of_one_state
def passive_forces(model: Model, q: Array, v: Array) -> Array:
    """Damping, friction and springs, if they are part of the model, (nv,) [N m or N]: what a motor has to overcome."""
    tau = zeros(model.nv, q, v)
    for joint in _passive_joints(model):
        own, lever = joint.dynamics, joint.lever
        speed = lever * v[joint.v_slice]
        effort = np.asarray(own.damping) * speed
        if np.any(own.stiffness):
            effort = effort + joint.displacement_rates(q).T @ (np.asarray(own.stiffness) * joint.displacement(q))
        if np.any(own.friction):
            effort = effort + np.asarray(own.friction) * speed / sqrt(speed * speed + model.friction_width**2)
        tau[joint.v_slice] += lever * effort
    return tau


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
        if np.any(own.stiffness):
            dq[at, at] += lever**2 * joint.spring_slope(q)
    return dq, dv


@of_one_state
def spring_energy(model: Model, q: Array) -> Scalar:
    """½ Σ stiffness · (x - rest)², if springs are part of the model [J]."""
    energy: Scalar = np.float64(0.0)
    for joint in _passive_joints(model):
        if np.any(joint.dynamics.stiffness):
            x = joint.displacement(q)
            energy = energy + 0.5 * x @ (np.asarray(joint.dynamics.stiffness) * x)
    return energy


@of_one_state
def dissipation(model: Model, v: Array) -> Scalar:
    """D = Σ ½ damping · ẋ² + friction · √(ẋ² + w²), whose slope ∂D/∂v are damping and friction [W]."""
    total: Scalar = np.float64(0.0)
    for joint in _passive_joints(model):
        own, speed = joint.dynamics, joint.lever * v[joint.v_slice]
        total = total + 0.5 * speed @ (np.asarray(own.damping) * speed)
        if np.any(own.friction):
            total = total + (np.asarray(own.friction) * sqrt(speed * speed + model.friction_width**2)).sum()
    return total


def _passive_joints(model: Model) -> list[Joint]:
    return [joint for joint in model.joints if model.passive and joint.nv and joint.dynamics.is_passive]
