"""Whole-body control in strict order, with limits at every level: against certificates of their optimality."""

import itertools

import numpy as np
import pytest
from scipy.optimize import nnls

import kinetree as kt
from kinetree.control import CenterOfMass, Momentum, MotionLimits, Orientation, Pose, Posture, TorqueLimits, WholeBody
from whole_bodies import equations_left, outside_cones, standing


def certificates(controller, given, x):
    """For every level, what is left of its gradient by rows of earlier ones and rows at their bounds, with factors of
    the right sign, relative to its terms: zero where the level is the best that earlier ones allow."""
    problem = controller.problem
    J, e, D, lower, upper, *_ = controller._compiled.first.call(*given)
    n, ends, since = (
        problem.dynamics.n,
        np.cumsum(problem.level_sizes),
        np.array([-1] * problem.dynamics.n + list(problem.since)),
    )
    rows = np.concatenate([np.eye(n), D])
    there = rows @ x
    beyond = np.maximum(there - upper, 0.0) - np.maximum(lower - there, 0.0)
    beyond[np.abs(beyond) < 1e-7] = 0.0
    near = 1e-7 * (1 + np.abs(there))
    left = []
    for level, (start, end) in enumerate(itertools.pairwise(ends), start=1):
        own = since == level
        gradient = J[start:end].T @ (J[start:end] @ x - e[start:end]) + rows[own].T @ beyond[own]
        fixed = np.concatenate([J[:start], rows[(since < level) & (beyond != 0.0)]])
        kept = (since < level) & (beyond == 0.0)
        sides = [rows[kept & (upper - there < near)], -rows[kept & (there - lower < near)]]
        columns = np.concatenate([fixed, -fixed, *sides]).T
        scale = np.linalg.norm(columns, axis=0)
        columns = columns[:, scale > 1e-12] / scale[scale > 1e-12]
        size = np.abs(J[start:end]).T @ np.abs(J[start:end] @ x - e[start:end])
        damping = problem.regularization**2 * (1e3 + 10.0 * np.linalg.norm(x))  # steps are damped, and may be long
        left.append((nnls(columns, -gradient, maxiter=10000)[1] - damping) / (1e-2 + np.linalg.norm(size)))
        assert (beyond[since < 1] == 0.0).all()
    return left


def residuals(controller, given, a, forces):
    """Of every level."""
    problem = controller.problem
    J, e, *_ = controller._compiled.first.call(*given)
    x = np.concatenate([a, forces / problem.dynamics.robot.mass])
    return np.split(J @ x - e, np.cumsum(problem.level_sizes)[:-1])


def strict(stander, limits):
    robot = stander.robot
    hand = "right_hand" if "right_hand" in robot.frame_names else "base_link"
    tasks = [
        CenterOfMass(priority=0),
        Orientation(robot.frame_names[0], priority=1, name="trunk"),
        Pose(hand, priority=2, name="hand") if hand != "base_link" else Momentum(part="angular", priority=2),
        Posture(priority=3),
    ]
    return WholeBody(robot, tasks, stander.contacts, limits, regularization=1e-4)


def wishes(controller, stander, rng, size):
    robot = stander.robot
    moved = robot.integrate(stander.q, size * rng.normal(size=robot.nv))
    found = {
        "center_of_mass": robot.center_of_mass(moved),
        "trunk": robot.frame(robot.frame_names[0]).pose(moved)[:3, :3],
        "posture": moved,
    }
    if "hand" in controller.problem.references:
        return found | {"hand": robot.frame("right_hand").pose(moved)}
    return found | {"momentum": rng.normal(size=3)}


CASES = {
    "hard": ((TorqueLimits(scale=0.6),), 0.002),
    "torques at a level": ((TorqueLimits(scale=0.3, priority=2),), 0.002),
    "motions at a level": ((TorqueLimits(), MotionLimits(acceleration=5.0, priority=1)), 0.01),
}
"""Limits, and how far away the targets are."""


@pytest.mark.parametrize("case", CASES)
@pytest.mark.sampled(3)
def test_every_level_is_the_best_that_earlier_ones_allow(case):
    stander, rng = standing("humanoid"), np.random.default_rng(3)
    limits, size = CASES[case]
    controller = strict(stander, limits)
    state, changed, solved = None, 0, 0
    for _ in range(12):
        q, v = stander.near(rng, min(size, 0.005))
        r = controller.pack(wishes(controller, stander, rng, size))
        given = (q, v, r, controller.switches())
        step = controller.step(q, v, r, state=state)
        state = step.state
        changed += step.iterations
        assert equations_left(controller, q, v, step) < 1e-8
        assert outside_cones(controller, step) < 1e-8
        x = np.concatenate([step.a, step.forces / stander.robot.mass])
        for left in certificates(controller, given, x):
            assert left < 1e-5
            solved += 1
        warm = controller.step(q, v, r, state=state)
        np.testing.assert_allclose(warm.tau, step.tau, atol=1e-5)
    assert changed > 8 and solved == 48


@pytest.mark.sweep
def test_what_comes_later_never_changes_what_came_before():
    """With or without a posture that contradicts them, the levels before it have the same residuals."""
    stander, rng = standing("humanoid"), np.random.default_rng(4)
    controller = strict(stander, CASES["hard"][0])
    q, v = stander.near(rng, 0.01)
    given = wishes(controller, stander, rng, 0.003)
    away = stander.robot.integrate(stander.q, 0.5 * rng.normal(size=stander.robot.nv))
    switches = controller.switches()
    r = controller.pack(given)
    steps = [controller.step(q, v, {**given, "posture": posture}) for posture in (stander.q, away)]
    one, two = (residuals(controller, (q, v, r, switches), step.a, step.forces) for step in steps)
    for before, after in zip(one[:-1], two[:-1], strict=True):
        np.testing.assert_allclose(before, after, atol=1e-6)
    assert np.abs(steps[0].tau - steps[1].tau).max() > 1.0


@pytest.mark.sweep
def test_contacts_are_switched_in_strict_order_too():
    stander, rng = standing("quadruped"), np.random.default_rng(5)
    controller = strict(stander, CASES["hard"][0])
    fewer = WholeBody(controller.robot, controller.tasks, stander.contacts[1:], CASES["hard"][0], regularization=1e-4)
    q, v = stander.near(rng, 0.005)
    given = wishes(controller, stander, rng, 0.0)
    given["center_of_mass"] = controller.robot.center_of_mass(q) + np.array([-0.02, -0.02, 0.0])
    off = controller.step(q, v, given, contacts=[0, 1, 1, 1])
    foot = stander.contacts[0].name
    assert equations_left(controller, q, v, off, off=(foot,)) < 1e-8
    np.testing.assert_allclose(off.tau, fewer.step(q, v, given).tau, atol=1e-6)
    on = controller.step(q, v, given, state=off.state)
    assert on.force(foot)[2] > 1.0


def test_two_joints_in_closed_form():
    """The end of a planar arm first, then joint one: with one task of two rows nothing is left for the posture; with
    height alone, the posture gets what is left of it."""
    robot = kt.load("planar2")
    q, v = np.array([0.3, 0.8]), np.zeros(2)
    frame = next(name for name in reversed(robot.frame_names))
    J = robot.frame(frame).jacobian(q)
    height = int(np.flatnonzero(np.abs(J[:3]).max(axis=1) > 1e-9)[0])
    weight = tuple(1.0 if k == height else 0.0 for k in range(6))
    tasks = [Pose(frame, weight=weight, name="end"), Posture(priority=1)]
    controller = WholeBody(robot, tasks, limits=(), regularization=1e-7)
    target = robot.frame(frame).pose(q).copy()
    target[height, 3] += 0.01
    wish = np.array([2.0, -1.0])
    step = controller.step(q, v, {"end": target, "posture": q + wish / 100.0})
    j = J[height]
    expected = wish + j * (1.0 - j @ wish) / (j @ j)
    np.testing.assert_allclose(step.a, expected, atol=1e-6)
