"""Named postures from files: group states of SRDF beside Pinocchio's reading, keyframes of MJCF beside MuJoCo's.

Covers: model/loaders/srdf.py, model/loaders/mujoco_keyframes.py.
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
