"""Hypothesis strategies: random trees with random states, and derivatives along their motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import kinetree as kt
from kinetree.model.random import EVERY_JOINT

H = 1e-6
"""The step [s] of difference quotients."""


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


def rate_along(s: State, function):
    """d/dt of function(q, v) along v and a, by central differences."""
    ahead = function(s.robot.integrate(s.q, H * s.v), s.v + H * s.a)
    behind = function(s.robot.integrate(s.q, -H * s.v), s.v - H * s.a)
    return (ahead - behind) / (2 * H)


def linear_first(six: np.ndarray, order: str) -> np.ndarray:
    """A 6-vector of the given order with its linear part first; as well the other way round."""
    return np.roll(six, 3) if order == "angular-first" else six


def pushed(s: State):
    """The motion of a floating robot under forces at two frames, its joints driven at random, and those forces."""
    robot = s.robot.eager
    frames = [str(name) for name in s.rng.choice(robot.frame_names, 2, replace=False)]
    pushes = {frames[0]: s.rng.normal(size=6), frames[1]: kt.Wrench(s.rng.normal(size=6), "local")}
    tau = np.concatenate([np.zeros(6), s.rng.normal(size=robot.nv - 6)])
    return robot.forward_dynamics(s.q, s.v, tau, pushes), pushes
