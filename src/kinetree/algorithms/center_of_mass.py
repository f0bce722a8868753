"""The centre of mass of everything that moves, its velocity, acceleration and Jacobian.

    m c = Σ (m_i p_i + R_i h_i)        m ċ = Σ R_i f(I_i v_i)        m c̈ = Σ R_i f(I_i a_i + v_i ×* I_i v_i)

m is the total mass, f(·) the linear part of a momentum or its rate; column k of J moves the subtree of joint k as one
body.
"""

from __future__ import annotations

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.kinematics import accelerations, velocities, world_transforms
from kinetree.model.tree import Model
from kinetree.ops import Array, cross, zeros


@of_one_state
def first_moment(model: Model, q: Array) -> Array:
    """Σ m_i c_i in the world, (3,) [kg m]."""
    X = world_transforms(model, q)
    moment = zeros(3, q)
    for i in model.moving:
        I = model.inertias[i]
        moment = moment + X[i].p * I.mass + X[i].R.T @ I.h
    return moment


@of_one_state
def center_of_mass(model: Model, q: Array) -> Array:
    """c in the world, (3,) [m]."""
    return first_moment(model, q) / model.mass


@of_one_state
def center_of_mass_velocity(model: Model, q: Array, v: Array) -> Array:
    """ċ in the world, (3,) [m/s]."""
    X, V = world_transforms(model, q), velocities(model, q, v)
    momentum = zeros(3, q, v)
    for i in model.moving:
        momentum = momentum + X[i].R.T @ (model.inertias[i] * V[i]).force
    return momentum / model.mass


@of_one_state
def center_of_mass_acceleration(model: Model, q: Array, v: Array, a: Array) -> Array:
    """c̈ in the world, gravity not included, (3,) [m/s²]."""
    X, V, A = world_transforms(model, q), velocities(model, q, v), accelerations(model, q, v, a)
    rate = zeros(3, q, v, a)
    for i in model.moving:
        I = model.inertias[i]
        rate = rate + X[i].R.T @ I.net_force(V[i], A[i]).force
    return rate / model.mass


@of_one_state
def center_of_mass_jacobian(model: Model, q: Array) -> Array:
    """J with ċ = J v, (3, nv)."""
    X = world_transforms(model, q)
    mass = [inertia.mass for inertia in model.inertias]  # of the subtree of each body
    moment = {i: inertia.h for i, inertia in enumerate(model.inertias)}  # its first moment, in body coordinates
    J = zeros((3, model.nv), q)
    for i, p in model.tips_to_root():
        joint = model.joints[i]
        for k, s in enumerate(joint.motion_subspace(q), start=joint.iv):
            J[:, k] += X[i].R.T @ (s.linear * mass[i] + cross(s.angular, moment[i])) / model.mass
        X_ip = joint.transform(q) * model.placements[i]
        moment[p] = moment[p] + X_ip.R.T @ moment[i] + X_ip.p * mass[i]
        mass[p] += mass[i]
    return J
