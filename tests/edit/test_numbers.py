"""Edits of numbers: each against the same change made in the file, or by hand."""

import numpy as np
import pytest

import kinetree as kt
from one_of_each import builder
from peers import close

HALF = np.pi / 2


@pytest.fixture
def arm():
    return kt.load("arm6", passive=True)


def described(robot, name):
    return robot.model.description.joints[name]


def test_inertia_and_mass(arm):
    inertia = kt.Inertia.from_com(3.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.25]))
    changed = kt.edit.set_inertia(arm, "forearm_link", inertia)
    body = arm.body_names.index("forearm_link")
    phi = np.concatenate([arm.parameters[: 10 * body], inertia.parameters(), arm.parameters[10 * body + 10 :]])
    q, v, a = np.random.default_rng(0).normal(size=(3, 6))
    free = kt.load("arm6")
    close(kt.edit.set_inertia(free, "forearm_link", inertia).inverse_dynamics(q, v, a),
          free.regressor(q, v, a) @ phi[: 10 * len(arm.body_names)], 1e-9)  # fmt: skip
    heavier = kt.edit.set_mass(changed, "forearm_link", 6.0)
    close(heavier.model.inertias[body + 1].parameters(), 2.0 * inertia.parameters(), 1e-12)
    assert arm.mass != changed.mass  # the given robot stays as it is
    for call, message in (
        (lambda: kt.edit.set_mass(arm, "forearm", 1.0), "did you mean 'forearm_link'"),
        (lambda: kt.edit.set_mass(arm, "forearm_link", -1.0), "mass is -1"),
        (lambda: kt.edit.set_mass(arm, "tool0", 1.0), "no mass that could be scaled"),
        (lambda: kt.edit.set_inertia(arm, "forearm_link", 3.0), "expected a kinetree.Inertia"),
        (lambda: kt.edit.set_inertia(arm, "forearm_link", kt.Inertia(-1.0, np.zeros(3), np.eye(3))), "mass is -1"),
    ):
        with pytest.raises(kt.KinetreeError, match=message):
            call()
    odd = kt.edit.set_inertia(arm, "forearm_link", kt.Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 9.0])))
    assert any("triangle" in str(finding) for finding in odd.check())
    assert not any("triangle" in str(finding) for finding in kt.edit.set_inertia(odd, "forearm_link", inertia).check())


def test_limits(arm):
    changed = kt.edit.set_limits(arm, "elbow", lower=-0.5, effort=7.0)
    k = arm.joint("elbow").q_slice.start
    assert changed.limits.lower[k] == -0.5 and changed.limits.effort[k] == 7.0
    assert changed.limits.upper[k] == arm.limits.upper[k] and changed.limits.velocity[k] == arm.limits.velocity[k]
    slow = kt.edit.set_limits(arm, arm.joint_names, velocity=0.5)
    assert (slow.limits.velocity == 0.5).all() and (slow.limits.lower == arm.limits.lower).all()
    each = kt.Robot(builder().build())
    bounded = kt.edit.set_limits(each, "table", lower=[-1, -2, -3], upper=4.0)
    assert (bounded.joint("table").limits.lower == [-1, -2, -3]).all()
    for arguments, message in (
        ({"lower": 9.0}, "lower limit 9 is above"),
        ({"lower": [1, 2]}, "lower has 2 numbers"),
        ({}, "no limit"),
        ({"upper": "high"}, "'high'"),
        ({"velocity": -1.0}, "joint 'elbow': velocity limit is -1; expected zero or more"),
        ({"effort": [-2.0]}, "joint 'elbow': effort limit is -2; expected zero or more"),
    ):
        with pytest.raises(kt.KinetreeError, match=message):
            kt.edit.set_limits(arm, "elbow", **arguments)


def test_dynamics(arm):
    """Each number adds what `JointDynamics` says, beside a robot whose joints have none of them."""
    q, v, a = np.random.default_rng(0).normal(size=(3, 6))
    bare = kt.edit.set_dynamics(arm, arm.joint_names, armature=0.0, damping=0.0, friction=0.0, stiffness=0.0)
    changed = kt.edit.set_dynamics(bare, ["elbow", "wrist_1"], damping=0.5, armature=0.25)
    changed = kt.edit.set_dynamics(changed, "elbow", friction=2.0, stiffness=3.0, rest=0.1)
    wanted = np.zeros(6)
    wanted[[2, 3]] = 0.25 * a[[2, 3]] + 0.5 * v[[2, 3]]
    wanted[2] += 2.0 * v[2] / np.hypot(v[2], arm.model.friction_width) + 3.0 * (q[2] - 0.1)
    close(changed.inverse_dynamics(q, v, a) - bare.inverse_dynamics(q, v, a), wanted, 1e-9)
    for arguments, message in (
        ({"damping": -1.0}, "joint 'elbow': damping is -1"),
        ({"damping": (1.0, 2.0)}, "2 numbers"),
        ({}, "got no number"),
    ):
        with pytest.raises(kt.KinetreeError, match=message):
            kt.edit.set_dynamics(arm, "elbow", **arguments)


def test_placements_and_frames(arm):
    q = np.linspace(-1.0, 1.0, 6)
    moved = kt.edit.place_joint(arm, "elbow", xyz=(0.1, 0.2, 0.3))
    assert (described(moved, "elbow").placement.R == described(arm, "elbow").placement.R).all()
    upper = arm.frame("upper_arm_link").pose(q)
    origin = moved.frame("forearm_link").pose(q)[:3, 3]
    close(origin, (upper @ [0.1, 0.2, 0.3, 1.0])[:3], 1e-12)
    turned = kt.edit.place_joint(arm, "elbow", rpy=(0.0, 0.0, HALF))
    assert (described(turned, "elbow").placement.p == described(arm, "elbow").placement.p).all()
    tcp = kt.edit.add_frame(arm, "tcp", "tool0", xyz=(0, 0, 0.1), rpy=(HALF, 0, 0))
    offset = np.linalg.inv(arm.frame("tool0").pose(q)) @ tcp.frame("tcp").pose(q)
    close(offset, [[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0.1], [0, 0, 0, 1]], 1e-12)
    on_site = kt.edit.add_frame(tcp, "tip", "tcp", xyz=(0, 0, 0.2))
    close(
        np.linalg.inv(tcp.frame("tcp").pose(q)) @ on_site.frame("tip").pose(q), kt.se3.exp([0, 0, 0.2, 0, 0, 0]), 1e-12
    )
    longer = kt.edit.place_frame(tcp, "tcp", xyz=(0, 0, 0.4))
    link = tcp.model.description.sites["tcp"][0]
    close((np.linalg.inv(arm.frame(link).pose(q)) @ longer.frame("tcp").pose(q))[:3, 3], [0, 0, 0.4], 1e-12)
    close(
        kt.edit.place_frame(arm, "tool0", xyz=(0, 0, 1)).frame("tool0").pose(q)[:3, :3],
        arm.frame("tool0").pose(q)[:3, :3],
        1e-12,
    )
    for call, message in (
        (lambda: kt.edit.add_frame(arm, "tool0", "forearm_link"), "is a link"),
        (lambda: kt.edit.add_frame(arm, "tcp", "tool"), "did you mean 'tool0'"),
        (lambda: kt.edit.place_frame(arm, "forearm_link", xyz=(0, 0, 1)), "moved by joint 'elbow'"),
        (lambda: kt.edit.place_frame(arm, arm.frame_names[0], xyz=(0, 0, 1)), "is the root"),
        (lambda: kt.edit.place_joint(arm, "elbow"), "got no place"),
        (lambda: kt.edit.place_joint(arm, "elbow", xyz=(0, 0)), "joint 'elbow': xyz is .* three finite numbers"),
        (lambda: kt.edit.place_frame(arm, "tool0", rpy=("90deg", 0, 0)), "joint 'tool_mount': rpy is .* three finite"),
        (lambda: kt.edit.place_joint(arm, "elbow", rotation=np.ones((3, 3))), "rotation matrix"),
    ):
        with pytest.raises(kt.KinetreeError, match=message):
            call()


def test_edits_keep_options_and_inputs():
    robot = kt.load("quadruped", "floating", parametric=("inertial",), passive=True)
    for changed in (
        kt.edit.set_mass(robot, robot.body_names[1], 1.0),
        kt.edit.set_limits(robot, robot.joint_names[0], effort=1.0),
        kt.edit.add_frame(robot, "eye", robot.body_names[0]),
    ):
        assert changed.parameter_names == robot.parameter_names and changed.nq == robot.nq and changed.model.passive
