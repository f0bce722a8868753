"""All branches in closed form: forward kinematics, none lost, as many as a search finds; singular poses; limits.

Covers: ik/closed_form/parallel.py, ik/closed_form/positioning.py, ik/closed_form/reach.py,
ik/closed_form/recognition.py, ik/closed_form/selection.py, ik/closed_form/solver.py, ik/closed_form/spherical.py.
"""

import pickle
from functools import cache

import numpy as np
import pytest

import kinetree as kt
from peers import urdf
from six_joint_arms import KINDS, angles_apart, arm_about, arm_of_kind, searched

SINGULAR = 1e-5
"""Nearer to singular than this, angles are not determined to the digits asked for here."""
REAL = {
    "puma560": ("puma560", "tool0"),
    "ur5": ("ur5_robot.urdf", "tool0"),
    "kinova": ("kinova_description/kinova.urdf", "j2s6s200_end_effector"),
    "leg": ("talos_reduced.urdf", "left_sole_link"),
}


@cache
def real(name):
    file, frame = REAL[name]
    return kt.load(file if file in kt.bundled_robots() else urdf(file)), frame


def owned(robot, frame):
    """Which entries of q move the frame."""
    model = robot.model
    return [model.joints[i].iq for i in model.support(model.frame(frame).body)]


def check_all_found(robot, frame, count, rng, **options):
    """Solutions for poses of random configurations: they lead there, and each configuration is among them."""
    entries = owned(robot, frame)
    q = np.tile(robot.neutral(), (count, 1))
    q[:, entries] = robot.random(rng, count)[:, entries]
    hand = robot.frame(frame)
    target = hand.pose(q)
    found = kt.ik.closed_form(robot, frame, target, **options)
    assert found.shape == (count, 8, robot.nq)
    exist = ~np.isnan(found).any(axis=-1)
    assert (np.isnan(found).all(axis=-1) == ~exist).all()
    led_to = hand.pose(np.where(exist[..., None], found, 0.0))
    assert np.abs(led_to - target[:, None])[exist].max() < 1e-9
    nearest = np.where(exist, angles_apart(found, q[:, None]), np.inf).min(axis=1)
    lost = nearest > 1e-6
    if lost.any():
        J = hand.jacobian(q[lost])[..., [robot.model.joints[i].iv for i in support(robot, frame)]]
        assert np.linalg.svd(J, compute_uv=False)[:, -1].max() < SINGULAR
        assert lost.sum() <= count // 1000
    return found[exist]


def support(robot, frame):
    return robot.model.support(robot.model.frame(frame).body)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.sampled(8)
def test_of_ten_thousand_configurations_none_is_lost_and_a_search_finds_no_more(kind):
    robot = arm_of_kind(kind, seed=len(kind))
    rng = np.random.default_rng(1)
    check_all_found(robot, "tool", 10_000, rng, limits=False)
    for _ in range(2):
        target = robot.frame("tool").pose(rng.uniform(-np.pi, np.pi, size=6))
        found, expected = kt.ik.closed_form(robot, "tool", target), searched(robot, "tool", target, rng)
        assert len(found) == len(expected)
        assert angles_apart(found[:, None], expected).min(axis=1).max() < 1e-8


@pytest.mark.parametrize("name", REAL)
@pytest.mark.sampled(4)
@pytest.mark.sweep
def test_real_arms(name):
    robot, frame = real(name)
    within = check_all_found(robot, frame, 10_000, np.random.default_rng(2))
    assert (within >= robot.limits.lower).all() and (within <= robot.limits.upper).all()


def test_all_eight_of_the_puma_are_found_by_a_search_too():
    (robot, _), rng = real("puma560"), np.random.default_rng(3)
    target = robot.frame("tool0").pose([0.3, -0.6, 0.4, 0.5, 0.7, -0.2])
    found = kt.ik.closed_form(robot, "tool0", target, limits=False)
    expected = searched(robot, "tool0", target, rng)
    assert len(found) == len(expected) == 8
    assert angles_apart(found[:, None], expected).min(axis=1).max() < 1e-8
    few = kt.ik.closed_form(robot, "tool0", target)
    inside = ((expected >= robot.limits.lower) & (expected <= robot.limits.upper)).all(axis=1)
    assert inside.sum() <= len(few) < 8


def test_axes_that_meet_only_nearly_are_polished_to_the_robot_as_it_is():
    """As in files with angles of four digits."""
    exact = arm_of_kind("wrist 2|3", seed=4)
    rng = np.random.default_rng(4)
    lines = kt.ik.ClosedForm(exact, "tool")._arm.lines
    h = np.array([line.h for line in lines]) + 3e-6 * rng.normal(size=(6, 3))
    o = np.array([line.o for line in lines]) + 2e-6 * rng.normal(size=(6, 3))
    robot = arm_about(h / np.linalg.norm(h, axis=1)[:, None], o)
    q = rng.uniform(-np.pi, np.pi, size=(2000, 6))
    J = robot.frame("tool").jacobian(q)
    q = q[np.linalg.svd(J, compute_uv=False)[:, -1] > 5e-3]
    target = robot.frame("tool").pose(q)
    found = kt.ik.closed_form(robot, "tool", target)
    exist = ~np.isnan(found[..., 0])
    assert np.abs(robot.frame("tool").pose(np.where(exist[..., None], found, 0)) - target[:, None])[exist].max() < 1e-9
    assert np.where(exist, angles_apart(found, q[:, None]), np.inf).min(axis=1).max() < 1e-6


# -- singular poses ------------------------------------------------------------------------------------------------


def test_a_straight_wrist_gives_one_solution_with_its_first_joint_at_zero():
    robot, _ = real("puma560")
    for q5, rows in ((0.0, 7), (1e-9, 8), (1e-6, 8)):
        q = np.array([0.3, -0.6, 0.4, 0.5, q5, -0.2])
        target = robot.frame("tool0").pose(q)
        found = kt.ik.closed_form(robot, "tool0", target, limits=False)
        assert len(found) == rows
        assert np.abs(robot.frame("tool0").pose(found) - target).max() < 1e-12
        if q5 == 0.0:
            (straight,) = found[np.abs(found[:, 4]) < 1e-9]
            np.testing.assert_allclose(straight, [0.3, -0.6, 0.4, 0.0, 0.0, 0.3], atol=1e-12)
        else:
            assert angles_apart(found, q).min() < 1e-6 and angles_apart(found, found[:, None]).max() < 4.0


def test_a_straight_wrist_of_a_ur_arm_always_has_one_solution_of_its_family():
    robot, frame = real("ur5")
    q = np.random.default_rng(5).uniform(-np.pi, np.pi, size=(2000, 6))
    q[:, 4] = 0.0
    target = robot.frame(frame).pose(q)
    found = kt.ik.closed_form(robot, frame, target)
    straight = np.abs(found[..., 4]) < 1e-9
    assert straight.any(axis=1).all()
    assert (np.abs(found[straight][:, 5]) < 1e-12).mean() > 0.8  # q6 = 0 unless axis 4 is then out of reach
    assert np.abs(robot.frame(frame).pose(found[straight]) - target[np.nonzero(straight)[0]]).max() < 1e-9


@cache
def plain_arm():
    """Shoulder above the base, upper arm and forearm of 0.5 m, spherical wrist: no offsets at all."""
    z, y, x = np.eye(3)[::-1]
    return arm_about(
        [z, y, y, x, y, x], [[0, 0, 0.4], [0, 0, 0.4], [0.5, 0, 0.4], [1, 0, 0.4], [1, 0, 0.4], [1, 0, 0.4]]
    )


def test_a_wrist_above_the_shoulder_leaves_the_first_joint_at_zero():
    robot = plain_arm()
    q = np.array([0.7, -np.pi / 2 + 0.6, -1.2, 0.3, 0.5, 0.2])
    wrist = robot.poses(q)[3, :3, 3]
    np.testing.assert_allclose(wrist[:2], 0.0, atol=1e-12)
    target = robot.frame("tool").pose(q)
    found = kt.ik.closed_form(robot, "tool", target)
    assert len(found)
    assert np.abs(robot.frame("tool").pose(found) - target).max() < 1e-9
    assert np.abs(found[:, 0]).max() < 1e-6


def test_where_two_branches_meet_there_is_one_row():
    robot = plain_arm()
    target = robot.frame("tool").pose([0.7, -0.4, 0.0, 0.3, 0.5, 0.2])  # stretched
    found = kt.ik.closed_form(robot, "tool", target)
    assert len(found) == 4
    assert np.abs(robot.frame("tool").pose(found) - target).max() < 1e-9


# -- out of reach --------------------------------------------------------------------------------------------------


def test_how_far_a_pose_is_out_of_reach():
    robot = plain_arm()
    target = np.eye(4)
    for x, expected in ((1.5, 0.4), (1.0, 0.0), (3.0, 1.9)):
        target[:3, 3] = [x, 0.0, 0.4]  # the wrist is 0.1 m below the tool, at a distance of √(x² + 0.01) or so
        wrist = np.hypot(x, 0.1)
        assert kt.ik.out_of_reach(robot, "tool", target) == pytest.approx(max(wrist - 1.0, 0.0), abs=1e-9)
        assert (len(kt.ik.closed_form(robot, "tool", target)) == 0) == (wrist > 1.0)
        assert expected == pytest.approx(max(wrist - 1.0, 0.0), abs=0.11)
    puma, _ = real("puma560")
    target = puma.frame("tool0").pose(puma.random(rng=1, size=3))
    np.testing.assert_array_equal(kt.ik.out_of_reach(puma, "tool0", target), 0.0)


def test_how_far_a_pose_is_out_of_reach_of_a_ur_arm():
    robot, frame = real("ur5")
    q = np.random.default_rng(7).uniform(-np.pi, np.pi, size=(200, 6))
    q[:, 2] = 0.05
    alone = (~np.isnan(kt.ik.closed_form(robot, frame, robot.frame(frame).pose(q))[..., 0])).sum(axis=1) == 2
    stretched = q[alone][0] * [1, 1, 0, 1, 1, 1]  # no other shoulder or wrist can reach there
    target, poses = robot.frame(frame).pose(stretched), robot.poses(stretched)
    along = poses[2, :3, 3] - poses[1, :3, 3]
    along -= poses[1, :3, 1] * (poses[1, :3, 1] @ along)  # from axis to axis
    assert kt.ik.out_of_reach(robot, frame, target) < 1e-8
    target[:3, 3] += 0.02 * along / np.linalg.norm(along)
    assert kt.ik.out_of_reach(robot, frame, target) == pytest.approx(0.02, abs=1e-9)
    assert len(kt.ik.closed_form(robot, frame, target)) == 0
    upright = np.eye(4)
    upright[:3, 3] = 0.0, 0.0, 0.5  # the flange points up, so that the centre is on axis 1; the arm is 109.15 mm aside
    assert kt.ik.out_of_reach(robot, frame, upright) == pytest.approx(0.10915, abs=1e-9)
    assert len(kt.ik.closed_form(robot, frame, upright)) == 0


# -- calls ---------------------------------------------------------------------------------------------------------


@pytest.mark.sweep
def test_angles_beyond_limits_are_tried_a_turn_away():
    free = arm_of_kind("wrist", seed=6)
    robot = arm_of_kind("wrist", seed=6, lower=0.5, upper=2 * np.pi + 0.4)
    target = free.frame("tool").pose([-1.0, 2.0, -2.0, 1.0, -0.3, 3.0])
    everywhere, within = kt.ik.closed_form(free, "tool", target), kt.ik.closed_form(robot, "tool", target)
    assert (within >= 0.5).all() and (within <= 2 * np.pi + 0.4).all()
    turned = np.where(everywhere < 0.4, everywhere + 2 * np.pi, everywhere)
    expected = everywhere[((turned <= 2 * np.pi + 0.4) & (turned >= 0.5)).all(axis=1)]
    assert len(within) == len(expected) > 0
    assert angles_apart(within, expected).max() < 1e-9
    assert angles_apart(within, [-1.0, 2.0, -2.0, 1.0, -0.3, 3.0]).min() < 1e-9
    assert np.abs(everywhere).max() <= np.pi


def test_one_batch_eager_and_pickled_agree():
    robot, _ = real("puma560")
    target = robot.frame("tool0").pose(robot.random(rng=3, size=(2, 3)))
    many = kt.ik.closed_form(robot, "tool0", target)
    assert many.shape == (2, 3, 8, 6)
    for index in np.ndindex(2, 3):
        one = kt.ik.closed_form(robot, "tool0", target[index])
        np.testing.assert_array_equal(one, many[index][~np.isnan(many[index][:, 0])])
    one = kt.ik.closed_form(robot, "tool0", target[0, 0])
    np.testing.assert_allclose(kt.ik.closed_form(robot.eager, "tool0", target[0, 0].tolist()), one, atol=1e-9)
    again = pickle.loads(pickle.dumps(kt.ik.ClosedForm(robot, "tool0")))
    np.testing.assert_array_equal(again.solve(target[0, 0]), one)
    assert kt.ik.closed_form(robot, "tool0", np.zeros((0, 4, 4))).shape == (0, 8, 6)
    assert kt.ik.closed_form(robot, "tool0", np.full((4, 4), np.nan)).shape == (0, 6)


def test_a_rotation_with_few_digits_is_taken_for_the_nearest_one():
    robot, _ = real("puma560")
    target = robot.frame("tool0").pose([0.3, -0.6, 0.4, 0.5, 0.7, -0.2])
    found = kt.ik.closed_form(robot, "tool0", target.round(7), limits=False)
    assert len(found) == 8
    assert np.abs(robot.frame("tool0").pose(found) - target).max() < 3e-7


# -- what does not fit ---------------------------------------------------------------------------------------------


def test_errors_say_what_does_not_fit():
    z, y, x = np.eye(3)[::-1]
    offset = [[0, 0, 0.4], [0, 0.1, 0.4], [0.5, 0, 0.7], [1, 0, 0.4], [1, 0, 0.4], [1, 0.08, 0.4]]
    robot = arm_about([z, y, y, x, y, z], offset)
    with pytest.raises(kt.ArgumentError, match=r"'joint4', 'joint5', 'joint6' do not meet: 0\.08 m apart; nor do"):
        kt.ik.closed_form(robot, "tool", np.eye(4))
    with pytest.raises(kt.ArgumentError, match=r"'tool0' is moved by 7 joints: .*needs six; kt\.edit\.lock"):
        kt.ik.closed_form(kt.load("arm7"), "tool0", np.eye(4))
    with pytest.raises(kt.ArgumentError, match="'base_link' is moved by 0 joints; a closed form needs six"):
        kt.ik.closed_form(kt.load("arm7"), "base_link", np.eye(4))
    flat = arm_about([z, z, z, x, y, x], [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0], [3, 0, 0], [3, 0, 0]])
    with pytest.raises(kt.ArgumentError, match=r"'joint1', .* move frame 'tool' in fewer than six ways"):
        kt.ik.closed_form(flat, "tool", np.eye(4))
    puma, _ = real("puma560")
    with pytest.raises(kt.ArgumentError, match=r"target is no pose; .*in state \[1\] of the batch"):
        kt.ik.closed_form(puma, "tool0", [np.eye(4), np.ones((4, 4))])
    with pytest.raises(kt.ArgumentError, match="target is no pose"):
        kt.ik.closed_form(puma, "tool0", np.diag([1.0, 1.0, -1.0, 1.0]))
    with pytest.raises(kt.UnknownNameError, match="did you mean 'tool0'"):
        kt.ik.closed_form(puma, "toool", np.eye(4))
    with pytest.raises(kt.ArgumentTypeError, match="robot is 3"):
        kt.ik.closed_form(3, "tool0", np.eye(4))


def test_other_joints_are_refused_by_name():
    slides = kt.ModelBuilder("slides")
    slides.link("link0")
    for k in range(1, 7):
        slides.link(f"link{k}")
        slides.joint(f"joint{k}", "prismatic" if k == 3 else "revolute", f"link{k - 1}", f"link{k}")
    with pytest.raises(kt.ArgumentError, match="joint 'joint3' is prismatic; a closed form needs six revolute joints"):
        kt.ik.closed_form(kt.Robot(slides.build()), "link6", np.eye(4))
    follows = kt.ModelBuilder("follows")
    follows.link("link0")
    for k in range(1, 7):
        follows.link(f"link{k}")
        mimic = kt.Mimic("joint2") if k == 4 else None
        follows.joint(f"joint{k}", "revolute", f"link{k - 1}", f"link{k}", axis=np.eye(3)[k % 3], mimic=mimic)
    with pytest.raises(kt.ArgumentError, match="joint 'joint4' follows 'joint2'"):
        kt.ik.closed_form(kt.Robot(follows.build()), "link6", np.eye(4))
