"""An axis of a frame towards a point: Jacobian, drift, and where the axis ends up."""

import numpy as np
import pytest
from hypothesis import given

import kinetree as kt
from kinetree.tasks import LookAt
from states import states
from task_checks import check_drift, check_jacobian


@given(states())
def test_jacobian_and_drift_are_derivatives(s):
    robot, frame = s.robot.eager, str(s.rng.choice(s.robot.frame_names))
    T, axis = robot.frame(frame).pose(s.q), s.rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    task = LookAt(frame, tuple(axis))
    target = T[:3, 3] + 0.7 * T[:3, :3] @ axis
    assert np.abs(check_jacobian(task, robot, s.q, target, s.v)).max() < 1e-7
    check_drift(task, robot, s.q, target, s.v)
    check_drift(task, robot, s.q, target + s.rng.normal(size=3), s.v)


def test_look_at_turns_the_axis_to_a_point():
    robot = kt.load("arm7")
    rng = np.random.default_rng(1)
    q, point = robot.random(rng), np.array([1.5, 0.5, 1.0])
    ik = kt.ik.DifferentialIK(robot, LookAt("tool0", (0, 0, 1)), None, dt=0.02)
    for _ in range(80):
        q = robot.integrate(q, 0.02 * ik(q, point))
    T = robot.frame("tool0").pose(q)
    ray = point - T[:3, 3]
    np.testing.assert_allclose(T[:3, 2], ray / np.linalg.norm(ray), atol=1e-5)


def test_an_axis_has_a_direction():
    with pytest.raises(kt.ArgumentError, match="axis is"):
        LookAt("tool0", (0, 0, 0))
