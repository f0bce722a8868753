"""The same robot with part of each body's inertia on its parent: fewer numbers, so shorter code.

A part of body i that does not notice joint i moves as well with the parent λ(i). For a joint that turns about the axis
e_3 of its frame, with e_1 and e_2 normal to it, such a part is any with the parameters

    m,   h_3,   J = I_11 = I_22,     h_1 = h_2 = 0,   I_33 = I_12 = I_13 = I_23 = 0

since it looks the same from every angle, and has no momentum from turning. Taken from the tips to the root with the m,
h_3 and I_22 that each body then has, it leaves

    m = 0,   h_3 = 0,   I_22 = 0,    I_11 - I_22 and the others

Bodies whose parent does not move keep all, so that sums over bodies that move stay the same: mass, centre of mass,
momentum. What belongs to one body, such as the wrench in a joint, needs its inertia as it was. Khalil and Kleinfinger
1987 find the base inertial parameters of an arm so; here only joints that turn are regrouped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

import numpy as np

from kinetree.model.joints import Continuous, Joint, Revolute
from kinetree.model.tree import Model
from kinetree.spatial import Inertia

ROUNDING = 1e-15
"""The part of the largest entry of a rotational inertia below which a difference is zero."""


def regrouped(model: Model) -> Model:
    """The model with inertias regrouped, but for those that are inputs, their neighbours, and where placements are."""
    inputs = () if model.parametric is None else model.parametric.inertial
    if model.parametric is not None and model.parametric.placement:
        return model
    inertias, moving = list(model.inertias), set(model.moving)
    for i, p in model.tips_to_root():
        joint = model.joints[i]
        if p not in moving or i in inputs or p in inputs or not _turns(joint):
            continue
        third = int(np.argmax(np.abs(joint.axis)))
        if abs(joint.axis[third]) == 1.0:
            own, part = _divided(inertias[i], third)
            inertias[i], inertias[p] = own, inertias[p] + model.placements[i].inverse() * part
    return replace(model, inertias=tuple(inertias))


def _turns(joint: Joint) -> TypeGuard[Revolute]:
    """Whether a joint turns about its axis; a class that is derived from these may move in its own way."""
    return type(joint) in (Revolute, Continuous)


def _divided(inertia: Inertia, third: int) -> tuple[Inertia, Inertia]:
    """What stays on a body that turns about this axis, and what moves with its parent."""
    first, second = (third + 1) % 3, (third + 2) % 3
    J = inertia.I[second, second]
    h, around = np.zeros(3), np.zeros((3, 3))
    h[third], around[first, first], around[second, second] = inertia.h[third], J, J
    left = inertia.I - around
    left[np.abs(left) <= ROUNDING * np.abs(inertia.I).max()] = 0.0
    return Inertia(0.0, inertia.h - h, left), Inertia(inertia.mass, h, around)
