"""A frame at a pose: Jacobian and drift on every kind of joint and in every convention."""

import numpy as np
from hypothesis import given

import kinetree as kt
from kinetree.tasks import Orientation, Pose, Position
from states import states
from task_checks import check_drift, check_jacobian


@given(states())
def test_jacobian_and_drift_are_derivatives(s):
    robot, frame = s.robot.eager, str(s.rng.choice(s.robot.frame_names))
    T = robot.frame(frame).pose(s.q)
    error = check_jacobian(Pose(frame), robot, s.q, T, s.v)
    assert np.abs(error).max() < 1e-7
    check_drift(Pose(frame), robot, s.q, T, s.v)


def test_a_pose_is_a_position_and_an_orientation():
    robot = kt.load("arm6", spatial_order="angular-first").eager
    q, v, target = np.linspace(0.1, 0.6, 6), np.linspace(-1.0, 1.0, 6), robot.frame("tool0").pose(np.zeros(6))
    whole, parts = Pose("tool0"), ((Position("tool0"), target[:3, 3]), (Orientation("tool0"), target[:3, :3]))
    for k in range(2):
        each = [task.evaluate(robot, q, goal)[k] for task, goal in parts]
        np.testing.assert_array_equal(whole.evaluate(robot, q, target)[k], np.concatenate(each))
    each = [task.drift(robot, q, v, goal) for task, goal in parts]
    np.testing.assert_array_equal(whole.drift(robot, q, v, target), np.concatenate(each))
    np.testing.assert_array_equal(whole.rates(robot, np.arange(6.0)), [3, 4, 5, 0, 1, 2])
