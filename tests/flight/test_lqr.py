import numpy as np
import pytest
from scipy.linalg import solve_continuous_are

import kinetree as kt
from flying import load
from kinetree import flight


@pytest.mark.parametrize("seed", range(5))
def test_riccati_beside_scipy(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 9)), int(rng.integers(1, 4))
    A, B = rng.normal(size=(n, n)), rng.normal(size=(n, m))
    Q, R = np.diag(rng.uniform(0.1, 2.0, n)), np.diag(rng.uniform(0.1, 2.0, m))
    K, P = flight.lqr(A, B, Q, R)
    assert np.allclose(P, solve_continuous_are(A, B, Q, R), rtol=1e-6, atol=1e-9)
    assert np.linalg.eigvals(A - B @ K).real.max() < 0.0


def test_a_double_integrator_in_closed_form():
    K, _ = flight.lqr([[0, 1], [0, 0]], [[0], [1]], np.diag([4.0, 0.0]), [[1.0]])
    assert np.allclose(K, [[2.0, 2.0]])  # √q, √(2√q)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ((np.eye(2), np.zeros((2, 1)), np.eye(2), np.eye(1)), "no stabilising regulator"),
        ((np.eye(2), np.ones((2, 1)), np.eye(2), -np.eye(1)), "positive definite"),
        ((np.ones((2, 3)), np.ones((2, 1)), np.eye(2), np.eye(1)), "A has shape"),
        ((np.eye(2), np.ones((3, 1)), np.eye(2), np.eye(1)), "B has shape"),
    ],
)
def test_what_has_no_regulator_is_refused(arguments, words):
    with pytest.raises(kt.KinetreeError, match=words):
        flight.lqr(*arguments)


def test_what_is_no_cost_is_refused():
    robot, _ = load("quadrotor")
    for options, words in (({"position": 0.0}, "position is 0"), ({"moment": -1.0}, "moment is -1")):
        with pytest.raises(kt.ArgumentError, match=words):
            flight.HoverLQR(robot, **options)
    with pytest.raises(kt.ArgumentError, match="has no weight"):
        flight.HoverLQR(kt.load("quadrotor", base="floating", gravity=(0, 0, 0)))


def test_it_brings_a_quadrotor_back():
    robot, _ = load("quadrotor")
    control = flight.HoverLQR(robot)
    goal = np.array([0.5, 0.2, 1.0])
    law = kt.compile(lambda robot, q, v: control(q, v, goal, 0.3))
    q = robot.integrate(robot.neutral(), [0.3, -0.4, 0.2, 0.3, -0.2, 0.1])
    path = robot.rollout(q, np.full(6, 0.2), law, 5e-3, 2000, "rk4", every=2000)
    assert np.abs(path.q[-1, :3] - goal).max() < 1e-4 and np.abs(path.v[-1]).max() < 1e-4
    there = np.concatenate([goal, [0, 0, np.sin(0.15), np.cos(0.15)]])
    assert np.allclose(control(there, np.zeros(6), goal, 0.3), [0, 0, 0.5 * 9.81, 0, 0, 0], atol=1e-12)
