"""Dynamics that make steps of their own, tell of them, and carry something along."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.simulation.dynamics import Dynamics
from peers import close


class Floor:
    """A block on a vertical slider that an inelastic floor at zero stops."""

    def dynamics(self, robot):
        def step(q, v, tau, dt, total):
            free = v + dt * robot.forward_dynamics(q, v, tau)
            wanted = kt.maximum(0.0, -(q[0] + dt * free[0]) / dt)  # so fast that it ends at zero
            impulse = robot.mass_matrix(q)[0, 0] * wanted
            v_next = free + np.array([wanted])
            return q + dt * v_next, v_next, {"impulse": np.array([impulse]), "total": total + impulse}

        return Dynamics(
            robot.forward_dynamics,
            step=step,
            extras={"impulse": (1,), "total": (2, 1)},
            carried=("total",),
            key=("floor",),
        )


@pytest.fixture(scope="module")
def block():
    builder = kt.ModelBuilder("block")
    builder.link("rail")
    builder.link("block", kt.Inertia.from_com(2.0, (0, 0, 0), np.eye(3)))
    builder.joint("slider", "prismatic", "rail", "block", axis=(0, 0, 1))
    return kt.Robot(builder.build())


def test_a_block_comes_to_rest_on_a_floor(block):
    path = block.rollout([0.05], [0.0], None, 1e-2, 200, contact=Floor(), record=("q", "v", "impulse", "total"))
    assert path.extras["impulse"].shape == (200, 1) and path.extras["total"].shape == (200, 2, 1)
    close(path.q[-1], [0.0], 1e-12)
    close(path.extras["impulse"][-1], [2.0 * 9.81 * 1e-2], 1e-10)
    close(path.extras["total"][:, 1, 0], np.cumsum(path.extras["impulse"]), 1e-9)
    close(path.extras["total"][-1, 0], [2.0 * 9.81 * 2.0], 1e-9)  # all the momentum that gravity gave


def test_a_batch_is_its_states_one_by_one(block):
    heights = np.linspace(0.0, 0.4, 21)[:, None]
    path = block.rollout(heights, [0.0], None, 1e-2, 50, contact=Floor(), record=("q", "v", "total"))
    alone = block.rollout(heights[17], [0.0], None, 1e-2, 50, contact=Floor(), record=("q", "v", "total"))
    assert set(path.extras) == {"total"}
    assert np.array_equal(path.q[17], alone.q) and np.array_equal(path.extras["total"][17], alone.extras["total"])


def test_only_what_there_is_can_be_recorded(block):
    with pytest.raises(
        kt.ArgumentError, match="record is 'forces'; expected 'q' or 'v' or 'tau' or 'impulse' or 'total'"
    ):
        block.rollout([0.1], [0.0], None, 1e-2, 3, contact=Floor(), record=("q", "forces"))
