"""A frame at a pose seen from another one: Jacobian and drift on every kind of joint and in every convention."""

import numpy as np
from hypothesis import given

from kinetree.tasks import RelativePose
from states import states
from task_checks import check_drift, check_jacobian


@given(states())
def test_jacobian_and_drift_are_derivatives(s):
    robot = s.robot.eager
    frame, other = (str(name) for name in s.rng.choice(robot.frame_names, 2))
    target = np.linalg.inv(robot.frame(other).pose(s.q)) @ robot.frame(frame).pose(s.q)
    task = RelativePose(frame, other)
    assert np.abs(check_jacobian(task, robot, s.q, target, s.v)).max() < 1e-7
    check_drift(task, robot, s.q, target, s.v)
