"""Forces over time: through their values, held between equal ones, without a jump, and with their own rate."""

import numpy as np
import pytest

import kinetree as kt
from kinetree import trajectories as tr

INSTANTS = [0.0, 0.5, 2.0, 2.5]
FORCES = np.array([[0.0, 0.0], [10.0, -4.0], [10.0, -4.0], [3.0, 1.0]])
H = 1e-6


@pytest.mark.parametrize("profile", ["linear", "cubic", "quintic"])
def test_it_goes_through_its_values_and_holds_them(profile):
    push = tr.ForceProfile(INSTANTS, FORCES, profile)
    assert push.duration == 2.5
    np.testing.assert_allclose([push(t).force for t in INSTANTS], FORCES, atol=1e-12)
    for t in (0.6, 1.3, 1.9):
        np.testing.assert_allclose(push(t).force, FORCES[1], atol=1e-12)
        np.testing.assert_allclose(push(t).rate, 0.0, atol=1e-12)
    np.testing.assert_allclose(push(0.25).force, FORCES[1] / 2, atol=1e-12)
    for t, at_end in ((-1.0, FORCES[0]), (9.0, FORCES[-1])):
        np.testing.assert_allclose(push(t).force, at_end, atol=1e-12)
        np.testing.assert_array_equal(push(t).rate, 0.0)


def test_the_rate_is_that_of_the_force_also_in_batches():
    push = tr.ForceProfile(INSTANTS, FORCES)
    times = np.array([0.1, 0.3, 0.45, 1.0, 2.1, 2.4])
    state = push(times)
    assert state.force.shape == state.rate.shape == (6, 2)
    np.testing.assert_allclose(state.rate, (push(times + H).force - push(times - H).force) / (2 * H), atol=1e-6)
    assert np.abs(push(0.5 - 1e-9).rate).max() < 1e-6, "a cubic arrives without a kink"


@pytest.mark.parametrize("instants", [[0.0], [0.1, 1.0], [0.0, 1.0, 1.0], [[0.0, 1.0]]])
def test_instants_grow_from_zero_on(instants):
    with pytest.raises(kt.ArgumentError, match="expected two or more that grow, from 0 on"):
        tr.ForceProfile(instants, np.zeros((np.size(instants), 3)))


@pytest.mark.parametrize("forces", [np.zeros((3, 6)), np.zeros(4), np.zeros((4, 1, 6))])
def test_there_is_one_force_for_each_instant(forces):
    with pytest.raises(kt.ArgumentError, match=r"expected \(4, n\), one for each instant"):
        tr.ForceProfile(INSTANTS, forces)
