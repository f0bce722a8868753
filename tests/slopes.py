"""Derivatives by difference quotients, and random trees in all conventions to take them of."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

import kinetree as kt
from peers import close
from states import State, state_of

STEP = 1e-6


@st.composite
def moving(draw: st.DrawFn) -> State:
    """A random tree of 1 to 6 bodies in one of all conventions, with motors, by the textbook."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    options = {
        "base": draw(st.sampled_from(["fixed", "floating"])),
        "spatial_order": draw(st.sampled_from(["linear-first", "angular-first"])),
        "base_velocity": draw(st.sampled_from(["body", "mixed"])),
        "joint_dynamics": draw(st.booleans()),
    }
    return state_of(kt.Robot(kt.random_model(rng, draw(st.integers(1, 6)), **options)).eager, rng)


def quotients(s: State, function: Callable[..., np.ndarray], third: np.ndarray, step: float = STEP) -> list[np.ndarray]:
    """Central differences of function(q, v, third) by each of the three, along the last axis."""
    columns: tuple[list[np.ndarray], ...] = ([], [], [])
    for unit in step * np.eye(s.robot.nv):
        ahead, behind = s.robot.integrate(s.q, unit), s.robot.integrate(s.q, -unit)
        columns[0].append(function(ahead, s.v, third) - function(behind, s.v, third))
        columns[1].append(function(s.q, s.v + unit, third) - function(s.q, s.v - unit, third))
        columns[2].append(function(s.q, s.v, third + unit) - function(s.q, s.v, third - unit))
    none = np.zeros((*np.shape(function(s.q, s.v, third)), 0))
    return [np.stack(column, axis=-1) / (2 * step) if column else none for column in columns]


def near(x: object, reference: object) -> None:
    """As close as difference quotients are."""
    close(x, reference, 3e-7)
