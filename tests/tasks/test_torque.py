"""Torques of motors as a task: of whole-body control, and refused elsewhere."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import WholeBody
from kinetree.ik import DifferentialIK
from kinetree.tasks import Task, Torque


def test_torques_are_small_or_as_given():
    robot = kt.load("arm6")
    q, v, tau = np.linspace(0.1, 0.6, 6), np.zeros(6), np.linspace(-1.0, 1.0, 6)
    given = WholeBody(robot, Torque(as_given=True), regularization=1e-9)
    np.testing.assert_allclose(given(q, v, {"torques": tau}), tau, atol=1e-6)
    np.testing.assert_allclose(WholeBody(robot, Torque(), regularization=1e-9)(q, v), 0.0, atol=1e-6)


def test_velocities_have_no_torques():
    robot = kt.load("arm6")
    with pytest.raises(kt.ArgumentTypeError, match="'torques' is a task of forces or torques"):
        DifferentialIK(robot, Torque())
    with pytest.raises(kt.ArgumentTypeError, match="as_given is 1"):
        Torque(as_given=1)
    with pytest.raises(kt.ArgumentTypeError, match=r"expected a kt.control.MotionTask, Force or Torque"):
        WholeBody(robot, Task())
