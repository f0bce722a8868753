"""Feet that wait for the floor."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.trajectories import Landing, SlowWalk, footsteps

START = {foot: np.eye(4) for foot in ("left", "right")}
START["left"][1, 3], START["right"][1, 3] = 0.1, -0.1
LOADED, FREE = np.array([0.0, 0.0, 300.0, 0.0, 0.0, 0.0]), np.zeros(6)


@pytest.fixture
def landing():
    """Of a walk that shifts for a second, and swings the left foot for half a one."""
    steps = footsteps(START, [0.2, 0.0, 0.0], 1)
    return Landing(SlowWalk(START, steps, [0.0, 0.0, 0.8], shift=1.0, swing=0.5), touch=20.0, sink=0.1)


def test_a_foot_that_stands_does_so_until_it_is_lifted(landing):
    landing.feel(0.5, {"left": FREE, "right": LOADED}, 0.01)  # it may lose the floor for a while
    assert landing.stands == {"left": True, "right": True} and landing.swings == {"left": 0.0, "right": 0.0}
    landing.feel(1.2, {"left": LOADED, "right": LOADED}, 0.01)  # though it still touches
    assert landing.stands == {"left": False, "right": True} and landing.swings == {"left": 1.0, "right": 0.0}


def test_a_foot_that_is_put_down_looks_for_the_floor_until_it_pushes(landing):
    landing.feel(1.2, {"left": FREE, "right": LOADED}, 0.01)
    plan = landing.walk.feet["left"](1.6)
    np.testing.assert_array_equal(landing.lowered("left", *plan).pose, plan.pose)  # it is still meant to be in the air
    for force in (0.0, 10.0, 20.0):
        landing.feel(1.6, {"left": [0.0, 0.0, force], "right": LOADED}, 0.01)
        assert not landing.stands["left"]
    lower = landing.lowered("left", *plan)
    np.testing.assert_allclose(plan.pose[:3, 3] - lower.pose[:3, 3], [0.0, 0.0, 0.003], atol=1e-15)
    assert np.array_equal(lower.velocity, plan.velocity) and np.array_equal(lower.acceleration, plan.acceleration)
    landing.feel(1.63, {"left": [0.0, 0.0, 20.5], "right": LOADED}, 0.01)
    assert landing.stands["left"] and landing.swings["left"] == 0.0
    np.testing.assert_array_equal(landing.lowered("left", *plan).pose, plan.pose)


def test_a_foot_of_which_nothing_is_felt_is_named(landing):
    with pytest.raises(kt.KinetreeError, match="force 'left' does not exist"):
        landing.feel(0.0, {"right": LOADED}, 0.01)
