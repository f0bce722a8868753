"""What tasks read of a frame: rows in one order, whatever the order of the robot's 6-vectors."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.tasks import LookAt, Pose, RelativePose
from kinetree.tasks.frame import linear_and_angular, linear_and_angular_drift, linear_first


def test_rows_are_linear_first():
    q, v = np.linspace(0.1, 0.6, 6), np.linspace(-1.0, 1.0, 6)
    plain, other = (kt.load("arm6", spatial_order=order).eager for order in ("linear-first", "angular-first"))
    for one, same in zip(linear_and_angular(plain, "tool0", q), linear_and_angular(other, "tool0", q), strict=True):
        np.testing.assert_array_equal(one, same)
    drifts = (linear_and_angular_drift(robot, "tool0", q, v) for robot in (plain, other))
    for one, same in zip(*drifts, strict=True):
        np.testing.assert_array_equal(one, same)
    np.testing.assert_array_equal(linear_first(plain, np.arange(6.0)), np.arange(6.0))
    np.testing.assert_array_equal(linear_first(other, np.arange(6.0)), [3, 4, 5, 0, 1, 2])


def test_frames_are_found_or_named():
    robot = kt.load("arm6")
    assert LookAt("tool0").frames == ("tool0",) and RelativePose("tool0", "base").frames == ("tool0", "base")
    for task in (Pose("tool"), LookAt("tool"), RelativePose("tool", "tool0"), RelativePose("tool0", "tool")):
        for make in (kt.ik.DifferentialIK, kt.control.WholeBody):
            with pytest.raises(kt.UnknownNameError, match="did you mean 'tool0'"):
                make(robot, task)
