"""The origin of a frame at a point: Jacobian and drift on every kind of joint and in every convention."""

import numpy as np
from hypothesis import given

from kinetree.tasks import Position
from states import states
from task_checks import check_drift, check_jacobian


@given(states())
def test_jacobian_and_drift_are_derivatives(s):
    robot, frame = s.robot.eager, str(s.rng.choice(s.robot.frame_names))
    T = robot.frame(frame).pose(s.q)
    error = check_jacobian(Position(frame), robot, s.q, T[:3, 3], s.v)
    assert np.abs(error).max() < 1e-7
    check_drift(Position(frame), robot, s.q, T[:3, 3], s.v)
