"""One step as a compiled function, for loops of the user's own, and its derivatives, for control over a horizon."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.errors import one_of
from kinetree.functions.derivatives import jacobian
from kinetree.functions.law import compile
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.simulation.dynamics import own_dynamics
from kinetree.simulation.integrators import Motion
from kinetree.simulation.step import INTEGRATORS


@compile(shapes={"dt": ()})
def next_state(
    robot: Robot, q: Any, v: Any, tau: Any, dt: Any, integrator: str = "semi-implicit-euler"
) -> tuple[Array, Array]:
    """q (nq,) and v (nv,) after a step of `dt` [s] under efforts tau (nv,) that are held during it.

    integrator   those of `robot.rollout` that make steps of given length
    """
    step, dynamics = INTEGRATORS[one_of("integrator", integrator, INTEGRATORS)], own_dynamics(robot)
    after = step(Motion(robot, dynamics.acceleration, lambda q, v, later: tau), q, v, dt)
    return after if dynamics.settled is None else dynamics.settled(*after)


@compile(shapes={"dt": (), "origin": "q"})
def _deviation(
    robot: Robot, q: Any, v: Any, tau: Any, dt: Any, origin: Any, integrator: str = "semi-implicit-euler"
) -> Array:
    """(q' ⊖ origin, v'), (2 nv,)."""
    q_next, v_next = next_state(robot, q, v, tau, dt, integrator)
    return np.concatenate([robot.difference(origin, q_next), v_next])


@compile(shapes={"dt": ()})
def linearized_step(
    robot: Robot, q: Any, v: Any, tau: Any, dt: Any, integrator: str = "semi-implicit-euler"
) -> tuple[Array, Array]:
    """A (2 nv, 2 nv) and B (2 nv, nv) of δx' = A δx + B δτ about a step of `next_state`.

    δx = (δq, δv) with δq = q ⊖ q₀ in the tangent space, so that quaternions have three directions, not four.
    """
    origin, _ = next_state(robot, q, v, tau, dt, integrator)
    by_q, by_v, by_tau = jacobian(_deviation, wrt=("q", "v", "tau"))(robot, q, v, tau, dt, origin, integrator)
    return np.concatenate([by_q, by_v], axis=1), by_tau
