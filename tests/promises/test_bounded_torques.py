"""Near singular poses, the torques of operational-space control stay bounded, by a factor that is documented."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms.operational_space import TaskInertia
from kinetree.control import OperationalSpace
from peers import urdf

EPSILON = 3e-4
"""The default."""


def arm(name):
    return kt.load(urdf("ur5_robot.urdf")) if name == "ur5" else kt.load(name)


def near_singular(robot, rng, count):
    """Random states, with one or several of the joints near zero, by many sizes, where arms are straight."""
    q = robot.random(rng, count)
    for row in q:
        for k in rng.choice(robot.nv, rng.integers(0, 3), replace=False):
            row[k] = 10.0 ** rng.uniform(-6.0, -0.5) * rng.choice([-1.0, 1.0])
    return q


@pytest.mark.parametrize("name, factor", [("arm6", 3.0), ("arm7", 3.0), ("ur5", 15.0)])
def test_five_centimetres_near_a_straight_arm_ask_for_some_times_the_effort_limits_at_most(name, factor):
    robot, rng = arm(name), np.random.default_rng(0)
    tool, q = robot.frame("tool0"), near_singular(robot, rng, 4000)
    away = rng.normal(size=(4000, 3))
    target = tool.pose(q)
    target[:, :3, 3] += 0.05 * away / np.linalg.norm(away, axis=1)[:, None]
    for options, most in (({}, factor), ({"regularization": 1e-2}, 1.5)):
        tau = OperationalSpace(robot, "tool0", 100.0, **options)(q, np.zeros_like(q), target)
        assert np.abs(tau / robot.limits.effort).max() < most


def bound_holds(draws, seed):
    rng = np.random.default_rng(seed)
    for k in range(draws):
        nv, rows = rng.integers(1, 9), rng.integers(1, 7)
        linear = int(rng.integers(0, rows + 1))
        root = rng.normal(size=(nv, nv)) * 10.0 ** rng.uniform(-2, 2, size=nv)
        M = root @ root.T + 1e-3 * np.eye(nv)
        J = (
            rng.normal(size=(rows, nv))
            * np.where(rng.random(rows) < 0.3, 10.0 ** rng.uniform(-9, 0, rows), 1.0)[:, None]
        )
        if rows > 2 and k % 2:
            J[-1] = J[0] + 10.0 ** rng.uniform(-12, 0) * J[1]
        A = J @ np.linalg.solve(M, J.T)
        means = [A.diagonal()[part].mean() for part in (slice(linear), slice(linear, None)) if len(A.diagonal()[part])]
        weights = np.repeat(means, [n for n in (linear, rows - linear) if n])
        w = rng.normal(size=rows) * np.sqrt(weights)
        tau = J.T @ TaskInertia(M, J, linear, EPSILON).force(w)
        assert tau @ np.linalg.solve(M, tau) <= 1.2 / EPSILON * (w / weights) @ w


def test_the_bound_holds_for_any_inertia_and_jacobian():
    bound_holds(400, 0)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 6))
def test_the_bound_holds_for_thousands(seed):
    bound_holds(4000, seed)


def test_regular_states_are_exact():
    """Of states within reach of bent arms, all of those of arm7 near a working pose."""
    robot, rng = kt.load("arm7"), np.random.default_rng(1)
    q = np.array([0.4, 0.5, -0.3, 1.2, 0.2, 0.7, 0.1]) + 0.2 * rng.normal(size=(500, 7))
    tool, still = robot.frame("tool0"), np.zeros((500, 7))
    target = tool.pose(q)
    target[:, :3, 3] += 0.05
    tau = OperationalSpace(robot, "tool0", 100.0)(q, still, target)
    got = tool.acceleration(q, still, robot.forward_dynamics(q, still, tau))
    exact = np.abs(got - [5.0, 5.0, 5.0, 0.0, 0.0, 0.0]).max(axis=1) < 1e-7
    assert exact.mean() > 0.99
