"""IK of robots with no joint or one, of batches with nothing in them, and of starts beyond limits."""

import numpy as np
import pytest

import kinetree as kt


def robot_of(kind=None, base="fixed", **joint):
    """At most one joint, and a tool 1 m away."""
    builder = kt.ModelBuilder("small")
    builder.link("base", kt.solids.sphere(0.1, mass=1.0))
    link = "base"
    if kind is not None:
        link = "arm"
        builder.link("arm", kt.solids.sphere(0.1, mass=1.0))
        builder.joint("joint", kind, "base", "arm", axis=(0, 0, 1), **joint)
    builder.frame("tool", link, xyz=(1, 0, 0))
    return kt.Robot(builder.build(base=base))


def on_circle(angle):
    return [np.cos(angle), np.sin(angle), 0.0]


@pytest.mark.sweep
def test_a_robot_without_joints_is_there_or_not():
    robot = robot_of()
    there = robot.ik("tool", [1.0, 0.0, 0.0])
    assert there.success and there.q.shape == (0,) and there.reason is None
    away = robot.ik("tool", [2.0, 0.0, 0.0], np.zeros(0))
    assert away.reason == "'tool' stays 1 m short of its target: out of reach"
    assert robot.ik("tool", np.eye(4)).position_error == 1.0
    assert robot.ik("tool", np.ones((3, 3))).success.tolist() == [False] * 3


def test_one_joint_goes_to_its_limit():
    robot = robot_of("revolute", lower=-1.0, upper=1.0)
    assert robot.ik("tool", on_circle(0.5)).q == pytest.approx([0.5])
    held = robot.ik("tool", on_circle(1.5))
    assert held.q == [1.0] and held.position_error == pytest.approx(2.0 * np.sin(0.25))
    assert held.reason.startswith("no solution was found within 300 attempts")
    assert held.reason.endswith("'joint' at its upper limit 1")


def test_a_joint_whose_limits_are_one_number_stays_there():
    robot = robot_of("revolute", lower=0.3, upper=0.3)
    assert robot.ik("tool", on_circle(0.3)).success
    for q0 in (None, [2.0]):
        assert robot.ik("tool", on_circle(1.5), q0).q == [0.3]


def test_a_start_beyond_limits_begins_at_them():
    robot = robot_of("revolute", lower=-1.0, upper=1.0)
    solution = robot.ik("tool", on_circle(0.5), [5.0])
    assert solution.success and solution.q == pytest.approx([0.5])
    assert robot.ik("tool", on_circle(1.2), [5.0]).q == [1.0]


@pytest.mark.parametrize(("lower", "upper"), [(-np.inf, 2.0), (5.0, np.inf), (-np.inf, np.inf)])
def test_a_rail_without_one_end_goes_far(lower, upper):
    robot = robot_of("prismatic", lower=lower, upper=upper)
    far = 1e6 if upper == np.inf else -1e6
    assert robot.ik("tool", [1.0, 0.0, far]).q == pytest.approx([far])


def test_a_follower_moves_with_its_leader():
    builder = kt.ModelBuilder("pair")
    for link in ("base", "a", "b"):
        builder.link(link, kt.solids.sphere(0.1, mass=1.0))
    builder.joint("leader", "revolute", "base", "a", axis=(0, 0, 1), lower=-1.0, upper=1.0)
    builder.joint("follower", "revolute", "a", "b", axis=(0, 0, 1), xyz=(1, 0, 0), mimic=kt.Mimic("leader", 2.0, 0.1))
    builder.frame("tool", "b", xyz=(1, 0, 0))
    robot = kt.Robot(builder.build())
    assert robot.ik("tool", robot.frame("tool").pose([0.4])).q == pytest.approx([0.4], abs=1e-6)
    angles = np.linspace(-1.0, 1.0, 20001)[:, None]
    nearest = np.linalg.norm(robot.frame("tool").pose(angles)[:, :3, 3] - [5.0, 0.0, 0.0], axis=-1).min()
    assert robot.ik("tool", [5.0, 0.0, 0.0]).position_error == pytest.approx(nearest, abs=1e-7)


def test_batches_of_nothing_and_of_starts():
    robot = robot_of("revolute", lower=-1.0, upper=1.0)
    for target, q0, batch in (
        (np.zeros((0, 3)), None, (0,)),
        (np.zeros((0, 3)), [0.1], (0,)),
        (np.zeros((2, 0, 4, 4)), None, (2, 0)),
        (on_circle(0.5), np.zeros((4, 1)), (4,)),
        (np.tile(on_circle(0.5), (3, 1, 1)), np.zeros((4, 1)), (3, 4)),
    ):
        solution = robot.ik("tool", target, q0)
        assert solution.q.shape == (*batch, 1) and solution.reason.shape == batch and solution.success.all()


def test_a_floating_base_alone_goes_anywhere():
    robot = robot_of(base="floating")
    target = np.eye(4)
    target[:3, :3] = kt.rotations.matrix_from_rotation_vector([1.0, -2.0, 0.5])
    target[:3, 3] = [1e8, -3.0, 2.0]
    assert robot.ik("tool", target).success
