"""Panda and UR5 in MuJoCo, with friction, encoders that have steps and noisy torques: what is identified is so."""

import numpy as np
import pytest

import kinetree as kt
from identification_experiments import ROBOTS, SPEED, covered, experiment, left_of_another_motion, nominal

pytest.importorskip("scipy")


def share(name, seeds):
    """The share of base parameters that lie in their intervals."""
    rows = []
    for seed in seeds:
        _, theta, _, result, _ = experiment(name, seed)
        rows.append(covered(theta, result))
    return np.mean(rows)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.sweep
def test_intervals_hold_the_truth_in_a_few_experiments(name):
    assert share(name, range(4)) > 0.88


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.long
def test_intervals_hold_the_truth_in_93_of_100_experiments(name):
    assert share(name, range(100)) >= 0.93


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.sweep
def test_torques_of_other_motions_are_predicted_to_the_noise(name):
    truth, _, _, result, noise = experiment(name, 7)
    assert np.all(left_of_another_motion(name, truth, result, noise, 8) < 1.02)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.sweep
def test_plain_least_squares_finds_inertias_that_no_body_has(name):
    _, _, log, result, _ = experiment(name, 3)
    plain = kt.identification.identify(nominal(name), log, armature=True, min_speed=SPEED, consistent=False, prior=None)
    assert plain.inconsistent and not result.inconsistent
    assert not any("in step" in sentence for sentence in result.findings)
