"""What is found in files: how much it matters, what is repaired, and what is refused."""

import pickle
import re
import warnings

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt

LINK = (
    '<link name="b"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    "{}</link>"
)
JOINT = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>{}</joint>'
LIMIT = '<limit lower="-1" upper="1" velocity="2" effort="3"/>'


def urdf(inside="", joint=LIMIT, more="", before=""):
    return f'{before}<robot name="r">\n<link name="a"/>\n{LINK.format(inside)}\n{JOINT.format(joint)}\n{more}</robot>'


def shown(geometry, more=""):
    return f"<visual>{more}<geometry>{geometry}</geometry></visual>"


BOX = '<box size="1 1 1"/>'
HARMLESS = {
    "two materials": (
        urdf(shown(BOX, '<material name="x"/><material name="y"/>')),
        "link 'b' (line 3): it has 2 <material> elements; expected one, and the first counts",
    ),
    "scale of one number": (
        urdf(shown('<mesh filename="a.stl" scale="0.001"/>')),
        "<mesh> scale is '0.001'; expected 3 numbers, and it counts for all axes",
    ),
    "scale of words": (
        urdf(shown('<mesh filename="a.stl" scale="a b c"/>')),
        "<mesh> scale is 'a b c'; expected 3 numbers; its <visual> is left out",
    ),
    "two shapes": (urdf(shown(BOX + BOX)), "<geometry> has 2 shapes; expected one, and the first counts"),
    "a negative size": (
        urdf(shown('<sphere radius="-1"/>')),
        "<sphere> radius is '-1'; expected zero or more, and finite; its <visual> is left out",
    ),
    "no size": (urdf(shown("<sphere/>")), "<sphere> has no radius; its <visual> is left out"),
    "no file": (urdf(shown("<mesh/>")), "it has no filename; its <visual> is left out"),
    "a colour of three numbers": (
        urdf(shown(BOX, '<material name="x"><color rgba="1 0 0"/></material>')),
        "<color> rgba is '1 0 0'; expected 4 numbers; its material is left out",
    ),
    "a colour of the robot": (
        urdf(more='<material name="x"><color rgba="red"/></material>'),
        "material 'x' (line 5): <color> rgba is 'red'; expected 4 numbers; it is left out",
    ),
    "limits upside down": (
        urdf(joint=LIMIT.replace('"-1"', '"2"')),
        "lower limit 2 is above upper limit 1; they are exchanged",
    ),
    "limits of words": (
        urdf(joint=LIMIT.replace('"3"', '"strong"')),
        "<limit> effort is 'strong'; expected a number; it counts as unlimited",
    ),
    "two limits": (urdf(joint=LIMIT + LIMIT), "it has 2 <limit> elements; expected one, and the first counts"),
    "safety of words": (
        urdf(joint=LIMIT + '<safety_controller k_velocity="x"/>'),
        "<safety_controller> k_velocity is 'x'; expected a number; its <safety_controller> is left out",
    ),
    "space before the declaration": (
        urdf(before='\n\n<?xml version="1.0"?>\n'),
        "<?xml> (line 1): there is space before it; expected it to come first",
    ),
}


@pytest.mark.parametrize("case", HARMLESS)
def test_faults_without_a_part_in_the_dynamics_are_warnings(case):
    text, sentence = HARMLESS[case]
    robot = kt.load(text)
    found = [finding for finding in robot.check() if sentence in str(finding)]
    assert found and found[0].severity == "warning" and found[0].file == "the given URDF document"
    plain = kt.load(urdf())
    q, v, a = np.array([0.3]), np.array([0.5]), np.array([0.7])
    assert robot.eager.inverse_dynamics(q, v, a) == plain.eager.inverse_dynamics(q, v, a)
    with pytest.raises(kt.ModelError, match="strict=True refuses"):
        kt.load(text, strict=True)


def test_lines_count_from_the_top_of_the_file():
    text = urdf(shown("<sphere/>"), before='\n\n<?xml version="1.0"?>\n')
    lines = text.split("\n")
    (found,) = [finding for finding in kt.load(text).check() if "radius" in finding.message]
    assert "<sphere/>" in lines[found.line - 1]
    with pytest.raises(kt.ModelError, match="line 4: not well-formed"):
        kt.load('\n\n<?xml version="1.0"?>\n<robot><link></robot>')


def test_limits_that_are_exchanged_hold():
    limits = kt.load(HARMLESS["limits upside down"][0]).limits
    assert (limits.lower[0], limits.upper[0]) == (1.0, 2.0)


def test_pinocchio_reads_what_is_repaired():
    """Files that other readers take: in them the dynamics are the same."""
    for case in ("two materials", "two shapes", "limits upside down"):
        text = HARMLESS[case][0]
        model = pin.buildModelFromXML(text)
        M = pin.crba(model, model.createData(), np.array([0.3]))
        assert np.allclose(kt.load(text).eager.mass_matrix(np.array([0.3])), M)


FAULTS = {
    "no mass": (urdf().replace('<mass value="2"/>', ""), "<inertial> has no <mass>", "it has no mass and no inertia"),
    "no ixy": (urdf().replace('ixy="0"', ""), "<inertia> has no ixy", "it counts as 0"),
    "a mass of words": (
        urdf().replace('"2"', '"heavy"', 1),
        "<mass> value is 'heavy'; expected a number",
        "it counts as 0",
    ),
    "a negative mass": (
        urdf().replace('<mass value="2"', '<mass value="-2"'),
        "mass is -2 kg; expected a mass of zero or more",
        "it has no mass and no inertia",
    ),
    "two inertials": (
        urdf('<inertial><mass value="9"/></inertial>'),
        "it has 2 <inertial> elements; expected one",
        "the first counts",
    ),
    "two axes": (urdf(joint='<axis xyz="1 0 0"/>' + LIMIT), "it has 2 <axis> elements; expected one", "the first"),
    "no axis": (
        urdf().replace('xyz="0 0 1"', 'xyz="0 0 0"'),
        "axis is (0, 0, 0); expected a direction",
        "it is taken to be x",
    ),
    "a parent that is not there": (
        urdf().replace('<link name="a"/>', "").replace('link="a"', 'link="world"'),
        "parent link 'world' does not exist",
        "a link without mass of that name is added",
    ),
    "an origin of words": (
        urdf(joint='<origin xyz="here"/>' + LIMIT),
        "<origin> xyz is 'here'; expected 3 numbers",
        "it counts as 0",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_faults_in_the_dynamics_are_refused_or_repaired(case):
    text, sentence, assumed = FAULTS[case]
    with pytest.raises(kt.ModelError, match=re.escape(sentence)) as refused:
        kt.load(text)
    assert refused.value.findings[-1].severity == "error" and sentence in refused.value.findings[-1].message
    robot = kt.load(text, repair=True)
    (found,) = [finding for finding in robot.check() if finding.severity == "error"]
    assert sentence in found.message and assumed in found.message
    assert robot.nv == 1
    with pytest.raises(kt.ModelError, match=re.escape(sentence)):
        kt.load(text, strict=True)


def test_several_faults_are_repaired_at_once():
    text = urdf(joint='<axis xyz="1 0 0"/>').replace('ixy="0"', "").replace('iyz="0"', "")
    errors = [finding for finding in kt.load(text, repair=True).check() if finding.severity == "error"]
    assert len(errors) == 3


def test_repaired_and_strict_exclude_each_other():
    with pytest.raises(kt.ArgumentError, match="repair and strict are both True"):
        kt.load(urdf(), repair=True, strict=True)


def test_a_good_file_is_strict():
    assert kt.load(urdf(), strict=True).check() == ()
    assert kt.load(urdf(more="<gazebo/><gazebo/>"), strict=True).check()[0].count == 2


def test_an_error_keeps_its_findings_in_a_pickle():
    with pytest.raises(kt.ModelError) as refused:
        kt.load(urdf(shown("<sphere/>"), more='<joint name="k" type="odd"/>'))
    kept = pickle.loads(pickle.dumps(refused.value))
    assert [finding.severity for finding in kept.findings] == ["warning", "error"]
    assert str(kept) == str(refused.value)


DROPPED = {
    "<worldbody><body><joint name='j'/><geom size='1'/></body></worldbody>"
    "<tendon><fixed armature='1'><joint joint='j' coef='1'/></fixed></tendon>": "springs, damping, friction or",
    "<worldbody><body><joint name='j' type='free' stiffness='1'/><geom size='1'/></body></worldbody>": "its stiffness",
}


@pytest.mark.parametrize("content", DROPPED, ids=range(len(DROPPED)))
def test_dynamics_that_are_dropped_warn(content):
    text = f"<mujoco>{content}</mujoco>"
    with pytest.warns(kt.ModelWarning, match=DROPPED[content]):
        robot = kt.load(text)
    assert any(DROPPED[content] in finding.message and finding.severity == "warning" for finding in robot.check())
    with pytest.raises(kt.ModelError, match="strict=True"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kt.load(text, strict=True)


def test_what_changes_nothing_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kt.load("<mujoco><worldbody><light/><body><joint/><geom size='1'/></body></worldbody></mujoco>")


def test_mjcf_that_mujoco_reads_and_a_strict_reader_does_not():
    """Unitree's scene of G1 has an attribute without a space before it."""
    text = '<mujoco><worldbody><body name="a"pos="0 0 1"><joint/><geom size="1"/></body></worldbody></mujoco>'
    robot = kt.load(text)
    assert robot.nv == 1
    assert any("it breaks the rules of XML" in str(finding) for finding in robot.check())
    with pytest.raises(kt.ModelError, match="not well-formed XML"):
        kt.load(text.replace("</body>", ""))


def test_a_part_of_a_model_is_called_so():
    with pytest.raises(kt.ModelError, match=r"this is a part of a model \(<mujocoinclude>\)"):
        kt.load("<mujocoinclude><worldbody/></mujocoinclude>")


def test_a_relative_path_with_includes(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "part.xml").write_text(
        "<mujocoinclude><worldbody><body><joint/><geom size='1'/></body></worldbody></mujocoinclude>"
    )
    (tmp_path / "sub" / "scene.xml").write_text("<mujoco><include file='part.xml'/></mujoco>")
    monkeypatch.chdir(tmp_path / "sub")
    assert kt.load("scene.xml").nv == 1


def test_xacro_says_what_is_missing(tmp_path):
    pytest.importorskip("xacro")
    head = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    path = tmp_path / "r.xacro"
    path.write_text(f'{head}<xacro:arg name="size" default="1"/><link name="$(arg side)_link"/></robot>')
    with pytest.raises(kt.ModelError, match=r"give it by xacro_args=\{'side': …\} \(the file declares .*'size'"):
        kt.load(path)
    assert kt.load(path, xacro_args={"side": "left"}).frame_names == ("left_link",)
    path.write_text(f'{head}<xacro:macro name="leg"><link name="x"/></xacro:macro></robot>')
    with pytest.raises(kt.ModelError, match="it has no links, for the file only defines macros"):
        kt.load(path)
    with pytest.raises(kt.ModelError, match=r"this is xacro, .*; if you trust it, give xacro_args=\{\}"):
        kt.load(f'{head}<xacro:property name="a" value="1"/><link name="x"/></robot>')
