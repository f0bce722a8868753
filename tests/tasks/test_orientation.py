"""The axes of a frame: Jacobian and drift on every kind of joint and in every convention."""

import numpy as np
import pytest
from hypothesis import given

import kinetree as kt
from kinetree.tasks import Orientation
from states import states
from task_checks import check_drift, check_jacobian


@given(states())
def test_jacobian_and_drift_are_derivatives(s):
    robot, frame = s.robot.eager, str(s.rng.choice(s.robot.frame_names))
    T = robot.frame(frame).pose(s.q)
    error = check_jacobian(Orientation(frame), robot, s.q, T[:3, :3], s.v)
    assert np.abs(error).max() < 1e-7
    check_drift(Orientation(frame), robot, s.q, T[:3, :3], s.v)


@pytest.mark.parametrize("order", ["linear-first", "angular-first"])
def test_rotations_decay_along_their_own_axis(order):
    """Far from the target, too: with J v = error, the rotation that is left shrinks and does not turn."""
    robot = kt.load("arm6", spatial_order=order).eager
    rng = np.random.default_rng(0)
    q, goal = robot.random(rng), robot.random(rng)
    target = robot.frame("tool0").pose(goal)[:3, :3]
    task = Orientation("tool0")
    error, J = task.evaluate(robot, q, target)
    v = np.linalg.pinv(J) @ error
    later, _ = task.evaluate(robot, robot.integrate(q, 1e-6 * v), target)
    assert np.linalg.norm(error) > 0.5
    np.testing.assert_allclose(later, error * (1 - 1e-6), atol=1e-10)
