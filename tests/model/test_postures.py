"""Named postures from files: group states of SRDF beside Pinocchio's reading, keyframes of MJCF beside MuJoCo's.

Covers: model/loaders/srdf.py, model/loaders/mujoco_keyframes.py, model/semantics.py.
"""

import pinocchio as pin
import pytest

import kinetree as kt
from peers import close, urdf

URDF = """<robot name="two"><link name="base"/><link name="a"/><link name="b"/>
<joint name="one" type="continuous"><parent link="base"/><child link="a"/></joint>
<joint name="other" type="prismatic"><parent link="a"/><child link="b"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>"""
SRDF = """<robot name="two"><group name="all"/>
<group_state name="home" group="x"><joint name="one" value="0.5"/></group_state>
<group_state name="home" group="y"><joint name="other" value="-0.25"/></group_state>
<group_state name="odd"><joint name="one" value="1 2"/><joint name="three" value="1"/></group_state></robot>"""


def test_beside_the_urdf_as_pinocchio_reads_it():
    path = urdf("anymal_b_simple_description/anymal.urdf")
    robot = kt.load(path, "floating")
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    pin.loadReferenceConfigurations(model, str(path.parents[1] / "srdf" / "anymal.srdf"), False)
    theirs = {entry.key(): entry.data() for entry in model.referenceConfigurations}
    assert set(robot.postures) == set(theirs) and theirs
    for name, q in theirs.items():
        close(kt.convert(robot, "q", robot.postures[name], to="pinocchio"), q, 1e-12)
    fixed = kt.load(path)  # the pose of the base is left out
    close(fixed.postures["standing"], robot.postures["standing"][7:], 1e-15)


def test_given_or_found(tmp_path):
    robot = kt.load(URDF, srdf=SRDF)
    assert (robot.postures["home"] == [0.5, -0.25]).all() and (robot.postures["odd"] == 0.0).all()
    notes = " ".join(map(str, robot.check()))
    assert "no joint 'three'" in notes and "2 numbers for a continuous joint" in notes
    (tmp_path / "two.urdf").write_text(URDF)
    (tmp_path / "srdf").mkdir()
    (tmp_path / "srdf" / "states.srdf").write_text(SRDF)
    (tmp_path / "foreign.srdf").write_text(SRDF.replace('"two"', '"three"'))
    (tmp_path / "broken.srdf").write_text("<robot")
    found = kt.load(tmp_path / "two.urdf")
    assert (found.postures["home"] == [0.5, -0.25]).all()
    assert any("broken.srdf" in str(finding) for finding in found.check())
    assert len(kt.load(tmp_path / "two.urdf", srdf="<robot name='two'/>").postures) == 0
    assert (kt.load(tmp_path / "two.urdf", srdf=tmp_path / "foreign.srdf").postures["home"] == [0.5, -0.25]).all()


@pytest.mark.parametrize(
    ("srdf", "message"),
    [
        (SRDF.replace('"0.5"', '"half"'), "line 2: group state 'home', joint 'one': value is 'half'"),
        (SRDF.replace('"0.5"', '"nan"'), "expected finite numbers"),
        (SRDF.replace(' name="home" group="x"', ""), "a <group_state> has no name"),
        ("<states/>", "the root element is <states>"),
        ("<robot", "not well-formed"),
        ("nowhere.srdf", "does not exist"),
    ],
)
def test_what_is_refused(srdf, message):
    with pytest.raises(kt.ModelError, match=message):
        kt.load(URDF, srdf=srdf)


def test_keyframes():
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><worldbody><body name="trunk"><freejoint name="root"/><geom size="0.1"/>
    <body name="arm" pos="0.3 0 0"><joint name="hinge" axis="0 1 0" ref="0.2"/><geom size="0.1"/>
    <body name="hand" pos="0.3 0 0"><joint name="ball" type="ball"/><geom size="0.1" pos="0.1 0 0"/></body></body>
    </body></worldbody><keyframe><key name="home" qpos="1 2 3 0 1 0 0 0.7 0.5 0.5 0.5 0.5"/>
    <key qpos="0 0 1 1 0 0 0 0 1 0 0 0"/></keyframe></mujoco>"""
    robot, fixed = kt.load(text, "floating"), kt.load(text)
    assert list(robot.postures) == ["home", "keyframe1"]
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    for key, name in enumerate(robot.postures):
        mujoco.mj_resetDataKeyframe(model, data, key)
        mujoco.mj_forward(model, data)
        for each in (robot, fixed):
            pose = each.frame("hand").pose(each.postures[name])
            close(pose[:3, 3], data.body("hand").xpos, 1e-12)
            close(pose[:3, :3], data.body("hand").xmat.reshape(3, 3), 1e-12)
    assert not any("key" in str(finding) for finding in robot.check())


ARM = """<robot name="arm"><link name="base"/>{}</robot>"""
PART = """<link name="l{k}"/><joint name="j{k}" type="{kind}"><parent link="{on}"/><child link="l{k}"/>
  <limit lower="-1" upper="1" velocity="1" effort="1"/></joint>"""
LINKS = [
    ("revolute", "base"),
    ("revolute", "l0"),
    ("fixed", "l1"),
    ("revolute", "l2"),
    ("prismatic", "l2"),
    ("revolute", "base"),
]
PLANNED = """<robot name="arm">
  <group name="arm"><chain base_link="base" tip_link="l2"/></group>
  <group name="hand"><link name="l3"/><joint name="j4"/><joint name="nope"/><link name="base"/></group>
  <group name="all"><group name="arm"/><group name="hand"/><group name="all"/></group>
  <group name="both"><chain base_link="l5" tip_link="l1"/></group>
  <group name="round"><group name="circle"/></group><group name="circle"><group name="round"/><joint name="j0"/></group>
  <end_effector name="gripper" parent_link="l2" group="hand" parent_group="arm"/>
  <virtual_joint name="world" type="floating" parent_frame="map" child_link="base"/>
  <disable_collisions link1="l3" link2="l0" reason="Never"/><disable_collisions link1="l0" link2="l3"/>
  <disable_collisions link1="l0" link2="gone"/><passive_joint name="j1"/><passive_joint name="j0"/>
</robot>"""


def arm(**options):
    parts = "".join(PART.format(k=k, kind=kind, on=on) for k, (kind, on) in enumerate(LINKS))
    return kt.load(ARM.format(parts), srdf=PLANNED, **options)


def test_groups_end_effectors_and_collisions():
    robot = arm()
    assert dict(robot.groups) == {
        "arm": ("j0", "j1"), "hand": ("j3", "j4"), "all": ("j0", "j1", "j3", "j4"), "both": ("j0", "j1", "j5"),
        "round": ("j0",), "circle": ("j0",),
    }  # fmt: skip
    assert robot.end_effectors["gripper"].link == "l2"
    assert robot.end_effectors["gripper"].group == "hand"
    assert robot.end_effectors["gripper"].parent_group == "arm"
    assert robot.disabled_collisions == (("l0", "l3"),)
    notes = " ".join(map(str, robot.check()))
    assert "<joint> 'nope' is no part of the robot" in notes
    assert "the base is 'floating', by joint 'world'; here base='floating' decides that" in notes
    assert "SRDF, <passive_joint>: 2 elements were ignored" in notes
    assert "by joint 'world'" not in " ".join(map(str, arm(base="floating").check()))


def test_they_stay_when_a_robot_is_edited():
    robot = arm()
    locked = kt.edit.lock(robot, {"j1": 0.3})
    assert locked.groups["arm"] == ("j0",)
    assert locked.disabled_collisions == robot.disabled_collisions
    two = kt.edit.graft(robot, robot, "l4", prefix="left_")
    assert two.groups["left_hand"] == ("left_j3", "left_j4")
    assert two.groups["hand"] == ("j3", "j4")
    assert two.end_effectors["left_gripper"].parent_group == "left_arm"
    assert ("left_l0", "left_l3") in two.disabled_collisions
    assert kt.edit.merge_fixed(robot).groups["arm"] == ("j0", "j1")
    assert kt.Robot(kt.random_model(0, 3)).groups == {}


def test_srdf_of_real_robots_as_pinocchio_reads_it():
    path = urdf("anymal_b_simple_description/anymal.urdf")
    robot = kt.load(path, "floating")
    model = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    everything = pin.buildGeomFromUrdf(
        model, str(path), pin.GeometryType.COLLISION, package_dirs=[str(path.parents[3])]
    )
    everything.addAllCollisionPairs()
    before = len(everything.collisionPairs)
    pin.removeCollisionPairs(model, everything, str(path.parents[1] / "srdf" / "anymal.srdf"))
    links = [model.frames[each.parentFrame].name for each in everything.geometryObjects]
    left = {tuple(sorted((links[p.first], links[p.second]))) for p in everything.collisionPairs}
    assert len(everything.collisionPairs) < before
    assert left.isdisjoint(robot.disabled_collisions)
    assert robot.groups


def test_groups_that_have_too_many_in_them():
    inside = "".join(f"<group name='g{k}'/>" for k in range(120))
    srdf = "".join(f"<group name='g{k}'>{inside}</group>" for k in range(120))
    with pytest.raises(kt.ModelError, match="its groups have more than 1000000 joints"):
        kt.load(URDF, srdf=f"<robot name='two'>{srdf}</robot>")
