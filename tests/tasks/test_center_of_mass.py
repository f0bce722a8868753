"""The centre of mass at a point: Jacobian and drift on every kind of joint and in every convention."""

import numpy as np
from hypothesis import assume, given

from kinetree.tasks import CenterOfMass
from states import states
from task_checks import check_drift, check_jacobian


@given(states())
def test_jacobian_and_drift_are_derivatives(s):
    robot = s.robot.eager
    assume(robot.mass > 0.0)
    error = check_jacobian(CenterOfMass(), robot, s.q, robot.center_of_mass(s.q), s.v)
    assert np.abs(error).max() < 1e-7
    check_drift(CenterOfMass(), robot, s.q, np.zeros(3), s.v)
