"""Coordinates by name: configurations, joints, postures, normalization."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.robot.robot import Robot
from one_of_each import builder
from peers import close


@pytest.fixture(scope="module")
def arm():
    return kt.load("arm6")


@pytest.fixture(scope="module")
def quadruped():
    return kt.load("quadruped", "floating")


@pytest.fixture(scope="module")
def each():
    return Robot(builder().build("floating"))


def test_joints_by_name(arm, quadruped):
    q = arm.configuration(elbow=0.3, wrist_1="90deg", wrist_3="-pi/4")
    assert (q == [0.0, 0.0, 0.3, np.pi / 2, 0.0, -np.pi / 4]).all()
    assert (arm.configuration(like=q, elbow=1) == [0.0, 0.0, 1.0, np.pi / 2, 0.0, -np.pi / 4]).all()
    assert (arm.configuration({"elbow": 0.5}, wrist_2=2.0) == [0.0, 0.0, 0.5, 0.0, 2.0, 0.0]).all()
    assert (arm.configuration() == arm.neutral()).all()
    legs = {name: 0.6 for name in quadruped.joint_names if name.endswith("kfe")}
    q = quadruped.configuration(legs, base_position=[0, 0, 1], base_orientation=[0, 0, 1, 0])
    assert (q[:7] == [0, 0, 1, 0, 0, 1, 0]).all() and np.count_nonzero(q[7:] == 0.6) == len(legs) == 4
    turned = kt.rotations.matrix_from_euler([0.3, 0.2, 0.1], "ZYX")
    pose = quadruped.frame(quadruped.frame_names[0]).pose(quadruped.configuration(base_orientation=turned))
    close(pose[:3, :3], turned, 1e-12)


def test_batch_axes_broadcast(arm, quadruped):
    angles = np.linspace(0, 1, 5)
    q = arm.configuration(elbow=angles, wrist_1=0.5)
    assert q.shape == (5, 6) and (q[:, 2] == angles).all() and (q[:, 3] == 0.5).all()
    assert arm.configuration(elbow=[0.25]).shape == (1, 6) and arm.configuration(elbow=np.zeros(0)).shape == (0, 6)
    assert arm.configuration(like=np.ones((4, 1, 6)), elbow=angles).shape == (4, 5, 6)
    assert quadruped.configuration(base_position=np.ones((3, 3))).shape == (3, quadruped.nq)
    with pytest.raises(kt.ArgumentError, match="do not broadcast"):
        arm.configuration(elbow=angles, wrist_1=np.zeros(4))


def test_names_of_coordinates(arm, each):
    assert arm.coordinate_names == arm.velocity_names == arm.joint_names
    assert len(each.coordinate_names) == len(set(each.coordinate_names)) == each.nq
    assert len(each.velocity_names) == len(set(each.velocity_names)) == each.nv
    assert each.coordinate_names[:4] == ("base.x", "base.y", "base.z", "base.qx")
    for k, name in enumerate(each.coordinate_names):
        if not name.split(".")[-1].startswith("q"):
            q = each.configuration({name: 0.5})
            assert q[k] == 0.5 and np.count_nonzero(q != each.neutral()) == 1
    turned = np.array([0.5, 0.5, 0.5, 0.5])
    assert (each.configuration(ball=turned)[each.joint("ball").q_slice] == turned).all()


def test_joint(arm, each):
    elbow = arm.joint("elbow")
    assert (elbow.q_slice, elbow.v_slice, elbow.type) == (slice(2, 3), slice(2, 3), "revolute")
    assert elbow.frame.name == "forearm_link" and elbow.limits.upper == arm.limits.upper[2]
    fixed = [edge for edge in arm.model.edges if edge.joint not in arm.joint_names]
    for edge in fixed:
        joint = arm.joint(edge.joint)
        assert joint.type == "fixed" and joint.frame.name == edge.child and np.zeros(6)[joint.q_slice].size == 0
    v = np.zeros(each.nv)
    for name in each.joint_names:
        joint = each.joint(name)
        v[joint.v_slice] += 1.0
        assert len(joint.limits.lower) == joint.q_slice.stop - joint.q_slice.start
    v[each.joint("floating_base").v_slice] += 1.0
    assert (v == 1.0).all()
    follower = each.joint("follower")
    assert follower.follows == "hinge" and follower.q_slice == each.joint("hinge").q_slice
    with pytest.raises(kt.UnknownNameError, match="did you mean 'elbow'"):
        arm.joint("elbo")


def test_what_is_refused(arm, each):
    for arguments, message in (
        ({"elbo": 0.1}, "did you mean 'elbow'"),
        ({"elbow": "ninety"}, "'30deg' or 'pi/2'"),
        ({"elbow": np.nan}, "finite"),
        ({"elbow": "inf"}, "expected a number"),
        ({"base_position": [0, 0, 1]}, "base_position was given, but 'arm6' has a fixed base"),
        ({"gripper": 0.1}, "there are 'shoulder_pan', 'shoulder_lift', 'elbow', 'wrist_1', 'wrist_2', 'wrist_3'$"),
        ({"like": np.zeros(5)}, r"like has shape \(5,\)"),
    ):
        with pytest.raises(kt.KinetreeError, match=message):
            arm.configuration(**arguments)
    with pytest.raises(kt.ArgumentTypeError, match="expected a dict"):
        arm.configuration(0.3)
    with pytest.raises(kt.ArgumentError, match="follows 'hinge'"):
        each.configuration(follower=0.1)
    with pytest.raises(kt.ArgumentError, match="same coordinate"):
        each.configuration({"base.x": 1.0}, base_position=[0, 0, 1])
    with pytest.raises(kt.ArgumentError, match=r"ball has shape \(3,\)"):
        each.configuration(ball=[0, 0, 1])
    with pytest.raises(kt.ArgumentError, match="expected a unit quaternion"):
        each.configuration(ball=[0, 0, 1, 1])
    with pytest.raises(kt.ArgumentError, match="rotation matrices"):
        each.configuration(base_orientation=np.ones((3, 3)))


def test_normalize(each):
    q = each.random(3, 4)
    off = q.copy()
    for part, factor in zip(each.model.quaternions, (1.00001, 2.0, 0.5), strict=True):
        off[:, part] *= factor
    with pytest.raises(kt.ArgumentError):
        each.mass_matrix(off)
    close(each.normalize(off), q, 1e-15)
    assert (each.normalize(off)[:, :3] == q[:, :3]).all() and off[0, 3] != q[0, 3]
    for value, norm in ((0.0, "0"), (1e200, "inf"), (np.nan, "nan")):
        off[2, each.joint("ball").q_slice] = value
        with pytest.raises(kt.ArgumentError, match=f"joint 'ball' of norm {norm}; expected a finite norm above zero"):
            each.normalize(off)

    @kt.compile
    def law(robot, q):
        return robot.potential_energy(robot.normalize(q))

    assert law(each, q[0]) == pytest.approx(each.potential_energy(q[0]))


def test_random_without_a_generator(arm):
    draws = [arm.random(), arm.random(), arm.random(size=3)]
    assert draws[0].shape == (6,) and draws[2].shape == (3, 6) and (draws[0] != draws[1]).any()
    assert (draws[2] >= arm.limits.lower).all() and (draws[2] <= arm.limits.upper).all()


def test_postures_of_code(arm):
    chain = builder()
    chain.posture("folded", {"slide": 0.25, "cross": (0.1, 0.2), "unknown": 1.0})
    robot = Robot(chain.build())
    q = robot.postures["folded"]
    assert (q[robot.joint("cross").q_slice] == [0.1, 0.2]).all() and q[robot.joint("slide").q_slice] == 0.25
    q[:] = 1.0  # a copy
    assert (robot.postures["folded"] != q).any() and list(robot.postures) == ["folded"] and len(arm.postures) == 0
    renamed = kt.edit.rename(robot, joints={"slide": "rail"})
    assert renamed.postures["folded"][renamed.joint("rail").q_slice] == 0.25
    with pytest.raises(kt.UnknownNameError, match="did you mean 'folded'"):
        robot.postures["fold"]
    with pytest.raises(kt.ModelError, match="posture 'bad'"):
        chain.posture("bad", {"slide": "far"})


def test_postures_of_changed_robots():
    chain = builder()
    chain.posture("here", {"slide": 0.5, "hinge": 0.25, "floating_base": (1, 2, 3, 0, 0, 0, 1), "ball": (1, 0, 0, 0)})
    robot = Robot(chain.build("floating"))
    assert (robot.postures["here"][:7] == [1, 2, 3, 0, 0, 0, 1]).all()
    larger = kt.edit.scale(robot, 2.0)
    assert (larger.postures["here"][:3] == [2, 4, 6]).all() and larger.postures["here"][
        larger.joint("slide").q_slice
    ] == 1
    assert larger.postures["here"][larger.joint("hinge").q_slice] == 0.25
    for same in (kt.edit.merge_fixed(robot), kt.edit.with_options(robot, gravity=(0, 0, 0))):
        assert (same.postures["here"] == robot.postures["here"]).all()
    other = kt.edit.change_base(robot, "slide_link")
    assert (other.postures["here"][:7] == [0, 0, 0, 0, 0, 0, 1]).all()  # of another base nothing is known
    assert other.postures["here"][other.joint("slide").q_slice] == 0.5
    both = kt.edit.graft(robot, Robot(chain.build()), "base", prefix="right/")
    assert (
        both.postures["here"][both.joint("right/slide").q_slice] == both.postures["here"][both.joint("slide").q_slice]
    )
    locked = kt.edit.lock(robot, {"slide": 0.1})
    assert locked.postures["here"][locked.joint("hinge").q_slice] == 0.25
