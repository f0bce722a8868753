"""Panda and UR5 in MuJoCo, with friction, encoders that have steps and noisy torques: what is identified is so."""

import warnings
from functools import cache

import numpy as np
import pytest

import kinetree as kt
from kinetree.identification.unknowns import Unknowns
from peers import urdf_files
from recorded_motions import as_logged, in_mujoco, other_than

pytest.importorskip("scipy")
ROBOTS = {"ur5": "ur5_robot", "panda": "panda"}
ENCODER = 2.0 * np.pi / 2**18
"""Its step [rad]."""
NOISE = 0.02
"""Of torques, relative to the root mean square of each joint's own."""
SPEED = 0.1
"""Samples of slower joints do not count: MuJoCo's friction creeps there."""


@cache
def nominal(name):
    """The robot of the manufacturer's file, without fingers, and with rotors."""
    files = {key: path for key, path in urdf_files().items() if ROBOTS[name] in str(key)}
    path = files[min(files, key=len)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.ModelWarning)
        robot = kt.load(path, friction_width=1e-3)  # MuJoCo's friction is a step
    fingers = [joint for joint in robot.joint_names if "finger" in joint]
    robot = kt.edit.lock(robot, fingers) if fingers else robot
    unknowns = Unknowns.of(robot, None, ("armature",), 0.1)
    theta = unknowns.values.copy()
    theta[unknowns.n_inertial :] = 3e-3 * robot.limits.effort
    return unknowns.robot_with(theta)


@cache
def motion(name, seed=0):
    return kt.identification.excitation(nominal(name), 10.0, armature=True, starts=1, iterations=60, rng=seed)


def truth_of(name, rng):
    """Another robot of the same kind, with other rotors, and with friction."""
    robot = nominal(name)
    unknowns = Unknowns.of(other_than(robot, rng, 0.15), None, ("armature", "damping", "friction"), 0.1)
    theta, n = unknowns.values.copy(), robot.nv
    theta[unknowns.n_inertial :] *= 1.0 + 0.2 * rng.uniform(-1.0, 1.0, 3 * n)
    theta[-2 * n :] = np.tile(robot.limits.effort, 2) * rng.uniform(0.01, 0.02, 2 * n)
    return unknowns.robot_with(theta), theta


def experiment(name, seed):
    """A truth, its base parameters, and what is identified from its log."""
    rng = np.random.default_rng(seed)
    truth, theta = truth_of(name, rng)
    t, q, _, tau = in_mujoco(truth, nominal(name), motion(name), 20.0)
    noise = NOISE * np.sqrt(np.mean(tau**2, axis=0))
    log = as_logged(t, q, tau, rng, ENCODER, noise)
    result = kt.identification.identify(nominal(name), log, armature=True, min_speed=SPEED)
    return truth, theta, result, noise


def covered(name, seeds):
    """Which base parameters lie in their intervals, (seeds, base parameters)."""
    rows = []
    for seed in seeds:
        _, theta, result, _ = experiment(name, seed)
        low, high = result.intervals().T
        expected = result.base.of(theta)
        rows.append((low <= expected) & (expected <= high))
    return np.array(rows)


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.sweep
def test_intervals_hold_the_truth_in_a_few_experiments(name):
    assert covered(name, range(4)).mean() > 0.88


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.long
def test_intervals_hold_the_truth_in_93_of_100_experiments(name):
    assert covered(name, range(100)).mean() >= 0.93


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.sweep
def test_torques_of_other_motions_are_predicted_to_the_noise(name):
    truth, _, result, noise = experiment(name, 7)
    other = motion(name, 1)
    t, q, v, tau = in_mujoco(truth, nominal(name), other, 10.0)
    a = np.gradient(v, t, axis=0)
    measured = tau + noise * np.random.default_rng(8).normal(size=tau.shape)
    fast = (np.abs(v) > SPEED)[5:-5]
    predicted = result.predict(q, v, a)
    left = np.array([np.sqrt(np.mean((measured - predicted)[5:-5, j][fast[:, j]] ** 2)) for j in range(truth.nv)])
    assert np.all(left < 1.02 * noise)
