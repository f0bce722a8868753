"""Hypothesis strategies: random trees with random states."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import kinetree as kt
from kinetree.model.random import EVERY_JOINT


@dataclass
class State:
    robot: kt.Robot
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    rng: np.random.Generator


def state_of(robot: kt.Robot, rng: np.random.Generator) -> State:
    return State(robot, robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv), rng)


@st.composite
def states(draw: st.DrawFn, joints: tuple[str, ...] = EVERY_JOINT, **options: object) -> State:
    """A random tree of 1 to 9 bodies in one of all the conventions, with a random state."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    chosen = {
        "base": st.sampled_from(["fixed", "floating"]),
        "spatial_order": st.sampled_from(["linear-first", "angular-first"]),
        "base_velocity": st.sampled_from(["body", "mixed"]),
    }
    arguments = {name: options.get(name) or draw(strategy) for name, strategy in chosen.items()}
    model = kt.random_model(rng, draw(st.integers(1, 9)), joints, **arguments)
    return state_of(kt.Robot(model), rng)
