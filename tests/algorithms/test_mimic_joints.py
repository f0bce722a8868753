"""Joints that follow others, in every quantity."""

import numpy as np
import pytest

import kinetree as kt
from peers import close
from textbook import G


@pytest.mark.parametrize("ratio", [-1.5, 0.5])
def test_a_mimic_joint_follows_its_leader_in_every_quantity(ratio):
    """A gear pair: two wheels on parallel axes, the second turned by the first; the leader comes second in the tree."""
    builder = kt.ModelBuilder("gears")
    builder.link("frame")
    for name in ("follower", "leader"):
        builder.link(name, kt.Inertia.from_com(1.0, (0.1, 0, 0), np.diag([0.0, 0.0, 0.02])))
    mimic = kt.Mimic("turn", multiplier=ratio, offset=0.3)
    builder.joint("turned", "revolute", "frame", "follower", axis=(0, 0, 1), mimic=mimic)
    builder.joint("turn", "revolute", "frame", "leader", axis=(0, 0, 1), xyz=(0.5, 0, 0))
    robot = kt.Robot(builder.build(gravity=(0.0, -G, 0.0)))
    assert robot.joint_names == ("turn",)
    assert robot.body_names == ("follower", "leader")
    q, v = np.array([0.7]), np.array([2.0])
    about_axis = 0.02 + 0.1**2
    close(robot.mass_matrix(q), [[about_axis * (1 + ratio**2)]], 1e-13)
    angle = ratio * q[0] + 0.3
    close(robot.frame("follower").velocity(q, v), [0, 0, 0, 0, 0, ratio * v[0]], 1e-13)
    close(robot.frame("follower").jacobian(q)[5], [ratio], 1e-13)
    close(robot.poses(q)[0, 0], [np.cos(angle), -np.sin(angle), 0, 0], 1e-13)
    lever = 0.1 * G * (np.cos(q[0]) + ratio * np.cos(angle))
    close(robot.gravity_forces(q), [lever], 1e-13)
    close(robot.forward_dynamics(q, v, [lever + 1.0]), [1.0 / (about_axis * (1 + ratio**2))], 1e-12)
