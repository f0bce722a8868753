"""What every task of motion fulfils: its Jacobian and its drift are derivatives."""

from __future__ import annotations

import numpy as np

from kinetree.tasks import MotionTask
from states import H


def check_jacobian(task, robot, q, target, v):
    """J is minus the derivative of the error, at a target that is met; returns the error there."""
    error, J = task.evaluate(robot, q, target)
    assert J.shape == (task.size(robot), robot.nv) and error.shape == (len(J),)
    ahead, behind = (task.evaluate(robot, robot.integrate(q, h * v), target)[0] for h in (H, -H))
    np.testing.assert_allclose((behind - ahead) / (2 * H), J @ v, atol=2e-6 * largest(J @ v))
    return error


def check_drift(task, robot, q, target, v):
    """J̇ v is the derivative of J v along v, and the same as what `MotionTask` differentiates."""
    drift = task.drift(robot, q, v, target)
    ahead, behind = (task.evaluate(robot, robot.integrate(q, h * v), target)[1] @ v for h in (H, -H))
    np.testing.assert_allclose((ahead - behind) / (2 * H), drift, atol=2e-6 * largest(drift, v * v))
    traced = MotionTask.drift(task, robot, q, v, target)
    np.testing.assert_allclose(traced, drift, atol=1e-10 * largest(drift, v * v))
    return drift


def largest(*arrays):
    """The largest of all entries, or one."""
    return max(1.0, *(np.abs(array).max(initial=0.0) for array in arrays))
