import numpy as np
import pytest

import kinetree as kt
from kinetree.simulation import linearized_step, next_state
from kinetree.simulation.step import INTEGRATORS


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.sampled(4)
def test_it_is_the_step_of_a_rollout(integrator):
    rng = np.random.default_rng(3)
    robot = kt.load("planar2")
    q, v, tau = robot.random(rng, 3), rng.normal(size=(3, 2)), rng.normal(size=(3, 2))
    path = robot.rollout(q, v, tau[:, None], 0.01, 1, integrator)
    q_next, v_next = next_state(robot, q, v, tau, 0.01, integrator)
    assert np.array_equal(q_next, path.q[:, 1]) and np.array_equal(v_next, path.v[:, 1])
    assert not np.array_equal(v_next, v)


@pytest.mark.sweep
def test_its_derivatives_are_those_of_nearby_steps():
    """Also of a free base and of a spherical joint, whose positions are more than their velocities."""
    rng = np.random.default_rng(4)
    robot = kt.Robot(kt.random_model(5, 3, ("spherical", "revolute"), base="floating"))
    q, v, tau = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    origin, _ = next_state(robot, q, v, tau, 0.02)

    def moved(x):
        dq, dv, dtau = x
        after = next_state(robot, robot.integrate(q, dq), v + dv, tau + dtau, 0.02)
        return np.concatenate([robot.difference(origin, after[0]), after[1]])

    A, B = linearized_step(robot, q, v, tau, 0.02)
    n, h = robot.nv, 1e-6
    around = h * np.eye(3 * n).reshape(3 * n, 3, n)
    expected = np.stack([(moved(x) - moved(-x)) / (2 * h) for x in around], axis=1)
    assert A.shape == (2 * n, 2 * n) and B.shape == (2 * n, n)
    np.testing.assert_allclose(np.hstack([A, B]), expected, atol=1e-7 * np.abs(expected).max())


def test_an_integrator_that_is_none():
    robot = kt.load("planar2")
    with pytest.raises(kt.KinetreeError, match="rk4"):
        next_state(robot, [0.0, 0.0], [0.0, 0.0], [0.0, 0.0], 0.01, "rk5")
