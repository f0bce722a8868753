"""The equations of motion by projecting Newton's and Euler's laws of every body with its Jacobian.

With J_i the Jacobian of body i, V_i = J_i v and spatial inertia I_i, all in one frame:

    M = Σ J_iᵀ I_i J_i
    C = Σ J_iᵀ (I_i J̇_i + V_i ×* I_i J_i)
    b = Σ J_iᵀ (I_i J̇_i v + V_i ×* I_i V_i)
    g = -Σ J_iᵀ I_i (g, 0)

so that M a + b + g = τ and b = C v. J̇ is the rate in coordinates that stand still; with J̇°, as body i sees its columns
change, it is J̇° + V × J, and C = Σ Jᵀ (I J̇° + I V× J + V ×* I J). Slower than the recursions, which share what these
sums repeat, and without any recursion.
"""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.arguments.one_state import NO_FORCES, ExternalForces, of_one_state
from kinetree.algorithms.joint_forces import rotor_bias, rotor_coriolis
from kinetree.algorithms.passes.common_frame import CommonFrame, columns
from kinetree.model.joints.joint import combination
from kinetree.model.tree import Model
from kinetree.ops import Array, zeros
from kinetree.spatial import Force, Motion


@of_one_state
def mass_matrix(model: Model, q: Array) -> Array:
    """M = Σ Jᵀ I J and the rotors, (nv, nv)."""
    frame = CommonFrame.of(model, q)
    M = zeros((model.nv, model.nv), q)
    for i, _ in model.root_to_tips():
        J = columns(model, frame.S, i)
        for column, s in J:
            momentum = frame.I[i] * s
            for row, other in J:
                M[row, column] += other.dot(momentum)
    return M + np.diag(model.armature)


@of_one_state
def coriolis_matrix(model: Model, q: Array, v: Array) -> Array:
    """C = Σ Jᵀ (I J̇ + V ×* I J), (nv, nv): Ṁ - 2C is skew-symmetric, and yet it is not the C of `coriolis`."""
    frame = CommonFrame.of(model, q)
    V, rates = _motion(model, frame, q, v)
    C = zeros((model.nv, model.nv), q, v) + rotor_coriolis(model, v)
    for i, _ in model.root_to_tips():
        J, dJ = columns(model, frame.S, i), columns(model, rates, i)
        for (column, s), (_, rate) in zip(J, dJ, strict=True):
            force = frame.I[i] * rate + V[i].cross(frame.I[i] * s)
            for row, other in J:
                C[row, column] += other.dot(force)
    return C


def _motion(
    model: Model, frame: CommonFrame, q: Array, v: Array
) -> tuple[dict[int, Motion], dict[int, tuple[Motion, ...]]]:
    """V of every body, and the rates of the columns of its joint."""
    V, rates = {0: Motion.zero()}, {}
    for i, p in model.root_to_tips():
        joint = model.joints[i]
        V[i] = V[p] + combination(frame.S[i], v[joint.v_slice])
        own = frame.motions(i, joint.motion_subspace_rate(q, v))
        rates[i] = tuple(V[i].cross(s) + apart for s, apart in zip(frame.S[i], own, strict=True))
    return V, rates


@of_one_state
def bias_forces(model: Model, q: Array, v: Array, f_ext: ExternalForces = NO_FORCES) -> Array:
    """b + g - Σ Jᵀ f_ext, (nv,) [N m or N]."""
    return coriolis_forces(model, q, v) + gravity_forces(model, q) - projected_forces(model, q, f_ext)


@of_one_state
def coriolis_forces(model: Model, q: Array, v: Array) -> Array:
    """b = C v, (nv,) [N m or N]."""
    frame = CommonFrame.of(model, q)
    V, rates = _motion(model, frame, q, v)
    b = zeros(model.nv, q, v) + rotor_bias(model, v)
    for i, _ in model.root_to_tips():
        A = Motion.zero()  # J̇ v
        for column, rate in columns(model, rates, i):
            A = A + rate * v[column]
        force = frame.I[i] * A + V[i].cross(frame.I[i] * V[i])
        _project(model, frame, i, force, b)
    return b


@of_one_state
def gravity_forces(model: Model, q: Array) -> Array:
    """g, (nv,) [N m or N]."""
    frame = CommonFrame.of(model, q)
    g = zeros(model.nv, q)
    for i, _ in model.root_to_tips():
        _project(model, frame, i, -(frame.I[i] * Motion(frame.gravity, np.zeros(3))), g)
    return g


@of_one_state
def projected_forces(model: Model, q: Array, f_ext: ExternalForces = NO_FORCES) -> Array:
    """Σ Jᵀ f_ext, (nv,) [N m or N]."""
    frame = CommonFrame.of(model, q)
    total = zeros(model.nv, q, *(force.force for force in f_ext.values()))
    for i, force in f_ext.items():
        _project(model, frame, i, frame.X[i].transpose() * force, total)
    return total


def _project(model: Model, frame: CommonFrame, body: int, force: Force, total: Array) -> None:
    """total += Jᵀ f."""
    for row, s in columns(model, frame.S, body):
        total[row] += s.dot(force)
