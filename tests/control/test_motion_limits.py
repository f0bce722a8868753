"""Joints under whole-body control stay within their limits, however often steps are made within the look-ahead.

Covers: control/whole_body/limits.py.
"""

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import MotionLimits, Posture, TorqueLimits, WholeBody

ARM = kt.load("arm6")
LOOK_AHEAD = 0.01


@pytest.fixture(scope="module", params=[50.0, None], ids=["braking", "without a limit of acceleration"])
def hasty(request):
    limits = [TorqueLimits(scale=3.0), MotionLimits(request.param)]
    return WholeBody(ARM, Posture(stiffness=900.0), limits=limits, dt=LOOK_AHEAD)


@pytest.mark.parametrize("steps", [1, 3, 10])
def test_positions_and_velocities(hasty, steps):
    """Asked to go far beyond, here and there, they come to within a hair's breadth and never across; a step as long as
    the look-ahead and one of a tenth of it alike."""
    rng, h = np.random.default_rng(0), LOOK_AHEAD / steps
    lower, upper, fastest = ARM.limits.lower, ARM.limits.upper, ARM.limits.velocity
    q, v, state = np.zeros(6), np.zeros(6), None
    nearest = np.full(6, np.inf)
    for k in range(int(6.0 / h)):
        if k % int(1.5 / h) == 0:
            goal = rng.choice([-1.0, 1.0], size=6) * 20.0
        step = hasty.step(q, v, {"posture": goal}, state=state)
        state, v = step.state, v + h * step.a
        q = q + h * v
        room = np.minimum(q - lower, upper - q)
        nearest = np.minimum(nearest, room)
        assert room.min() > -1e-9
        assert (np.abs(v) <= fastest * (1.0 + 1e-9)).all()
    assert nearest[1:5].max() < 1e-3
