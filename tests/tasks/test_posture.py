"""Joints at given positions: Jacobian and drift on every kind of joint, and joints by name."""

import numpy as np
import pytest
from hypothesis import given

import kinetree as kt
from kinetree.tasks import Posture
from states import states
from task_checks import check_drift, check_jacobian


@given(states())
def test_jacobian_and_drift_are_derivatives(s):
    robot = s.robot.eager
    error = check_jacobian(Posture(), robot, s.q, s.q, s.v)
    assert np.abs(error).max(initial=0.0) < 1e-7
    check_drift(Posture(), robot, s.q, s.q, s.v)


def test_some_joints_leave_the_others_alone():
    robot = kt.load("arm6")
    task, target = Posture((robot.joint_names[4], robot.joint_names[1])), np.arange(6.0)
    assert task.entries(robot) == [4, 1] and task.size(robot) == 2
    error, J = task.evaluate(robot.eager, np.zeros(6), target)
    np.testing.assert_array_equal(error, [4.0, 1.0])
    np.testing.assert_array_equal(J, np.eye(6)[[4, 1]])


@pytest.mark.parametrize("make", [kt.ik.DifferentialIK, kt.control.WholeBody])
def test_unknown_joints_are_named(make):
    with pytest.raises(kt.UnknownNameError, match="joint 'elbo'"):
        make(kt.load("arm6"), Posture(("elbo",)))
    with pytest.raises(kt.ArgumentError, match="expected each joint once"):
        Posture(("elbow", "elbow"))
    with pytest.raises(kt.ArgumentTypeError, match="expected a list of names"):
        Posture("elbow")
