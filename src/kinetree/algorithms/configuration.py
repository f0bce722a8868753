"""Configurations: neutral, random, and moving along and between them. Every joint handles its own part."""

from __future__ import annotations

import numpy as np

from kinetree import ops
from kinetree.algorithms.arguments.one_state import of_one_state
from kinetree.model.tree import Model
from kinetree.ops import Array


def neutral(model: Model) -> Array:
    """Every joint at zero, a free body at its parent's origin with no rotation, (nq,)."""
    return np.concatenate([np.zeros(0), *(joint.neutral() for joint in model.owners)])


def random(model: Model, rng: np.random.Generator, count: int) -> Array:
    """Drawn uniformly between the limits, (count, nq)."""
    lower, upper = model.limits.lower, model.limits.upper
    parts = (joint.random(rng, lower[joint.q_slice], upper[joint.q_slice], count) for joint in model.owners)
    return np.concatenate([np.zeros((count, 0)), *parts], axis=1)


@of_one_state
def position_rates(model: Model, q: Array) -> Array:
    """N with q̇ = N v, (nq, nv): columns span the directions in which q can move."""
    N = ops.zeros((model.nq, model.nv), q)
    for joint in model.owners:
        N[joint.q_slice, joint.v_slice] = joint.position_rates(q)
    return N


@of_one_state
def integrate(model: Model, q: Array, dv: Array) -> Array:
    """q ⊕ dv, (nq,): where a constant velocity v = dv leads in unit time."""
    return np.concatenate([np.zeros(0), *(joint.integrate(q, dv) for joint in model.owners)])


@of_one_state
def difference(model: Model, q0: Array, q1: Array) -> Array:
    """q1 ⊖ q0, (nv,): the dv with q0 ⊕ dv = q1."""
    return np.concatenate([np.zeros(0), *(joint.difference(q0, q1) for joint in model.owners)])


@of_one_state
def tangent_rates(model: Model, theta: Array, v: Array) -> Array:
    """θ̇ for q = q_0 ⊕ θ moving with v, (nv,), up to terms of fifth order in θ."""
    return np.concatenate([np.zeros(0), *(joint.tangent_rate(theta, v) for joint in model.owners)])
