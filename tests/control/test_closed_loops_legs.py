"""Robots on legs in MuJoCo, with whole-body control: they shift, lift a foot, take a push, squat, and do not fall."""

from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from closed_loops import scene, share_of_cone, share_of_limits
from kinetree.control import WholeBody


def off_plan(recording):
    """How far the centre of mass is from where it should be, (n,) [m]."""
    return np.linalg.norm(recording.center_of_mass - recording.reports["wanted"], axis=1)


def settled(recording):
    """Once soles have sunk into the floor as far as they do."""
    return recording.t > 0.05


@pytest.fixture(scope="module")
def quadruped():
    return scene("25_mujoco_quadruped"), scene("25_mujoco_quadruped").run()


@pytest.mark.sweep
def test_the_quadruped_shifts_and_lifts_a_leg(quadruped):
    example, recording = quadruped
    t, swing = recording.t, example.LIFTED
    air = (t > example.UP + 0.05) & (t < example.DOWN - 0.05)
    calm = t < example.PUSH.start
    assert off_plan(recording)[calm].max() < 0.008
    assert np.ptp(recording.reports["wanted"][:, :2], axis=0).max() > 0.05
    up = recording.poses(swing)[:, 2, 3] - example.RADIUS
    assert 0.09 < up.max() < 0.11 and (recording.force(swing)[air] == 0).all()
    foot = recording.poses(swing)[air][:, :3, 3] - example.foot(t[air] - example.UP).position
    assert np.linalg.norm(foot, axis=1).max() < 0.01
    on = ~air & settled(recording) & ((t < example.UP - 0.01) | (t > example.DOWN + 0.1))
    assert recording.force(swing)[on, 2].min() > 10.0


def test_the_quadruped_takes_a_push(quadruped):
    example, recording = quadruped
    off = off_plan(recording)[recording.t > example.PUSH.start]
    assert 0.01 < off.max() < 0.03, "it gives way"
    assert off[-1] < 0.001, "and comes back"
    speed = example.robot.center_of_mass_velocity(recording.q, recording.v)
    assert np.linalg.norm(speed, axis=1).max() > 0.1 and np.linalg.norm(speed[-1]) < 0.002


def test_the_quadruped_stands_as_its_limits_let_it(quadruped):
    example, recording = quadruped
    assert (recording.elsewhere == 0).all(), "nothing but feet touches the floor"
    tilt = recording.poses("base_link")[:, 2, 2]
    assert tilt.min() > np.cos(np.radians(5.0))
    assert share_of_limits(recording) < 0.5
    for foot in example.feet:
        assert share_of_cone(recording.force(foot)[settled(recording)], example.PLANNED) < 1.0
        moved = np.ptp(recording.poses(foot)[:, :2, 3], axis=0).max()
        assert moved < (0.06 if foot == example.LIFTED else 0.006), "balls of 28 mm roll, and do not slide"


def test_forces_are_those_that_were_planned(quadruped):
    example, recording = quadruped
    quiet = settled(recording) & (np.abs(recording.t - example.DOWN) > 0.1) & (recording.t < example.PUSH.start)
    felt = np.concatenate([recording.force(foot)[:, :3] for foot in example.feet], axis=1)
    assert np.abs(felt - recording.reports["planned"])[quiet].max() < 0.05 * 9.81 * example.robot.mass


@pytest.mark.sweep
def test_the_quadruped_does_all_that_in_strict_order():
    """The centre of mass first, then the trunk and the foot in the air, then the posture."""
    example = scene("25_mujoco_quadruped")
    tasks = [replace(task, priority=k) for task, k in zip(example.tasks, (0, 1, 1, 2), strict=True)]
    recording = example.run(WholeBody(example.robot, tasks, example.controller.contacts))
    calm = recording.t < example.PUSH.start
    assert off_plan(recording)[calm].max() < 0.002, "nothing comes in the way of what is first"
    assert off_plan(recording).max() < 0.03 and off_plan(recording)[-1] < 0.001
    assert recording.poses(example.LIFTED)[:, 2, 3].max() > 0.09
    assert (recording.elsewhere == 0).all() and share_of_limits(recording) < 0.6
    assert recording.poses("base_link")[:, 2, 2].min() > np.cos(np.radians(8.0))


def test_the_quadruped_carries_a_load_it_does_not_know():
    example = scene("25_mujoco_quadruped")
    load = kt.solids.box((0.2, 0.1, 0.1), mass=2.0)
    heavier = kt.edit.attach(example.robot, "base_link", load, xyz=(0.05, 0.0, 0.12))
    recording = example.run(body=heavier, end=example.PUSH.start)
    assert (recording.elsewhere == 0).all() and share_of_limits(recording) < 0.6
    assert recording.poses("base_link")[:, 2, 2].min() > np.cos(np.radians(8.0))
    assert recording.poses(example.LIFTED)[:, 2, 3].max() > 0.09
    lifted = sum(recording.force(foot)[-1, 2] for foot in example.feet)
    assert abs(lifted - 9.81 * (example.robot.mass + 2.0)) < 1.0
    assert off_plan(recording)[-1] < 0.03


@pytest.fixture(scope="module")
def one_foot():
    return scene("26_mujoco_one_foot"), scene("26_mujoco_one_foot").run()


@pytest.mark.sweep
def test_the_humanoid_balances_on_one_foot(one_foot):
    example, recording = one_foot
    t = recording.t
    air = (t > example.UP + 0.1) & (t < example.DOWN - 0.1)
    assert air.sum() > 2000 and (recording.force("right_sole")[air] == 0).all()
    assert recording.poses("right_sole")[:, 2, 3].max() > 0.1
    off = off_plan(recording)
    assert off[t < example.PUSH.start].max() < 0.003
    assert 0.002 < off.max() < 0.01 and off[-1] < 0.001
    weight = 9.81 * example.robot.mass
    held = (t > example.UP + 0.8) & (t < example.PUSH.start)
    np.testing.assert_allclose(recording.force("left_sole")[held, 2], weight, rtol=0.02)


@pytest.mark.sweep
def test_the_humanoid_does_not_fall(one_foot):
    example, recording = one_foot
    assert (recording.elsewhere == 0).all()
    assert recording.poses("chest_link")[:, 2, 2].min() > np.cos(np.radians(5.0))
    assert share_of_limits(recording) < 0.8
    alone = (recording.t > example.UP + 0.1) & (recording.t < example.DOWN - 0.1)
    middle, half = np.array(example.AT[:2]), 0.5 * np.array([example.LENGTH, example.WIDTH])
    assert (np.abs(recording.center_of_pressure("left_sole")[alone] - middle) < half + 0.002).all()
    assert share_of_cone(recording.force("left_sole")[settled(recording)], example.PLANNED) < 1.0
    assert np.ptp(recording.poses("left_sole")[:, :3, 3], axis=0).max() < 0.003
    assert np.abs(recording.poses("right_sole")[-1] - recording.poses("right_sole")[0])[:3, 3].max() < 0.003


@pytest.mark.sweep
def test_the_humanoid_squats():
    example = scene("27_mujoco_squat")
    recording = example.run()
    depth = example.DEPTH
    assert abs(np.ptp(recording.center_of_mass[:, 2]) - depth) < 0.002
    assert off_plan(recording).max() < 0.002
    rounds = np.diff(np.sign(recording.center_of_mass[:, 2] - example.top[2] + 0.5 * depth))
    assert np.count_nonzero(rounds) == 4, "down and up, twice"
    assert (recording.elsewhere == 0).all() and share_of_limits(recording) < 0.6
    on = settled(recording)
    middle, half = np.array(example.AT[:2]), 0.5 * np.array([example.LENGTH, example.WIDTH])
    for sole in example.soles:
        assert np.ptp(recording.poses(sole)[:, :3, 3], axis=0).max() < 0.003
        assert (np.abs(recording.center_of_pressure(sole)[on] - middle) < half).all()
        assert share_of_cone(recording.force(sole)[on], example.PLANNED) < 1.0
    lower, upper = example.robot.limits.lower, example.robot.limits.upper
    assert (recording.q > lower - 1e-3)[:, 7:].all() and (recording.q < upper + 1e-3)[:, 7:].all()
    lifted = sum(recording.force(sole)[:, 2] for sole in example.soles)
    a = np.gradient(example.robot.center_of_mass_velocity(recording.q, recording.v)[:, 2], 1e-3)
    np.testing.assert_allclose(lifted[on], example.robot.mass * (9.81 + a)[on], atol=5.0)  # Newton


@pytest.mark.sweep
def test_the_humanoid_walks_slowly():
    example = scene("28_mujoco_slow_walk")
    recording = example.run()
    assert off_plan(recording).max() < 0.002
    assert (recording.elsewhere == 0).all() and share_of_limits(recording) < 0.8
    assert len(example.steps) == 3
    on = recording.reports["on"]
    for k, sole in enumerate(example.soles):
        went = recording.poses(sole)[-1, :3, 3] - recording.poses(sole)[0, :3, 3]
        np.testing.assert_allclose(went, [example.STRIDE, 0.0, 0.0], atol=0.002)
        assert recording.poses(sole)[:, 2, 3].max() > 0.05
        lifts = np.flatnonzero(np.diff(on[:, k].astype(int)) == -1)
        assert len(lifts) == 2 - k  # the first foot begins and ends with half a stride
        stands = on[:, k] & np.roll(on[:, k], 5) & settled(recording)
        assert recording.force(sole)[stands, 2].min() > 5.0, "a foot that stands pushes on the floor"
        assert share_of_cone(recording.force(sole)[stands], example.PLANNED, least=50.0) < 1.0
        assert share_of_cone(recording.force(sole)[stands], example.REAL) < 1.0, "it does not slide"
    assert recording.poses("base_link")[:, 2, 2].min() > np.cos(np.radians(3.0))
