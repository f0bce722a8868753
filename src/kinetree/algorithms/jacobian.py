"""Frame Jacobians: V_F = J(q) v, and their time derivative.

Column k of J is the motion subspace column of a joint on the way from the root to F, carried to the reference. In world
coordinates a column S_W = ^0X_i S_i is fixed in body i but for S°, so that Ṡ_W = V_i × S_W + ^0X_i S°.
"""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.algorithms.arguments.references import Point, Reference
from kinetree.algorithms.kinematics import velocities, world_transforms
from kinetree.model.tree import FramePlacement, Model
from kinetree.ops import Array, cross, zeros
from kinetree.spatial import Motion, Transform


@of_one_state
def frame_jacobian(model: Model, frame: FramePlacement, q: Array, reference: Reference) -> Array:
    """J, (6, nv)."""
    return _jacobian(model, frame, q, world_transforms(model, q), reference)


@of_one_state
def body_jacobians(model: Model, q: Array, reference: Reference, point: Point) -> Array:
    """J of every body, at its origin or its centre of mass, (nbodies, 6, nv)."""
    X = world_transforms(model, q)
    J = [_jacobian(model, _at(model, i, point), q, X, reference) for i, _ in model.root_to_tips()]
    return np.array(J).reshape(model.n_bodies, 6, model.nv)


def _jacobian(model: Model, frame: FramePlacement, q: Array, X: dict[int, Transform], reference: Reference) -> Array:
    X_F0 = frame.X * X[frame.body]
    J = zeros((6, model.nv), q)
    for i in model.support(frame.body):
        joint, X_i0 = model.joints[i], X[i]
        for k, s in enumerate(joint.motion_subspace(q), start=joint.iv):
            aligned = s.rotated(X_i0.R.T)
            column = aligned.moved((0.0 if reference == "world" else X_F0.p) - X_i0.p)
            if reference == "local":
                column = column.rotated(X_F0.R)
            J[:, k] += column.vector(model.spatial_order)
    return J


@of_one_state
def frame_jacobian_rate(model: Model, frame: FramePlacement, q: Array, v: Array, reference: Reference) -> Array:
    """J̇ along v, (6, nv)."""
    return _jacobian_rate(model, frame, q, v, world_transforms(model, q), velocities(model, q, v), reference)


@of_one_state
def body_jacobian_rates(model: Model, q: Array, v: Array, reference: Reference, point: Point) -> Array:
    """J̇ along v of every body, at its origin or its centre of mass, (nbodies, 6, nv)."""
    X, V = world_transforms(model, q), velocities(model, q, v)
    dJ = [_jacobian_rate(model, _at(model, i, point), q, v, X, V, reference) for i, _ in model.root_to_tips()]
    return np.array(dJ).reshape(model.n_bodies, 6, model.nv)


def _at(model: Model, body: int, point: Point) -> FramePlacement:
    """A frame with the axes of a body at one of its points."""
    at = np.zeros(3) if point == "origin" else model.inertias[body].com
    return FramePlacement(model.names[body], body, Transform(np.eye(3), at))


def _jacobian_rate(
    model: Model, frame: FramePlacement, q: Array, v: Array, X: dict[int, Transform], V: dict[int, Motion],
    reference: Reference,
) -> Array:  # fmt: skip
    X_F0 = frame.X * X[frame.body]
    V_F = X[frame.body].inverse() * V[frame.body]  # in world coordinates, as everything below
    p_dot = V_F.moved(X_F0.p).linear
    dJ = zeros((6, model.nv), q, v)
    for i in model.support(frame.body):
        joint, X_0i = model.joints[i], X[i].inverse()
        columns, rates = joint.motion_subspace(q), joint.motion_subspace_rate(q, v)
        for k, (s, s_rate) in enumerate(zip(columns, rates, strict=True), start=joint.iv):
            s_W = X_0i * s
            rate = (X_0i * V[i]).cross(s_W) + X_0i * s_rate
            if reference == "world-aligned":  # v + ω × p changes with p, too
                rate = rate.moved(X_F0.p) + Motion(cross(s_W.angular, p_dot), 0.0 * p_dot)
            elif reference == "local":  # seen from F
                rate = X_F0 * (rate - V_F.cross(s_W))
            dJ[:, k] += rate.vector(model.spatial_order)
    return dJ
