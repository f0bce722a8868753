"""Robots made from robots: each edit against the same change made by hand, or by Pinocchio.

Covers: model/description.py.
"""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.model.joints import AxisJoint, Planar, Prismatic
from kinetree.model.random import EVERY_JOINT, random_inertia
from one_of_each import KINDS
from peers import close, urdf
from states import state_of

ARMS = ("panda_description/panda.urdf", "ur_description/ur5_robot.urdf", "tiago_description/tiago.urdf")
NOT_FREE = tuple(kind for kind in EVERY_JOINT if kind != "free")


def axis_joints(robot):
    return [joint for joint in robot.model.owners if isinstance(joint, AxisJoint)]


@st.composite
def trees(draw, **options):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    options = {"base": draw(st.sampled_from(["fixed", "floating"])), "joint_dynamics": True, **options}
    model = kt.random_model(rng, draw(st.integers(2, 8)), **options)
    return state_of(kt.Robot(model).eager, rng)


# -- lock ----------------------------------------------------------------------------------------------------------


@given(trees(), st.data())
def test_locked_joints_stay_where_they_are(s, data):
    owners = [joint for joint in s.robot.model.owners if joint is not s.robot.model.floating_base]
    assume(owners)
    locked = data.draw(st.lists(st.sampled_from(owners), min_size=1, unique=True))
    robot = kt.edit.lock(s.robot, {joint.name: s.q[joint.q_slice] for joint in locked})
    keep_q, keep_v = np.ones(s.robot.nq, bool), np.ones(s.robot.nv, bool)
    for joint in locked:
        keep_q[joint.q_slice] = keep_v[joint.v_slice] = False
    v, a = np.where(keep_v, s.v, 0.0), np.where(keep_v, s.a, 0.0)
    close(robot.mass_matrix(s.q[keep_q]), s.robot.mass_matrix(s.q)[np.ix_(keep_v, keep_v)])
    tau = robot.inverse_dynamics(s.q[keep_q], v[keep_v], a[keep_v])
    close(tau, s.robot.inverse_dynamics(s.q, v, a)[keep_v])
    assert robot.frame_names == s.robot.frame_names
    for name in robot.frame_names:
        close(robot.frame(name).pose(s.q[keep_q]), s.robot.frame(name).pose(s.q))
    assert robot.joint_names == tuple(name for name in s.robot.joint_names if name not in {j.name for j in locked})


def test_locked_as_by_pinocchio():
    path = urdf("tiago_description/tiago.urdf")
    robot = kt.load(path)
    rng = np.random.default_rng(0)
    model = pin.buildModelFromUrdf(str(path))
    names = [name for name in robot.joint_names if "arm" in name]
    q = robot.random(rng)
    values = {joint.name: q[joint.iq] for joint in axis_joints(robot) if joint.name in names}
    peer_q = pin.neutral(model)
    for name, value in values.items():
        joint = model.joints[model.getJointId(name)]
        peer_q[joint.idx_q : joint.idx_q + joint.nq] = [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
    reduced = pin.buildReducedModel(model, [model.getJointId(name) for name in names], peer_q)
    small = kt.edit.lock(robot, values)
    assert small.nv == reduced.nv
    assert np.isclose(small.mass, sum(inertia.mass for inertia in list(reduced.inertias)[1:]))
    neutral = small.neutral()
    M = pin.crba(reduced, reduced.createData(), pin.neutral(reduced))
    order = [reduced.joints[reduced.getJointId(name)].idx_v for name in small.joint_names]
    close(small.mass_matrix(neutral), M[np.ix_(order, order)])


def test_by_name_alone_at_neutral_and_followers_with_their_leader():
    panda = kt.load(urdf("panda_description/panda.urdf"))
    hand = kt.edit.lock(panda, {"panda_finger_joint1": 0.03})
    assert hand.nv == 7
    q = panda.neutral()
    q[-1] = 0.03
    for finger in ("panda_leftfinger", "panda_rightfinger"):
        close(hand.frame(finger).pose(q[:7]), panda.frame(finger).pose(q))
    assert kt.edit.lock(panda, "panda_joint1") == kt.edit.lock(panda, {"panda_joint1": 0.0})
    with pytest.raises(kt.ArgumentError, match="'panda_finger_joint2' follows 'panda_finger_joint1'"):
        kt.edit.lock(panda, ["panda_finger_joint2"])
    with pytest.raises(kt.UnknownNameError, match="joint 'panda_joint' does not exist; did you mean"):
        kt.edit.lock(panda, ["panda_joint"])
    with pytest.raises(kt.ArgumentError, match="panda_joint1 is nan; expected finite positions"):
        kt.edit.lock(panda, {"panda_joint1": np.nan})


# -- attach, graft, remove -----------------------------------------------------------------------------------------


@given(trees(), st.integers(0, 99))
def test_a_payload_is_one_more_body_in_every_sum(s, pick):
    name = s.robot.frame_names[pick % len(s.robot.frame_names)]
    load = random_inertia(s.rng)
    loaded = kt.edit.attach(s.robot, name, load, xyz=(0.1, -0.2, 0.3), rpy=(0.3, -0.4, 0.5))
    J = loaded.frame("payload").jacobian(s.q, reference="local")
    close(loaded.mass_matrix(s.q), s.robot.mass_matrix(s.q) + J.T @ load.matrix() @ J)
    T = s.robot.frame(name).pose(s.q) @ kt.Transform.from_pose(_pose((0.1, -0.2, 0.3), (0.3, -0.4, 0.5))).pose()
    close(loaded.frame("payload").pose(s.q), T)


def _pose(xyz, rpy):
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = pin.rpy.rpyToMatrix(*rpy), xyz
    return pose


def test_a_gripper_on_an_arm_as_by_pinocchio():
    arm, hand = kt.load("arm6"), kt.load("planar2")
    both = kt.edit.graft(arm, hand, "tool0", prefix="hand/", xyz=(0, 0, 0.1), rpy=(0, 0.2, 0))
    assert both.joint_names == (*arm.joint_names, *(f"hand/{name}" for name in hand.joint_names))
    a = pin.buildModelFromXML(arm.to_urdf())
    joints, links = ({name: f"hand/{name}" for name in names} for names in (hand.joint_names, hand.frame_names))
    b = pin.buildModelFromXML(kt.edit.rename(hand, joints=joints, links=links).to_urdf())
    at = a.getFrameId("tool0")
    whole = pin.appendModel(a, b, at, pin.SE3(_pose((0, 0, 0.1), (0, 0.2, 0))))
    q = both.random(1)
    peer_q = kt.convert(both, "q", q, to="pinocchio")
    close(both.mass_matrix(q), pin.crba(whole, whole.createData(), peer_q))
    close(both.gravity_forces(q), pin.computeGeneralizedGravity(whole, whole.createData(), peer_q))
    with pytest.raises(kt.ArgumentError, match="both robots have a link 'base_link'; expected a prefix"):
        kt.edit.graft(arm, arm, "tool0")


def test_a_second_arm_keeps_its_mimics_and_sites():
    panda = kt.load(urdf("panda_description/panda.urdf"))
    two = kt.edit.graft(panda, panda, "panda_link0", prefix="right_", xyz=(0, 1, 0))
    assert two.nv == 16
    q = panda.random(2)
    M = two.mass_matrix(np.concatenate([q, q]))
    close(M[:8, :8], panda.mass_matrix(q))
    close(M[8:, 8:], panda.mass_matrix(q))
    assert not M[:8, 8:].any()
    T = two.frame("right_panda_rightfinger").pose(np.concatenate([q, q]))
    close(T, _pose((0, 1, 0), (0, 0, 0)) @ panda.frame("panda_rightfinger").pose(q))


def test_removing_is_the_inverse_of_grafting():
    arm, tool = kt.load("arm6"), kt.load("planar2")
    both = kt.edit.graft(arm, tool, "tool0", prefix="t_")
    assert kt.edit.remove(both, "t_" + tool.frame_names[0]) == arm
    with pytest.raises(kt.ArgumentError, match="link 'base_link' is the root; expected a link below it"):
        kt.edit.remove(arm, "base_link")
    with pytest.raises(kt.UnknownNameError, match="link 'bas_link' does not exist"):
        kt.edit.remove(arm, "bas_link")
    panda = kt.load(urdf("panda_description/panda.urdf"))
    with pytest.raises(kt.ArgumentError, match="'panda_finger_joint2' mimics 'panda_finger_joint1', which would be"):
        kt.edit.remove(panda, "panda_leftfinger")


# -- base ----------------------------------------------------------------------------------------------------------


@given(trees(joints=("revolute", "continuous", "prismatic", "helical", "fixed", "mimic")), st.integers(0, 99))
def test_another_base_sees_the_same_motion(s, pick):
    """Poses relative to each other, and the mass matrix of the joints of a robot that floats freely."""
    robot = kt.edit.with_options(s.robot, base="floating")
    links = [name for name in robot.frame_names if name in robot.model.description.links]
    other = kt.edit.change_base(robot, links[pick % len(links)])
    assert sorted(other.joint_names) == sorted(robot.joint_names)
    q, p = robot.neutral(), other.neutral()
    q[7:] = s.rng.normal(size=robot.nq - 7)
    at = {joint.name: joint.iq for joint in axis_joints(robot)}
    for joint in axis_joints(other):
        p[joint.iq] = q[at[joint.name]]
    for name in robot.frame_names:
        ours = np.linalg.inv(robot.frame(robot.frame_names[0]).pose(q)) @ robot.frame(name).pose(q)
        close(np.linalg.inv(other.frame(robot.frame_names[0]).pose(p)) @ other.frame(name).pose(p), ours)
    if robot.nv > 6:
        ours, theirs = robot.inverse_mass_matrix(q)[6:, 6:], other.inverse_mass_matrix(p)[6:, 6:]
        order = [other.joint_names.index(name) for name in robot.joint_names]
        close(theirs[np.ix_(order, order)], ours, 1e-7)


def test_and_back_again():
    arm = kt.load("arm6")
    there = kt.edit.change_base(arm, "forearm_link")
    assert there.frame_names[0] == "forearm_link"
    back = kt.edit.merge_fixed(kt.edit.change_base(there, "base_link"))
    q = arm.random(3)
    order = [back.joint_names.index(name) for name in arm.joint_names]
    close(back.mass_matrix(q[np.argsort(order)])[np.ix_(order, order)], arm.mass_matrix(q))


def from_the_other_side(robot, other, q):
    """q of a robot as q of the same one on another base: series of joints are joints, balls and free joints inverse."""
    base = other.frame(other.frame_names[0])
    T = robot.frame(base.name).pose(q)
    positions = {"base_position": T[:3, 3], "base_orientation": T[:3, :3]}
    for name, x in zip(robot.coordinate_names, q, strict=True):
        if name.partition(".")[0] not in ("base", "ball", "loose"):
            positions[name if name in other.coordinate_names else name.replace(".", "_")] = x
    x, y, z, w = q[robot.joint("ball").q_slice]
    positions["ball"] = (-x, -y, -z, w)
    pose = q[robot.joint("loose").q_slice]
    R = kt.rotations.matrix_from_quaternion(pose[3:])
    positions["loose"] = np.concatenate([-R.T @ pose[:3], -pose[3:6], pose[6:]])
    return other.configuration(positions)


def test_a_base_behind_every_kind_of_joint():
    chain = kt.ModelBuilder("chain")
    chain.link("base", random_inertia(np.random.default_rng(0)))
    parent = "base"
    for name, (kind, options) in KINDS.items():
        if name != "follower":
            chain.link(f"{name}_link", random_inertia(np.random.default_rng(len(name))))
            chain.joint(name, kind, parent, f"{name}_link", xyz=(0.1, -0.2, 0.3), rpy=(0.3, 1.0, -2.0), **options)
            parent = f"{name}_link"
    robot = kt.Robot(chain.build("floating"), textbook=True)
    other = kt.edit.change_base(robot, parent)
    assert other.nv == robot.nv and other.mass == pytest.approx(robot.mass)
    q, v = robot.random(1), np.random.default_rng(1).normal(size=robot.nv)
    there = from_the_other_side(robot, other, q)
    for link in chain.links:
        close(other.frame(link).pose(there), robot.frame(link).pose(q), 1e-12)
    h = 1e-6
    ends = [from_the_other_side(robot, other, robot.integrate(q, step * v)) for step in (-h, h)]
    energy = other.kinetic_energy(there, other.difference(*ends) / (2 * h))
    close(energy, robot.kinetic_energy(q, v), 1e-7)
    close(other.potential_energy(there), robot.potential_energy(q), 1e-12)


@pytest.mark.parametrize(
    ("kind", "options", "reason"),
    [
        ("free", {"dynamics": kt.JointDynamics(damping=1.0)}, "not the same from both sides"),
        ("free", {"lower": (-1, -1, -1, *[-np.inf] * 4)}, "its limits are not the same"),
        ("spherical", {"dynamics": kt.JointDynamics(damping=(1.0, 2.0, 3.0))}, "not the same from both sides"),
    ],
)
def test_a_base_that_cannot_be_reached(kind, options, reason):
    builder = kt.ModelBuilder("two")
    for name in "ab":
        builder.link(name, kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3)))
    builder.joint("loose", kind, "a", "b", **options)
    match = f"joint 'loose': it is {kind}, and lies between the old base and the new one; .*{reason}"
    with pytest.raises(kt.ModelError, match=match):
        kt.edit.change_base(kt.Robot(builder.build()), "b")


# -- the others ----------------------------------------------------------------------------------------------------


@given(trees())
def test_merging_changes_the_description_but_not_the_dynamics(s):
    merged = kt.edit.merge_fixed(s.robot)
    assert set(merged.frame_names) == set(s.robot.frame_names)
    close(merged.inverse_dynamics(s.q, s.v, s.a), s.robot.inverse_dynamics(s.q, s.v, s.a))
    for name in merged.frame_names:
        close(merged.frame(name).pose(s.q), s.robot.frame(name).pose(s.q))
    kinds = {joint.kind for joint in merged.model.description.joints.values()}
    assert "fixed" not in kinds


@given(trees(base="fixed", joints=NOT_FREE, joint_dynamics=False), st.floats(0.1, 10), st.floats(0.1, 10))
def test_scaled_robots(s, length, mass):
    """q' = D q with D the factor for slides and 1 for angles; M' = m l² D⁻¹ M D⁻¹, G' = m l D⁻¹ G."""
    big = kt.edit.scale(s.robot, length, mass)
    q, D = s.q.copy(), np.ones(s.robot.nv)
    for joint in s.robot.model.owners:
        if isinstance(joint, (Prismatic, Planar)):  # x and y of a plane
            D[joint.iv : joint.iv + 2][: joint.nv] = length
            q[joint.q_slice] *= D[joint.v_slice]
    M, G = s.robot.mass_matrix(s.q), s.robot.gravity_forces(s.q)
    close(big.mass_matrix(q), mass * length**2 * M / np.outer(D, D))
    close(big.gravity_forces(q), mass * length * G / D)
    close(big.frame("tool").pose(q)[:3, 3], length * s.robot.frame("tool").pose(s.q)[:3, 3])
    close(big.limits.velocity, s.robot.limits.velocity * D)
    close(big.limits.effort, s.robot.limits.effort)


def test_scaled_slides_and_the_same_density():
    slide = kt.load("cartpole")
    big = kt.edit.scale(slide, 2.0)
    assert np.isclose(big.mass, 8 * slide.mass)
    close(big.limits.upper[0], 2 * slide.limits.upper[0])
    assert np.array_equal(big.limits.upper[1:], slide.limits.upper[1:])
    for wrong, sentence in [((0.0,), "length is 0; expected a factor above zero"), ((1.0, -2.0), "mass is -2")]:
        with pytest.raises(kt.ArgumentError, match=sentence):
            kt.edit.scale(slide, *wrong)


def test_renamed():
    panda = kt.load(urdf("panda_description/panda.urdf"), keep_fixed=["panda_hand_joint"])
    joints = {"panda_finger_joint1": "left", "panda_hand_joint": "wrist"}
    other = kt.edit.rename(panda, name="frank", links={"panda_hand": "hand"}, joints=joints)
    assert other.name == "frank" and other.joint_names[-1] == "left" and "hand" in other.frame_names
    q = panda.random(0)
    close(other.mass_matrix(q), panda.mass_matrix(q))
    back = {new: old for old, new in joints.items()}
    assert kt.edit.rename(other, name=panda.name, links={"hand": "panda_hand"}, joints=back) == panda
    with pytest.raises(kt.UnknownNameError, match="link 'hnd' does not exist"):
        kt.edit.rename(other, links={"hnd": "x"})
    with pytest.raises(kt.ArgumentError, match="links would give two of them the name 'panda_link1'"):
        kt.edit.rename(panda, links={"panda_hand": "panda_link1"})
    with pytest.raises(kt.ArgumentTypeError, match="joints gives 'left' the name 3; expected a non-empty string"):
        kt.edit.rename(other, joints={"left": 3})


def test_other_options():
    arm = kt.load("arm6")
    floating = kt.edit.with_options(arm, base="floating", gravity=(0, 0, -1.62), base_velocity="mixed")
    assert floating == kt.load("arm6", "floating", gravity=(0, 0, -1.62), base_velocity="mixed")
    assert kt.edit.with_options(floating, base="fixed", gravity=arm.gravity, base_velocity="body") == arm
    with pytest.raises(kt.UnknownNameError, match=r"option 'bas' does not exist; did you mean 'base'\?"):
        kt.edit.with_options(arm, bas="fixed")


def test_the_robot_that_is_edited_stays_as_it_was():
    panda = kt.load(urdf("panda_description/panda.urdf"))
    digest, links = panda.model.digest, list(panda.model.description.links)
    kt.edit.attach(panda, "panda_hand", kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3)))
    kt.edit.change_base(panda, "panda_hand")
    kt.edit.lock(panda, ["panda_joint3"])
    assert panda.model.digest == digest and list(panda.model.description.links) == links
    with pytest.raises(kt.ArgumentTypeError, match=r"robot is 'panda'; expected a kinetree\.Robot"):
        kt.edit.lock("panda", [])


@pytest.mark.parametrize("name", ARMS)
def test_edits_of_edits_compile(name):
    robot = kt.edit.lock(kt.load(urdf(name)), [kt.load(urdf(name)).joint_names[0]])
    robot = kt.edit.attach(robot, robot.frame_names[-1], kt.Inertia.from_com(1.0, (0, 0, 0.1), 0.01 * np.eye(3)))
    q = robot.random(0)
    close(robot.gravity_forces(q), robot.eager.gravity_forces(q))
