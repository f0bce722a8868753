"""Poses, velocities and accelerations of bodies and frames.

Positions:       ^i X_0 = ^i X_λ(i) ^λ(i) X_0
Velocities:      v_i = ^i X_λ(i) v_λ(i) + S_i q̇_i
Accelerations:   a_i = ^i X_λ(i) a_λ(i) + S_i q̈_i + S°_i q̇_i + v_i × S_i q̇_i

q̇_i and q̈_i are joint i's entries of v and a.
"""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.arguments.references import AccelerationKind, Reference, expressed
from kinetree.algorithms.configuration import neutral
from kinetree.algorithms.passes.column_pairs import rows_of
from kinetree.model.tree import FramePlacement, Model
from kinetree.ops import Array, zeros
from kinetree.spatial import Motion, Transform


@of_one_state
def world_transforms(model: Model, q: Array) -> dict[int, Transform]:
    """^i X_0 of every body, from world to body coordinates."""
    X = {0: Transform.identity()}
    for i, p in model.root_to_tips():
        X[i] = model.joints[i].transform(q) * model.placements[i] * X[p]
    return X


@of_one_state
def velocities(model: Model, q: Array, v: Array) -> dict[int, Motion]:
    """Spatial velocity of every body, in body coordinates [m/s, rad/s]."""
    V = {0: Motion.zero()}
    for i, p in model.root_to_tips():
        joint = model.joints[i]
        X = joint.transform(q) * model.placements[i]
        V[i] = X * V[p] + joint.velocity(q, v)
    return V


@of_one_state
def accelerations(model: Model, q: Array, v: Array, a: Array, root: Motion | None = None) -> dict[int, Motion]:
    """Spatial acceleration of every body, in body coordinates, gravity not included unless `root`, that of the world,
    says so [m/s², rad/s²]."""
    V, A = velocities(model, q, v), {0: Motion.zero() if root is None else root}
    for i, p in model.root_to_tips():
        joint = model.joints[i]
        X = joint.transform(q) * model.placements[i]
        A[i] = X * A[p] + joint.acceleration(q, v, a) + V[i].cross(joint.velocity(q, v))
    return A


@of_one_state
def poses(model: Model, q: Array) -> Array:
    """Pose of every body in the world, (nbodies, 4, 4)."""
    X = world_transforms(model, q)
    return np.array([X[i].pose() for i, _ in model.root_to_tips()]).reshape(-1, 4, 4)


@of_one_state
def body_velocities(model: Model, q: Array, v: Array, reference: Reference) -> Array:
    """Velocity of every body at its origin, expressed in a reference, (nbodies, 6)."""
    X, V = world_transforms(model, q), velocities(model, q, v)
    return rows_of((expressed(V[i], X[i], reference) for i, _ in model.root_to_tips()), model.spatial_order)


@of_one_state
def body_accelerations(
    model: Model, q: Array, v: Array, a: Array, reference: Reference, kind: AccelerationKind
) -> Array:
    """Acceleration of every body at its origin, gravity not included, (nbodies, 6)."""
    X, V, A = world_transforms(model, q), velocities(model, q, v), accelerations(model, q, v, a)
    A = {i: expressed(A[i], X[i], reference) for i, _ in model.root_to_tips()}
    if kind == "classical":
        A = {i: A[i].classical(expressed(V[i], X[i], reference)) for i in A}
    return rows_of(A.values(), model.spatial_order)


@of_one_state
def joint_axes(model: Model, q: Array) -> Array:
    """n_k in the world: the axis that each velocity turns about or, where it does not turn, slides along, (nv, 3)."""
    X, rest = world_transforms(model, q), neutral(model)
    n = zeros((model.nv, 3), q)
    for i, _ in model.root_to_tips():
        joint = model.joints[i]
        if joint.owns_coordinates:
            columns = zip(joint.motion_subspace(q), joint.motion_subspace(rest), strict=True)
            for k, (s, at_rest) in enumerate(columns, start=joint.iv):
                n[k] = X[i].R.T @ (s.angular if at_rest.angular.any() else s.linear)
    return n


@of_one_state
def frame_transform(model: Model, frame: FramePlacement, q: Array) -> Transform:
    """^F X_0, from world to frame coordinates."""
    return frame.X * world_transforms(model, q)[frame.body]


@of_one_state
def frame_pose(model: Model, frame: FramePlacement, q: Array) -> Array:
    """Pose of a frame in the world, (4, 4)."""
    return frame_transform(model, frame, q).pose()


@of_one_state
def frame_velocity(model: Model, frame: FramePlacement, q: Array, v: Array, reference: Reference) -> Motion:
    """Velocity of a frame, expressed in a reference."""
    V = frame.X * velocities(model, q, v)[frame.body]
    return expressed(V, frame_transform(model, frame, q), reference)


@of_one_state
def frame_acceleration(
    model: Model, frame: FramePlacement, q: Array, v: Array, a: Array, reference: Reference, kind: AccelerationKind
) -> Motion:
    """Acceleration of a frame, gravity not included; classical adds ω × v to the spatial one."""
    A = frame.X * accelerations(model, q, v, a)[frame.body]
    A = expressed(A, frame_transform(model, frame, q), reference)
    return A if kind == "spatial" else A.classical(frame_velocity(model, frame, q, v, reference))


@of_one_state
def frame_bias_acceleration(
    model: Model, frame: FramePlacement, q: Array, v: Array, reference: Reference, kind: AccelerationKind
) -> Motion:
    """The acceleration a frame has at a = 0.

    J̇ v of the world-aligned Jacobian is the classical one, J̇ v of the local and of the world Jacobian the spatial one.
    """
    return frame_acceleration(model, frame, q, v, np.zeros(model.nv), reference, kind)
