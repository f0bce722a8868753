"""Steps of free bodies along straight lines.

The velocity of a free body may be given in its own axes, which turn. Its linear part then changes by -ω × v even where
nothing pushes, and taken in steps that adds energy: a rolling ball would get faster. So a step adds forces to the
velocity in the axes at its beginning, moves the origin straight on, and turns the velocity to the new axes at its end.
"""

from __future__ import annotations

import numpy as np

from kinetree.model.joints import Free
from kinetree.model.tree import Model
from kinetree.ops import Array, cross, zeros
from kinetree.spatial import Motion
from kinetree.spatial.exponential import exp_quaternion
from kinetree.spatial.rotation import quaternion_inverse, quaternion_rotate


def straight_acceleration(model: Model, v: Array) -> Array:
    """a at which free bodies go straight on at constant speed, (nv,): -ω × v where axes turn, zero elsewhere."""
    a = zeros(model.nv, v)
    for joint in _turning(model):
        V = Motion.from_vector(v[joint.v_slice], joint.order)
        a[joint.v_slice] = Motion(-cross(V.angular, V.linear), np.zeros(3)).vector(joint.order)
    return a


def straight_step(model: Model, q: Array, step: Array) -> Array:
    """q ⊕ step, (nq,), with free bodies moved along straight lines."""
    parts: list[Array] = [np.zeros(0)]
    for joint in model.owners:
        moved = joint.integrate(q, step)
        if isinstance(joint, Free) and joint.frame == "body":
            p, xyzw = np.split(q[joint.q_slice], [3])
            linear = Motion.from_vector(step[joint.v_slice], joint.order).linear
            moved = np.concatenate([p + quaternion_rotate(xyzw, linear), moved[3:]])
        parts.append(moved)
    return np.concatenate(parts)


def in_new_axes(model: Model, v: Array, step: Array) -> Array:
    """v, in axes at the beginning of a step, in those at its end, (nv,)."""
    turned = zeros(model.nv, v)
    turned[...] = v
    for joint in _turning(model):
        V = Motion.from_vector(v[joint.v_slice], joint.order)
        back = quaternion_inverse(exp_quaternion(Motion.from_vector(step[joint.v_slice], joint.order).angular))
        turned[joint.v_slice] = Motion(quaternion_rotate(back, V.linear), V.angular).vector(joint.order)
    return turned


def _turning(model: Model) -> list[Free]:
    return [joint for joint in model.owners if isinstance(joint, Free) and joint.frame == "body"]
