"""Placements that were moved are found again from poses; as many combinations as textbooks say."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.identification.calibration import Calibration

ARM = kt.load("arm6")
PROBED = kt.edit.attach(ARM, "tool0", kt.solids.box((0.1, 0.1, 0.1), mass=0.1), name="probe", xyz=(0.1, 0.05, 0.1))
"""With a frame that is not on the last axis, where its positions would not show all."""


def moved(robot, rng, size):
    """The robot with joints elsewhere, by small random motions."""
    corrections = tuple(kt.se3.exp(size * rng.normal(size=6)) for _ in robot.joint_names)
    none = np.zeros(0)
    return Calibration(robot, "", robot.joint_names, (), none, none, corrections, 0, (0.0, 0.0), (0.0, 0.0)).robot


@pytest.mark.parametrize("only_positions", [False, True])
def test_a_robot_with_errors_is_found_again(only_positions):
    rng = np.random.default_rng(0)
    truth = moved(PROBED, rng, 3e-3)
    q, other = ARM.random(rng, 60), ARM.random(rng, 20)
    poses = truth.frame("probe").pose(q)
    found = kt.identification.calibrate(PROBED, q, poses[:, :3, 3] if only_positions else poses, "probe")
    assert found.rank == 4 * 6 + (3 if only_positions else 6)
    expected = truth.frame("probe").pose(other)
    before, after = (np.abs(robot.frame("probe").pose(other) - expected) for robot in (PROBED, found.robot))
    if only_positions:
        before, after = before[:, :3, 3], after[:, :3, 3]
    assert after.max() < 1e-6 and before.max() > 1e-3
    assert found.residuals[0] < 1e-8 < found.residuals_before[0]
    assert "in sums only" in found.report() and repr(found).startswith("<calibration of 'arm6'")


def test_offsets_of_encoders():
    rng = np.random.default_rng(1)
    offsets = 0.05 * rng.normal(size=6)
    q = ARM.random(rng, 40)
    poses = ARM.frame("tool0").pose(q + offsets)
    noisy = poses.copy()
    noisy[:, :3, 3] += 1e-4 * rng.normal(size=(40, 3))
    found = kt.identification.calibrate(ARM, q, noisy, "tool0", sought="offset", tool=False)
    assert found.names == tuple(f"{name}.offset" for name in ARM.joint_names) and found.rank == 6
    assert np.all(np.abs(found.parameters - offsets) < 5.0 * found.standard_errors + 1e-5)
    assert np.all(found.standard_errors < 1e-3)
    assert np.allclose(found.robot.frame("tool0").pose(q), poses, atol=1e-3)


def test_some_joints_only():
    q = ARM.random(2, 30)
    second = ARM.joint_names[1]
    found = kt.identification.calibrate(ARM, q, ARM.frame("tool0").pose(q), "tool0", joints=[second], tool=False)
    assert found.places == (second,) and np.allclose(found.parameters, 0.0, atol=1e-9)
    with pytest.raises(
        kt.UnknownNameError, match="joint on the way to 'tool0' 'elbw' does not exist; did you mean 'elbow'"
    ):
        kt.identification.calibrate(ARM, q, ARM.frame("tool0").pose(q), "tool0", joints=["elbw"])


def test_what_cannot_be_asked():
    q = ARM.random(2, 10)
    for poses, sentence in (
        (np.zeros((10, 3, 3)), r"poses has shape \(10, 3, 3\); expected \(10, 4, 4\) or \(10, 3\)"),
        (np.zeros((9, 3)), r"poses has shape \(9, 3\)"),
    ):
        with pytest.raises(kt.ArgumentError, match=sentence):
            kt.identification.calibrate(ARM, q, poses, "tool0")
    with pytest.raises(kt.ArgumentError, match=r"q has shape \(6,\); expected \(n, 6\)"):
        kt.identification.calibrate(ARM, q[0], np.zeros((1, 3)), "tool0")
    with pytest.raises(kt.ArgumentError, match="nothing on the way to frame 'base_link' is sought"):
        kt.identification.calibrate(ARM, q, np.zeros((10, 3)), "base_link", tool=False)
