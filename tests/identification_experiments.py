"""Experiments of identification: Panda and UR5 in MuJoCo, with other inertias than the file has, friction, encoders
that have steps and noisy torques."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np

import kinetree as kt
from kinetree.identification.unknowns import Unknowns
from peers import urdf_files
from recorded_motions import as_logged, in_mujoco, other_than

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
    """A truth, its parameters, its log, what is identified from it, and the noise of its torques."""
    rng = np.random.default_rng(seed)
    truth, theta = truth_of(name, rng)
    t, q, _, tau = in_mujoco(truth, nominal(name), motion(name), 20.0)
    noise = NOISE * np.sqrt(np.mean(tau**2, axis=0))
    log = as_logged(t, q, tau, rng, ENCODER, noise)
    result = kt.identification.identify(nominal(name), log, armature=True, min_speed=SPEED)
    return truth, theta, log, result, noise


def covered(theta, result):
    """Which base parameters lie in their 95 % intervals."""
    low, high = result.intervals().T
    expected = result.base.of(theta)
    return (low <= expected) & (expected <= high)


def left_of_another_motion(name, truth, result, noise, seed):
    """Root mean square of measured less predicted torques of a motion that was not in the log, relative to the noise of
    each joint."""
    t, q, v, tau = in_mujoco(truth, nominal(name), motion(name, 1), 10.0)
    a = np.gradient(v, t, axis=0)
    measured = tau + noise * np.random.default_rng(seed).normal(size=tau.shape)
    fast = (np.abs(v) > SPEED)[5:-5]
    left = (measured - result.predict(q, v, a))[5:-5]
    return np.array([np.sqrt(np.mean(left[fast[:, j], j] ** 2)) for j in range(truth.nv)]) / noise
