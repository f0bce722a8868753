"""An arm in MuJoCo: it tracks a circle, wipes a table, and gives way to a push."""

import numpy as np
import pytest

from closed_loops import scene, share_of_limits


def test_the_arm_tracks_a_circle():
    example = scene("22_mujoco_circle")
    recording, error = example.follow(0.0)
    size = np.linalg.norm(error, axis=1)
    assert size.max() < 1e-4 and size[-1] < 1e-8
    assert np.linalg.norm(np.ptp(recording.poses("tool0")[:, :3, 3], axis=0)) > 0.28  # it was a circle
    assert share_of_limits(recording) < 0.5


def test_a_load_it_does_not_know_bends_the_circle_as_far_as_its_springs_let_it():
    example = scene("22_mujoco_circle")
    recording, error = example.follow(example.LOAD)
    size = np.linalg.norm(error, axis=1)
    assert size[-1] > 0.005 and size.max() < 0.025
    # At rest: Λ k e is the wrench of the load, at the tool; Λ where the arm is.
    q, tool = recording.q[-1], example.tool
    R = tool.pose(q)[:3, :3]
    weight = np.array([0.0, 0.0, -9.81 * example.LOAD])
    wrench = np.concatenate([weight, np.cross(R @ [0.0, 0.0, 0.05], weight)])
    moved = np.linalg.solve(tool.operational_space_inertia(q), wrench) / example.STIFFNESS
    np.testing.assert_allclose(error[-1], moved[:3], atol=2e-4)


@pytest.fixture(scope="module")
def wiped():
    return scene("23_mujoco_wiping").wipe()


def test_the_arm_wipes_with_ten_newtons(wiped):
    recording, force, _ = wiped
    wiping = recording.t > 2.0
    assert abs(force[wiping].mean() - 10.0) < 0.1
    assert np.abs(force[wiping] - 10.0).max() < 0.6 and force[wiping].std() < 0.4
    after = recording.t > 0.3
    assert force[after].min() > 0.5, "it stays on the table"
    assert force.max() < 12.0, "it lands softly"
    assert (recording.elsewhere == 0).all()


def test_while_wiping_it_stays_on_its_path(wiped):
    example, (recording, force, apart) = scene("23_mujoco_wiping"), wiped
    assert np.linalg.norm(apart, axis=1).max() < 1.5e-3
    sliding = (recording.t > 2.5) & (recording.t < 5.5)
    friction = np.linalg.norm(recording.force("sponge")[:, :3] @ example.axes[:, :2], axis=1)
    np.testing.assert_allclose(friction[sliding], example.FRICTION * force[sliding], rtol=0.02)  # against real friction
    turned = recording.poses("sponge")[:, :3, :3] @ example.start[:3, :3].T
    assert np.degrees(np.arccos(np.clip((np.trace(turned, axis1=1, axis2=2) - 1) / 2, -1, 1))).max() < 4.0
    assert share_of_limits(recording) < 0.3


def test_the_arm_gives_way_to_a_push_as_its_springs_say_and_returns():
    example = scene("24_mujoco_push")
    recording, away = example.push()
    t = recording.t
    held = away[(t > 1.9) & (t < 2.0)].mean(axis=0)
    np.testing.assert_allclose(held, example.FORCE / example.STIFFNESS[:3], atol=1e-3)
    assert np.linalg.norm(away[t < 0.5], axis=1).max() < 1e-6
    assert np.linalg.norm(away[(t > 3.9) & (t < 4.0)], axis=1).max() < 1e-3
    pushed = t > 4.0  # at the elbow
    assert np.abs(recording.q[pushed] - example.Q0).max() > 0.5
    assert np.linalg.norm(away[pushed], axis=1).max() < 0.02
    assert np.abs(recording.q[-1] - example.Q0).max() < 0.06
    assert share_of_limits(recording) < 0.5
