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


@pytest.mark.parametrize("name, factor, damped", [("arm6", 4.0, 1.0), ("arm7", 4.0, 1.0), ("ur5", 15.0, 3.0)])
@pytest.mark.parametrize("task", ["pose", "position", ("z",)])
@pytest.mark.sampled(4)
def test_five_centimetres_near_a_straight_arm_ask_for_some_times_the_effort_limits_at_most(name, factor, damped, task):
    robot, rng = arm(name), np.random.default_rng(0)
    tool, q = robot.frame("tool0"), near_singular(robot, rng, 4000)
    q[:1000] = 10.0 ** rng.uniform(-5.0, -0.3, size=(1000, 1)) * rng.choice([-1.0, 1.0], size=(1000, robot.nv))
    q[0] = 0.0139
    away = rng.normal(size=(4000, 3))
    away[::2] = np.eye(3)[rng.integers(3, size=2000)]
    away[0] = [0.0, 0.0, 1.0]
    target = tool.pose(q)
    target[:, :3, 3] += 0.05 * away / np.linalg.norm(away, axis=1)[:, None]
    for options, most in (({}, factor), ({"regularization": 1e-2}, damped)):
        controller = OperationalSpace(robot, "tool0", 100.0, task=task, **options)
        tau = controller(q, np.zeros_like(q), target if task == "pose" else target[:, :3, 3])
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


@pytest.mark.parametrize("task", [("z",), ("y", "z"), ("z", "ry"), ("x", "z"), "position"])
@pytest.mark.sampled(3)
def test_the_bound_holds_for_every_choice_of_directions(task):
    """A straight arm that points along z, and nearly so: τᵀ M⁻¹ τ ≤ 1.2 ẇᵀ W⁻¹ ẇ / ε with W of all directions."""
    robot = kt.load("planar2")
    tip, controller = robot.frame("tip"), OperationalSpace(robot, "tip", 100.0, task=task)
    for off in (0.0, *10.0 ** np.linspace(-16.0, -0.5, 32)):
        q = np.array([np.pi / 2 + off, 0.0])
        pose, J = tip.pose(q), tip.jacobian(q)
        M = robot.mass_matrix(q)
        pose[2, 3] -= 0.05
        reference = pose if "ry" in task else pose[:3, 3]
        tau = controller(q, np.zeros(2), reference) - robot.gravity_forces(q)
        weight = np.trace(J[:3] @ np.linalg.solve(M, J[:3].T)) / 3.0
        assert tau @ np.linalg.solve(M, tau) <= 1.2 / EPSILON * 5.0**2 / weight
