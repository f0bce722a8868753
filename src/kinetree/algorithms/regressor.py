"""Dynamics is linear in the inertial parameters: τ = Y(q, v, a) φ.

φ has ten numbers for every body, about its own origin: m, m c_x, m c_y, m c_z, Ixx, Ixy, Iyy, Ixz, Iyz, Izz. The force
that moves a body is linear in them, f = Y_i(v_i, a_i) φ_i, so that column k of Y_i is the force on a body with φ = e_k,
and Y collects Jᵀ Y_i over all bodies. Where joints of the model have rotors, damping or friction, these parameters
follow, one of each kind for every coordinate of every moving joint (`extra_parameters`).
"""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.kinematics import accelerations, velocities, world_transforms
from kinetree.algorithms.passes.column_pairs import block
from kinetree.algorithms.passes.common_frame import CommonFrame
from kinetree.model.joints import Joint
from kinetree.model.joints.dynamics import is_present
from kinetree.model.parametric import INERTIAL
from kinetree.model.tree import FramePlacement, Model
from kinetree.ops import Array, sqrt, zeros
from kinetree.spatial import Force, Inertia, Motion

UNITS = tuple(Inertia.from_parameters(unit) for unit in np.eye(10))
"""A body for each parameter, that has nothing but it."""


def extra_parameters(model: Model) -> list[tuple[str, Joint, int]]:
    """Kind, joint and coordinate of the parameters beyond those of bodies."""
    inputs = () if model.parametric is None else model.parametric.joint
    kinds: tuple[str, ...] = ("armature", "damping", "friction") if model.passive else ("armature",)
    if not inputs:
        kinds = tuple(kind for kind in kinds if any(is_present(getattr(each.dynamics, kind)) for each in model.joints))
    return [(kind, joint, k) for kind in kinds for joint in model.joints[1:] for k in range(joint.nv)]


def parameter_names(model: Model) -> tuple[str, ...]:
    """One for each entry of φ, such as "forearm.Ixx" or "elbow.damping"."""
    bodies = [f"{body}.{name}" for body in model.names[1:] for name in INERTIAL]
    extra = [f"{joint.name}.{kind}" + (f"[{k}]" if joint.nv > 1 else "") for kind, joint, k in extra_parameters(model)]
    return (*bodies, *extra)


def parameters(model: Model) -> Array:
    """φ of this model."""
    bodies = [inertia.parameters() for inertia in model.inertias[1:]]
    extra = [
        float(np.broadcast_to(getattr(joint.dynamics, kind), joint.nv)[k]) for kind, joint, k in extra_parameters(model)
    ]
    return np.concatenate([*bodies, np.array(extra)])


def size(model: Model) -> int:
    """The number of parameters."""
    return 10 * model.n_bodies + len(extra_parameters(model))


def body_regressor(V: Motion, A: Motion) -> list[Force]:
    """Ten forces with I a + v ×* I v = Σ φ_k f_k."""
    return [unit.net_force(V, A) for unit in UNITS]


@of_one_state
def frame_body_regressor(model: Model, frame: FramePlacement, q: Array, v: Array, a: Array) -> Array:
    """Y_F, (6, 10): what moves a body with parameters φ about a frame that it is fixed to is Y_F φ, in its axes."""
    V = frame.X * velocities(model, q, v)[frame.body]
    A = frame.X * accelerations(model, q, v, a, Motion(-model.gravity, np.zeros(3)))[frame.body]
    return np.array([f.vector(model.spatial_order) for f in body_regressor(V, A)]).T


@of_one_state
def regressor(model: Model, q: Array, v: Array, a: Array) -> Array:
    """Y with τ = Y φ, (nv, size)."""
    frame = CommonFrame.of(model, q)
    V, A = velocities(model, q, v), accelerations(model, q, v, a, Motion(-model.gravity, np.zeros(3)))
    Y = zeros((model.nv, size(model)), q, v, a)
    for i, _ in model.root_to_tips():
        forces = [frame.X[i].transpose() * f for f in body_regressor(V[i], A[i])]
        columns = slice(10 * (i - 1), 10 * i)
        for j in model.support(i):
            Y[model.joints[j].v_slice, columns] += block(frame.S[j], forces)
    for column, (kind, joint, k) in enumerate(extra_parameters(model), 10 * model.n_bodies):
        row = joint.iv + k
        speed = joint.lever * v[row]
        if kind == "armature":
            Y[row, column] += joint.lever**2 * a[row]
            if (C := joint.rotor_coriolis(v, np.eye(joint.nv)[k])) is not None:
                Y[joint.v_slice, column] += C @ v[joint.v_slice]
        elif kind == "damping":
            Y[row, column] += joint.lever * speed
        else:
            Y[row, column] += joint.lever * speed / sqrt(speed * speed + model.friction_width**2)
    return Y


@of_one_state
def kinetic_energy_regressor(model: Model, q: Array, v: Array) -> Array:
    """y with T = yᵀ φ, (size,)."""
    V = velocities(model, q, v)
    y = zeros(size(model), q, v)
    for i, _ in model.root_to_tips():
        y[10 * (i - 1) : 10 * i] = np.array([0.5 * V[i].dot(unit * V[i]) for unit in UNITS])
    for column, (kind, joint, k) in enumerate(extra_parameters(model), 10 * model.n_bodies):
        if kind == "armature":
            y[column] = 0.5 * (joint.lever * v[joint.iv + k]) ** 2
    return y


@of_one_state
def potential_energy_regressor(model: Model, q: Array) -> Array:
    """y with U = yᵀ φ, that of gravity alone, (size,)."""
    y, X = zeros(size(model), q), world_transforms(model, q)
    for i, _ in model.root_to_tips():
        y[10 * (i - 1)] = -(model.gravity @ X[i].p)
        y[10 * (i - 1) + 1 : 10 * (i - 1) + 4] = -(X[i].R @ model.gravity)
    return y
