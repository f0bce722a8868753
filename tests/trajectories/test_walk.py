"""Footsteps, slow walks and force profiles: where feet are, that nothing jumps, and that it could always stop."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.trajectories import Footstep, ForceProfile, SlowWalk, Swing, footsteps


def at(x, y, z=0.0, angle=0.0):
    T = np.eye(4)
    T[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    T[:3, 3] = x, y, z
    return T


BIPED = {"left": at(0.0, 0.1), "right": at(0.0, -0.1)}
CRAWLER = {
    f"{a}_{b}": at(x, y) for a, x in (("front", 0.3), ("hind", -0.3)) for b, y in (("left", 0.2), ("right", -0.2))
}


def test_footsteps_alternate_and_end_side_by_side():
    steps = footsteps(BIPED, [0.3, 0.0, 0.0], 2)
    assert [step.foot for step in steps] == ["left", "right", "left", "right", "left"]
    np.testing.assert_allclose([step.pose[0, 3] for step in steps], [0.15, 0.3, 0.45, 0.6, 0.6], atol=1e-12)
    np.testing.assert_allclose([step.pose[1, 3] for step in steps], [0.1, -0.1, 0.1, -0.1, 0.1], atol=1e-12)
    assert footsteps(BIPED, [0.3, 0.0, 0.0], 0) == ()
    assert len(footsteps(CRAWLER, [0.1, 0.0, 0.0], 3)) == 13


def test_a_walk_on_the_spot_turns_about_its_middle():
    last = {step.foot: step.pose for step in footsteps(BIPED, [0.0, 0.0, 0.0], 3, turn=np.pi / 6)}
    np.testing.assert_allclose(last["left"], at(-0.1, 0.0, angle=np.pi / 2), atol=1e-12)
    np.testing.assert_allclose(last["right"], at(0.1, 0.0, angle=np.pi / 2), atol=1e-12)


@pytest.mark.parametrize("start", [BIPED, CRAWLER], ids=["biped", "crawler"])
def test_at_any_time_the_robot_could_stand_still(start):
    walk = SlowWalk(start, footsteps(start, [0.2, 0.0, 0.0], 2, turn=0.2), [0.0, 0.0, 0.8], shift=0.7, swing=0.5)
    assert walk.duration == pytest.approx(walk.phases[-1].end) == walk.center_of_mass.duration
    for t in np.linspace(0.0, walk.duration, 400):
        com, support = walk.center_of_mass(t), walk.support(t)
        for foot, motion in walk.feet.items():
            state = motion(t)
            if foot in support:
                np.testing.assert_allclose(state.velocity, 0.0, atol=1e-12)
        if len(support) < len(start):  # above the middle of those that stay, at rest
            middle = np.mean([walk.feet[foot](t).pose[:2, 3] for foot in support], axis=0)
            np.testing.assert_allclose(com.position[:2], middle, atol=1e-9)
            np.testing.assert_allclose(com.velocity, 0.0, atol=1e-12)
        assert com.position[2] == pytest.approx(0.8)
    lifted = walk.feet["left" if "left" in start else "front_left"](walk.phases[1].start + 0.25)
    assert lifted.pose[2, 3] == pytest.approx(0.05)
    end = np.mean([motion(walk.duration).pose[:3, 3] for motion in walk.feet.values()], axis=0)
    np.testing.assert_allclose(walk.center_of_mass(walk.duration).position[:2], end[:2], atol=1e-9)


def test_velocities_and_accelerations_are_derivatives():
    walk, h = SlowWalk(BIPED, footsteps(BIPED, [0.2, 0.1, 0.0], 1, turn=0.4), [0.02, 0.0, 0.8]), 1e-5
    t = np.linspace(0.05, walk.duration - 0.05, 57)
    for motion in (walk.center_of_mass, *walk.feet.values()):
        before, now, after = motion(t - h), motion(t), motion(t + h)
        place = (lambda state: state.position) if hasattr(now, "position") else (lambda state: state.pose[:, :3, 3])
        np.testing.assert_allclose((place(after) - place(before)) / (2 * h), now.velocity[:, :3], atol=1e-7)
        np.testing.assert_allclose((after.velocity - before.velocity) / (2 * h), now.acceleration, atol=1e-5)


def test_swing_in_a_compiled_function():
    swing = Swing([0.0, 0.1, 0.0], [0.3, 0.1, 0.05], 0.1, 0.8)
    law = kt.compile(lambda t: swing(t).position, shapes={"t": ()})
    for t in (0.0, 0.3, 0.4, 0.9):
        np.testing.assert_allclose(law(t), swing(t).position, atol=1e-15)
    np.testing.assert_allclose(swing(0.4).position, [0.15, 0.1, 0.125], atol=1e-12)


def test_what_is_wrong_is_said():
    with pytest.raises(kt.UnknownNameError, match="foot 'lef' does not exist; did you mean 'left'"):
        SlowWalk(BIPED, [Footstep("lef", np.eye(4))], [0, 0, 0.8])
    with pytest.raises(kt.ArgumentError, match="start has 1 feet"):
        SlowWalk({"left": np.eye(4)}, [], [0, 0, 0.8])


def test_a_force_profile_goes_through_its_values_without_a_jump():
    wrenches = np.outer([0.0, 10.0, 10.0, 0.0], [0.0, 0, 1, 0, 0, 0])
    profile = ForceProfile([0.0, 0.5, 2.0, 2.2], wrenches)
    for instant, wrench in zip([0.0, 0.5, 1.2, 2.0, 2.2, 9.0], wrenches[[0, 1, 1, 2, 3, 3]], strict=True):
        np.testing.assert_allclose(profile(instant).force, wrench, atol=1e-12)
    t, h = np.linspace(0.01, 2.19, 50), 1e-6
    slope = (profile(t + h).force - profile(t - h).force) / (2 * h)
    np.testing.assert_allclose(profile(t).rate, slope, atol=1e-4)
    np.testing.assert_array_equal(profile(np.array([-1.0, 1.0, 3.0])).rate, 0.0)
    with pytest.raises(kt.ArgumentError, match="expected two or more that grow, from 0 on"):
        ForceProfile([0.0, 0.0], wrenches[:2])
    with pytest.raises(kt.ArgumentError, match=r"forces has shape \(3, 6\); expected \(4, n\)"):
        ForceProfile([0.0, 0.5, 2.0, 2.2], wrenches[:3])
