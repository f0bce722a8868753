"""A catalogue of documents that are no robot: each gives one sentence with the file, the line and the element.

Covers: model/loaders/reading.py.
"""

import re
import time

import pytest

import kinetree as kt
from kinetree.model.loaders import xml
from kinetree.model.loaders.urdf import read_urdf
from peers import urdf

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><mass value="2"/><origin xyz="0 0 0.5"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry></visual></link>
  <link name="tip"/>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="upper"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="30" velocity="4"/></joint>
  <joint name="mount" type="fixed"><parent link="upper"/><child link="tip"/>
    <origin xyz="0 0 1" rpy="0 0 1.57079632679"/></joint>
</robot>"""
LAUGHS = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 10))

DOCUMENTS = {
    # not XML
    "truncated in a tag": ("<robot", "line 1: not well-formed XML (unclosed token)"),
    "truncated between elements": (ARM[:-9], "line 10: not well-formed XML (no element found)"),
    "truncated in an attribute": (ARM[: ARM.index("0.5")], "line 3: not well-formed XML (unclosed token)"),
    "an end without a start": ("<robot/></robot>", "line 1: not well-formed XML"),
    "crossed tags": ("<robot>\n<link>\n</robot></link>", "line 3: not well-formed XML (mismatched tag)"),
    "two root elements": ("<robot/><robot/>", "line 1: not well-formed XML (junk after document element)"),
    "the same attribute twice": ('<robot name="a" name="b"/>', "line 1: not well-formed XML (duplicate attribute)"),
    "an attribute without quotes": ("<robot name=arm/>", "line 1: not well-formed XML"),
    "a bare ampersand": ('<robot name="a&b"/>', "line 1: not well-formed XML"),
    "an entity that nobody declared": ('<robot name="&arm;"/>', "line 1: not well-formed XML (undefined entity)"),
    "a control character": ('<robot name="\x01"/>', "line 1: not well-formed XML (not well-formed (invalid token))"),
    # what XML can do, and no robot needs
    "a bomb of entities": (
        f'<!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}]><robot name="&l9;"/>',
        "line 1: there is a document type declaration",
    ),
    "a bomb of one large entity": (
        f'<!DOCTYPE r [<!ENTITY a "{"x" * 10**5}">]><robot name="{"&a;" * 10**5}"/>',
        "line 1: there is a document type declaration",
    ),
    "an external entity": (
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="a">&x;</robot>',
        "line 1: there is a document type declaration",
    ),
    "an external document type": (
        '<!DOCTYPE robot SYSTEM "http://localhost:1/robot.dtd"><robot name="&x;"/>',
        "line 1: there is a document type declaration",
    ),
    "a parameter entity": (
        '<!DOCTYPE r [<!ENTITY % x SYSTEM "file:///dev/zero"> %x;]><robot/>',
        "line 1: there is a document type declaration",
    ),
    "defaults for attributes": (
        '<!DOCTYPE robot [<!ATTLIST link name CDATA "a">]><robot><link/></robot>',
        "line 1: there is a document type declaration",
    ),
    "100 000 levels": ("<robot>" + "<link>" * 100_000, "line 1: the elements are nested more than 200 deep"),
    "a million elements": ("<robot>" + "<link/>" * 1_000_000, "line 1: there are more than 300000 elements"),
    "a number of a million digits": (
        f'<robot><link name="a"><inertial><mass value="{"9" * 10**6}"/></inertial></link></robot>',
        "line 1: link 'a': mass inf or inertia is not finite",
    ),
    "a million numbers": (
        f'<robot><link name="a"><inertial><mass value="1"/><origin xyz="{"0 " * 10**6}"/></inertial></link></robot>',
        "line 1: link 'a': <origin> xyz is '0 0 0 0 0",
    ),
    "a name of a million characters": (
        f'<robot><link name="{"a" * 10**6}"/><link name="{"a" * 10**6}"/></robot>',
        "line 1: link 'aaaaaaaaaaaa",
    ),
    # other kinds of files
    "an empty element": ("<a/>", "line 1: <a>: the root element is not <robot>"),
    "only a comment": ("<!-- robot -->", "line 1: not well-formed XML (no element found)"),
    "SDF": ('<?xml version="1.0"?>\n<sdf version="1.9"><model/></sdf>', "robot: it has no links"),
    "HTML": ("<!DOCTYPE html>\n<html><br></html>", "line 1: this is a page of HTML; expected URDF"),
    "HTML without a type": ("<html><head><meta></head></html>", "line 1: this is a page of HTML; expected URDF"),
    "HTML in small letters": ("<!doctype html>\n<html lang=en>", "line 1: this is a page of HTML; expected URDF"),
    "a mesh": ("<COLLADA version='1.4.1'/>", "line 1: this is a mesh; expected URDF"),
    "a launch file": ("<launch/>", "line 1: this is a launch file; expected URDF"),
    "a manifest": ("<package><name>arm</name></package>", "line 1: this is a package's manifest; expected URDF"),
    "xacro": (
        '<robot>\n<xacro:macro name="m"/></robot>',
        "line 2: <xacro:macro>: this is xacro, a program to be expanded first; if you trust it, give xacro_args={}",
    ),
    "xacro inside of a link": (
        '<robot><link name="a">\n<xacro:box/></link></robot>',
        "line 2: <xacro:box>: this is xacro, a program to be expanded first",
    ),
    "xacro in a value": (
        '<robot xmlns:xacro="x"><link name="a"><inertial>\n<mass value="${m}"/></inertial></link></robot>',
        "line 2: link 'a': <mass> value is '${m}'; expected a number",
    ),
    # no tree
    "nothing": ('<robot name="r"/>', "robot: it has no links"),
    "joints alone": (
        "<robot><joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint></robot>",
        "line 1: joint 'j': parent link 'a' does not exist; there are none",
    ),
    "two roots": ("<robot><link name='a'/><link name='b'/></robot>", "robot: it has 2 root links, 'a' and 'b'"),
    "two links of one name": (
        "<robot><link name='a'/>\n<link name='a'/></robot>",
        "line 2: link 'a': the name is taken by another link",
    ),
    "a circle without a root": (
        "<robot><link name='a'/><link name='b'/>"
        "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>"
        "<joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint></robot>",
        "link 'a': it is part of a closed loop of joints; expected a tree",
    ),
    "a circle beside the root": (
        "<robot><link name='r'/><link name='a'/><link name='b'/>"
        "<joint name='j' type='fixed'><parent link='a'/><child link='b'/></joint>"
        "<joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint></robot>",
        "link 'a': it is part of a closed loop of joints; expected a tree",
    ),
    "a joint from a link to itself": (
        "<robot><link name='a'/><joint name='j' type='fixed'><parent link='a'/><child link='a'/></joint></robot>",
        "link 'a': it is part of a closed loop of joints; expected a tree",
    ),
}

CHANGES = {
    # links
    "a link without a name": ('<link name="tip"/>', "<link/>", "line 6: link: it has no name"),
    "a link with an empty name": ('<link name="tip"/>', '<link name=""/>', "line 6: link: it has no name"),
    "negative mass": (
        'mass value="2"',
        'mass value="-2"',
        "line 3: link 'upper': mass is -2 kg; expected a mass of ze",
    ),
    "infinite mass": ('mass value="2"', 'mass value="inf"', "line 3: link 'upper': mass inf or inertia is not finite"),
    "mass in words": (
        'mass value="2"',
        'mass value="two"',
        "line 3: link 'upper': <mass> value is 'two'; expected a num",
    ),
    "mass with a unit": ('mass value="2"', 'mass value="2 kg"', "<mass> value is '2 kg'; expected a number"),
    "mass without a value": ('mass value="2"', "mass", "line 3: link 'upper': <mass> has no value"),
    "mass that is NaN": ('mass value="2"', 'mass value="nan"', "<mass> value is 'nan'; expected a number"),
    "no mass": ('<mass value="2"/>', "", "line 3: link 'upper': <inertial> has no <mass>"),
    "two masses": ('<mass value="2"/>', '<mass value="2"/><mass value="2"/>', "it has 2 <mass> elements; expected one"),
    "two inertials": (
        "<visual>",
        "<inertial/><visual>",
        "line 5: link 'upper': it has 2 <inertial> elements; expected",
    ),
    "a moment that is missing": ('ixx="0.1"', "", "line 4: link 'upper': <inertia> has no ixx"),
    "an infinite moment": ('ixx="0.1"', 'ixx="1e999"', "line 3: link 'upper': mass 2.0 or inertia is not finite"),
    "a mass too far away": ('xyz="0 0 0.5"', 'xyz="0 0 1e200"', "link 'upper': mass 2.0 or inertia is not finite"),
    "a centre of mass at infinity": (
        'xyz="0 0 0.5"',
        'xyz="0 0 -inf"',
        "line 3: link 'upper': <inertial> has an <origin> that is not finite",
    ),
    # shapes
    "a box without a size": ('<box size="1 2 3"/>', "<box/>", "line 5: link 'upper': <box> has no size"),
    "a box of two numbers": (
        'size="1 2 3"',
        'size="1 2"',
        "line 5: link 'upper': <box> size is '1 2'; expected 3 numbers",
    ),
    "a negative box": ('size="1 2 3"', 'size="1 2 -3"', "<box> size is '1 2 -3'; expected zero or more, and finite"),
    "an infinite sphere": (
        '<box size="1 2 3"/>',
        '<sphere radius="inf"/>',
        "<sphere> radius is 'inf'; expected zero or",
    ),
    "a sphere without a radius": ('<box size="1 2 3"/>', "<sphere/>", "line 5: link 'upper': <sphere> has no radius"),
    "a cylinder without a length": ('<box size="1 2 3"/>', '<cylinder radius="1"/>', "<cylinder> has no length"),
    "two shapes in one": ('<box size="1 2 3"/>', '<box size="1 2 3"/><sphere radius="1"/>', "<geometry> has 2 shapes"),
    "two geometries": ("<geometry>", "<geometry/><geometry>", "line 5: link 'upper': it has 2 <geometry> elements"),
    "a mesh without a file": ('<box size="1 2 3"/>', "<mesh/>", "line 5: link 'upper', <mesh>: it has no filename"),
    "a mesh with one scale": (
        '<box size="1 2 3"/>',
        '<mesh filename="a" scale="2"/>',
        "<mesh> scale is '2'; expected 3",
    ),
    "a shape that is NaN away": ('xyz="0 0 1"/><geom', 'xyz="0 0 nan"/><geom', "<origin> xyz is '0 0 nan'; expected 3"),
    "a shape at infinity": (
        'xyz="0 0 1"/><geom',
        'xyz="0 0 inf"/><geom',
        "<visual> has an <origin> that is not finite",
    ),
    "a colour of three numbers": (
        "</geometry>",
        '</geometry><material name="m"><color rgba="1 1 1"/></material>',
        "line 5: link 'upper': <color> rgba is '1 1 1'; expected 4 numbers",
    ),
    "a colour without numbers": ("</geometry>", "</geometry><material><color/></material>", "<color> has no rgba"),
    "a material without a name": ('<link name="tip"/>', '<link name="tip"/><material/>', "material: it has no name"),
    # joints
    "a joint without a name": ('<joint name="mount"', "<joint", "line 9: joint: it has no name"),
    "two joints of one name": (
        'name="mount"',
        'name="hinge"',
        "line 9: joint 'hinge': the name is taken by another joint",
    ),
    "a joint without a type": (' type="revolute"', "", "line 7: joint 'hinge': it has no type"),
    "an unknown type": ('"revolute"', '"hinge"', "line 7: joint 'hinge': type is 'hinge'; expected one of 'revolute'"),
    "a type in capitals": ('"revolute"', '"Revolute"', "line 7: joint 'hinge': type is 'Revolute'; expected one of"),
    "no parent": ('<parent link="base"/>', "", "line 7: joint 'hinge': it has no <parent>"),
    "no child": ('<child link="tip"/>', "", "line 9: joint 'mount': it has no <child>"),
    "a parent without a link": (
        '<parent link="base"/>',
        "<parent/>",
        "line 7: joint 'hinge', <parent>: it has no link",
    ),
    "two parents": ('<parent link="base"/>', '<parent link="base"/><parent link="tip"/>', "it has 2 <parent> elements"),
    "an unknown parent": (
        '"base"/><c',
        '"bse"/><c',
        "joint 'hinge': parent link 'bse' does not exist; did you mean 'base'?",
    ),
    "an unknown child": (
        'child link="tip"',
        'child link="tap"',
        "line 9: joint 'mount': child link 'tap' does not exist",
    ),
    "a link with two joints above": (
        'child link="tip"',
        'child link="upper"',
        "line 9: joint 'mount': link 'upper' is already the child of joint 'hinge'",
    ),
    "a loop": ('parent link="base"', 'parent link="tip"', "link 'upper': it is part of a closed loop of joints"),
    "no axis": ('xyz="0 1 0"', 'xyz="0 0 0"', "line 7: joint 'hinge': axis is (0, 0, 0); expected a direction"),
    "an axis too short": ('xyz="0 1 0"', 'xyz="0 1e-300 0"', "joint 'hinge': axis is (0, 0, 0); expected a direction"),
    "an axis of two numbers": (
        'xyz="0 1 0"',
        'xyz="0 1"',
        "line 8: joint 'hinge': <axis> xyz is '0 1'; expected 3 numbers",
    ),
    "an axis of four numbers": ('xyz="0 1 0"', 'xyz="0 1 0 0"', "<axis> xyz is '0 1 0 0'; expected 3 numbers"),
    "an axis in words": ('xyz="0 1 0"', 'xyz="0 one 0"', "<axis> xyz is '0 one 0'; expected 3 numbers"),
    "an infinite axis": (
        'xyz="0 1 0"',
        'xyz="0 inf 0"',
        "joint 'hinge': axis is (0.0, inf, 0.0); expected three finite",
    ),
    "commas between numbers": (
        'xyz="0 0 1" rpy',
        'xyz="0,0,1" rpy',
        "joint 'mount': <origin> xyz is '0,0,1'; expected 3",
    ),
    "commas in numbers": ('xyz="0 0 1" rpy', 'xyz="0 0 1,5" rpy', "<origin> xyz is '0 0 1,5'; expected 3 numbers"),
    "hexadecimal numbers": ('xyz="0 0 1" rpy', 'xyz="0 0 0x1F" rpy', "<origin> xyz is '0 0 0x1F'; expected 3 numbers"),
    "underscores in numbers": ('xyz="0 0 1" rpy', 'xyz="0 0 1_0" rpy', "<origin> xyz is '0 0 1_0'; expected 3 numbers"),
    "digits of another script": ('xyz="0 0 1" rpy', 'xyz="0 0 ١" rpy', "<origin> xyz is '0 0 ١'; expected 3 numbers"),
    "no numbers": ('xyz="0 0 1" rpy', 'xyz="" rpy', "line 10: joint 'mount': <origin> xyz is ''; expected 3 numbers"),
    "an origin that is NaN": (
        'xyz="0 0 1" rpy',
        'xyz="0 0 nan" rpy',
        "line 10: joint 'mount': <origin> xyz is '0 0 nan'",
    ),
    "an infinite origin": (
        'xyz="0 0 1" rpy',
        'xyz="0 0 inf" rpy',
        "joint 'mount': xyz is (0.0, 0.0, inf); expected three",
    ),
    "an infinite angle": (
        "1.57079632679",
        "-inf",
        "line 9: joint 'mount': rpy is (0.0, 0.0, -inf); expected three finite",
    ),
    "swapped limits": ('lower="-1"', 'lower="3"', "line 8: joint 'hinge': lower limit 3 is above upper limit 2"),
    "a limit that is NaN": (
        'lower="-1"',
        'lower="nan"',
        "line 8: joint 'hinge': <limit> lower is 'nan'; expected a number",
    ),
    "limits without a place between": ('lower="-1" upper="2"', 'lower="inf" upper="inf"', "leave it no position"),
    "an effort in words": (
        'effort="30"',
        'effort="30Nm"',
        "line 8: joint 'hinge': <limit> effort is '30Nm'; expected a",
    ),
    "two limits": ("<limit", "<limit/><limit", "line 8: joint 'hinge': it has 2 <limit> elements; expected one"),
    "negative damping": (
        "<limit",
        '<dynamics damping="-1"/><limit',
        "line 8: joint 'hinge', <dynamics>: damping is -1; exp",
    ),
    "infinite friction": (
        "<limit",
        '<dynamics friction="inf"/><limit',
        "<dynamics>: friction is inf; expected zero or more",
    ),
    "soft limits in words": (
        "<limit",
        '<safety_controller k_velocity="k"/><limit',
        "<safety_controller> k_velocity is 'k'",
    ),
    "a mimic without a joint": ("<limit", "<mimic/><limit", "line 8: joint 'hinge', <mimic>: it has no joint"),
    "a mimic of itself": (
        "<limit",
        '<mimic joint="hinge"/><limit',
        "line 7: joint 'hinge': it mimics 'hinge' in a circle",
    ),
    "an infinite mimic": (
        "<limit",
        '<mimic joint="mount" multiplier="inf"/><limit',
        "line 7: joint 'hinge': the mimic multiplier or offset is not finite",
    ),
    "links that are too heavy together": (
        '<mass value="2"/><origin xyz="0 0 0.5"/>',
        '<mass value="1e308"/></inertial></link><link name="more"><inertial><mass value="1e308"/>',
        "robot: it has 2 root links, 'base' and 'more'",
    ),
}


def sentence(document, tmp_path):
    """The error of loading it from a file, or its first warning: one sentence, with the name of the file."""
    file = tmp_path / "broken.urdf"
    file.write_text(document, encoding="utf-8")
    with pytest.raises(kt.ModelError) as caught:
        kt.load(file, strict=True)
    said = str(caught.value)
    assert said.startswith(str(file))
    assert "\n" not in said and len(said) < 2000
    return said.removeprefix(str(file))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_broken_documents(name, tmp_path):
    document, expected = DOCUMENTS[name]
    start = time.process_time()
    assert expected in sentence(document, tmp_path)
    assert time.process_time() - start < 5.0


@pytest.mark.parametrize("name", CHANGES)
def test_broken_elements(name, tmp_path):
    old, new, expected = CHANGES[name]
    assert ARM.count(old), "the change changes something"
    assert expected in sentence(ARM.replace(old, new, 1), tmp_path)


def test_the_catalogue_is_long_and_the_arm_is_a_robot():
    assert len(DOCUMENTS) + len(CHANGES) > 100
    assert kt.load(ARM).joint_names == ("hinge",)


def test_errors_say_their_line():
    """Of the element that is wrong; where the tree as a whole is, there is no such line."""
    for name, (old, new, expected) in CHANGES.items():
        with pytest.raises(kt.ModelError) as caught:
            kt.load(ARM.replace(old, new, 1), strict=True)
        assert re.search(r"line \d+: ", str(caught.value)) or "root links" in expected or "loop" in expected, name


def test_mjcf_is_called_so():
    with pytest.raises(kt.ModelError, match="line 1: this is an MJCF file; expected URDF"):
        read_urdf('<mujoco model="arm"/>', "arm.xml")


def test_the_empty_robot_of_the_data_set():
    with pytest.raises(kt.ModelError, match=r"ur3\.urdf: robot: it has no links"):
        kt.load(urdf("ur_description/ur3.urdf"))


# -- mimics ---------------------------------------------------------------------------------------------------------


def chain(count, mimics):
    """Links in a row, with joints that mimic each other."""
    links = "".join(f'<link name="l{k}"/>' for k in range(count + 1))
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/>{mimics.get(k, "")}</joint>'
        for k in range(count)
    )
    return f"<robot>{links}{joints}</robot>"


def mimic(leader, **numbers):
    return f'<mimic joint="j{leader}" {" ".join(f"{key}={value!r}" for key, value in numbers.items())}/>'


def test_circles_of_mimics(tmp_path):
    circle = {k: mimic((k + 1) % 3) for k in range(3)}
    assert "joint 'j0': it mimics 'j1' in a circle" in sentence(chain(3, circle), tmp_path)
    assert "joint 'j0': it mimics 'j1' in a circle" in sentence(chain(3, {0: mimic(1), 1: mimic(1)}), tmp_path)


def test_a_chain_of_mimics_that_grows_beyond_all_bounds(tmp_path):
    growing = {k: mimic(k + 1, multiplier="1e200") for k in range(2)}
    said = sentence(chain(3, growing), tmp_path)
    assert "line 1: joint 'j0': its multiplier or offset from 'j2' is not finite" in said


@pytest.mark.long
def test_a_long_chain_of_mimics_takes_time_in_proportion():
    count = 30_000
    start = time.process_time()
    robot = kt.load(chain(count, {k: mimic(k + 1) for k in range(count - 1)}))
    assert robot.joint_names == (f"j{count - 1}",)
    assert time.process_time() - start < 30.0


def test_many_odd_things_take_time_in_proportion():
    builder = kt.ModelBuilder()
    start = time.process_time()
    for k in range(30_000):
        builder.note("robot", f"remark {k}")
    assert len(builder.findings) == 30_000
    assert time.process_time() - start < 5.0


def test_sums_that_are_too_large(tmp_path):
    heavy = '<inertial><mass value="1e308"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    text = ARM.replace('<link name="tip"/>', f'<link name="tip">{heavy}</link>').replace('value="2"', 'value="1e308"')
    assert "link 'upper': its inertia with all that is fixed to it is not finite" in sentence(text, tmp_path)
    joint = '<joint name="{0}" type="fixed"><parent link="{1}"/><child link="{0}"/><origin xyz="1e308 0 0"/></joint>'
    links = "".join(f'<link name="{name}"/>' for name in "abc")
    text = f"<robot>{links}{joint.format('b', 'a')}{joint.format('c', 'b')}</robot>"
    assert "link 'c': its distance from what it is fixed to is not finite" in sentence(text, tmp_path)


def test_bounds_of_the_parser_are_above_every_real_file():
    assert 10 * urdf("tiago_dual.urdf").stat().st_size < xml.MOST_BYTES
