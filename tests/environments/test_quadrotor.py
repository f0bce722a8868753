"""Hovering and waypoints can be done, by our own controller, and not by doing nothing."""

import numpy as np
import pytest

from flying import allocation, load
from kinetree import flight
from kinetree.environments import RobotVectorEnv, hover, waypoints

COUNT = 40


@pytest.fixture(scope="module")
def pilot():
    """Actions for states (n, 7), (n, 6) and places (n, 3): the geometric controller, through the allocation."""
    robot, _ = load("quadrotor")
    control, chosen = flight.GeometricControl(robot, 4.0, 3.5, 100.0, 18.0), allocation()

    def act(q, v, place):
        wrench = control(q, v, place)[:, 2:6]
        return np.clip(wrench @ chosen.inverse.T / chosen.hover - 1.0, -1.0, 1.0)

    return act


def test_hovering(pilot):
    envs = RobotVectorEnv(hover(), COUNT)
    envs.reset(seed=0)
    for _ in range(200):
        seen, reward, ended, _, _ = envs.step(pilot(envs.q, envs.v, envs.goal))
        assert not ended.any()
    assert np.linalg.norm(seen[:, :3], axis=1).max() < 0.05 and reward.min() > 0.9
    envs.reset(seed=0)
    lost = np.zeros(COUNT, dtype=bool)
    for _ in range(200):
        lost |= envs.step(np.zeros((COUNT, 4)))[2]
    assert lost.mean() > 0.8, "thrusts of hovering alone do not hover"


def test_waypoints_follow_each_other(pilot):
    envs = RobotVectorEnv(waypoints(), COUNT)
    envs.reset(seed=1)
    first = envs.goal.reshape(COUNT, 4, 3)
    reached = np.zeros(COUNT, dtype=int)
    for _ in range(450):
        before = envs.goal
        seen, reward, _, _, _ = envs.step(pilot(envs.q, envs.v, envs.goal[:, :3]))
        passed = reward > 5.0
        reached += passed
        shifted = np.concatenate([before[:, 3:], before[:, -3:]], axis=1)
        assert np.allclose(envs.goal, np.where(passed[:, None], shifted, before))
        assert np.allclose(seen[:, :3], envs.goal[:, :3] - envs.q[:, :3])
    assert (reached >= 4).mean() > 0.9
    assert np.allclose(envs.goal.reshape(COUNT, 4, 3)[reached >= 4], first[reached >= 4][:, -1:])
