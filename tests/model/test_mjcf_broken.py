"""MJCF that is not a robot: one sentence each, with the file and the line, in bounded time and memory."""

import re
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.model.loaders import mujoco_compiler

HINGE = "<body name='b'>\n<joint name='j'/>{}</body>"
BROKEN = {
    "unclosed": ("<mujoco", "line 1: not well-formed XML"),
    "mismatched": ("<mujoco>\n<worldbody></mujoco>", "line 2: not well-formed XML"),
    "include alone": (
        "<mujocoinclude/>",
        r"this is a part of a model \(<mujocoinclude>\); expected the file that includes it",
    ),
    "unknown element": ("<mujoco>\n<wordbody/></mujoco>", "line 2: 'wordbody': .*unrecognized element"),
    "unknown attribute": ("<mujoco><worldbody>\n<body nme='a'/></worldbody></mujoco>", "line 2: 'body': .*'nme'"),
    "no mass": (HINGE.format(""), "line 1: 'b': .*mass and inertia of moving bodies must be larger"),
    "negative mass": (
        HINGE.format("<inertial pos='0 0 0' mass='-1' diaginertia='1 1 1'/>"),
        "'b': MuJoCo refuses it: mass and inertia",
    ),
    "indefinite inertia": (
        HINGE.format("<inertial pos='0 0 0' mass='1' fullinertia='1 1 1 2 0 0'/>"),
        "MuJoCo refuses it: .*inertia must have positive",
    ),
    "triangle inequality": (
        HINGE.format("<inertial pos='0 0 0' mass='1' diaginertia='1 1 3'/>"),
        r"'b': MuJoCo refuses it: inertia must satisfy A \+ B >= C",
    ),
    "NaN": (HINGE.format("<inertial pos='nan 0 0' mass='1' diaginertia='1 1 1'/>"), "line 2: <inertial> pos is 'nan 0"),
    "zero axis": ("<body>\n<joint name='j' axis='0 0 0'/><geom size='1'/></body>", "line 2: 'j': .*axis too small"),
    "zero quaternion": ("<body quat='0 0 0 0'/>", "zero quaternion is not allowed"),
    "words for numbers": ("<body pos='a b c'/>", "bad format in attribute 'pos'"),
    "too few numbers": ("<body pos='1 2'/>", "'pos' does not have enough data"),
    "too large a number": ("<body pos='1e400 0 0'/>", "number is too large in attribute 'pos'"),
    "two names": ("<body name='a'/>\n<body name='a'/>", "repeated name 'a'"),
    "a second world": ("<body name='world'/>", "repeated name 'world'"),
    "nested free joint": (
        "<body><body name='c'><freejoint/><geom size='1'/></body></body>",
        "'c': .*only .* top level",
    ),
    "a ball and a hinge": ("<body><joint type='ball'/><joint/><geom size='1'/></body>", "ball followed by rotation"),
    "empty range": (HINGE.replace("'j'", "'j' limited='true' range='1 1'").format("<geom size='1'/>"), "range"),
    "mimic of nothing": ("</worldbody><equality><joint joint1='x'/></equality><worldbody>", "unknown element 'x'"),
    "motor of nothing": ("</worldbody><actuator><motor joint='x'/></actuator><worldbody>", "'x'"),
    "missing include": ("<include file='no.xml'/>", "opening file .*no.xml"),
    "missing mesh": ("</worldbody><asset><mesh file='no.stl'/></asset><worldbody>", "opening file .*no.stl"),
    "negative damping": (
        HINGE.replace("'j'", "'j' damping='-1'").format("<geom size='1'/>"),
        "joint 'j': damping is -1; expected zero or more",
    ),
    "unknown class": ("<body childclass='x'/>", "unknown default childclass|'x'"),
    "unknown plugin": ("</worldbody><extension><plugin plugin='x'/></extension><worldbody>", "plugin x not found"),
    "an entity": (
        "<!DOCTYPE m [<!ENTITY a 'b'>]><mujoco model='&a;'/>",
        "line 1: there is a document type declaration",
    ),
    "an external entity": ("<!DOCTYPE m [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><mujoco/>", "document type"),
    "a soft body": (
        "<flexcomp name='cloth' type='grid' count='3 3 1' spacing='.1 .1 .1' radius='.01'/>",
        "flex 'cloth': it is a soft body, whose vertices move without joints; expected rigid bodies",
    ),
    "a billion bodies": ("<replicate count='1000000000'>\n<body/></replicate>", "line 2: <body>: .* more than 300000"),
    "bodies of bodies": ("<replicate count='999'>" * 9 + "<body/>" + "</replicate>" * 9, "more than 300000 elements"),
    "a huge cloth": ("<flexcomp name='f' count='99999 99999 9' spacing='1 1 1'/>", "more than 300000 elements"),
    "a huge texture": (
        "</worldbody><asset><texture builtin='flat' width='999999' height='999999'/></asset><worldbody>",
        "<texture>: it takes more memory",
    ),
    "a huge field": (
        "</worldbody><asset><hfield name='h' nrow='999999' ncol='999999' size='1 1 1 1'/></asset><worldbody>",
        "<hfield>: it takes more memory",
    ),
    "huge user data": ("</worldbody><size nuser_body='2000000000'/><worldbody>", "<size>: it takes more memory"),
    "deeper than any robot": ("<body>" * 2000 + "</body>" * 2000, "MuJoCo refuses it: element depth exceeded"),
    "a null character": ("<body name='\0'/>", "line 1: not well-formed XML"),
    "half a character": ("<body name='\udc80'/>", "."),
}


def whole(content):
    complete = content.startswith(("<mujoco", "<!"))
    return content if complete else f"<mujoco><worldbody>{content}</worldbody></mujoco>"


@pytest.mark.parametrize("name", BROKEN)
def test_one_sentence(name):
    content, sentence = BROKEN[name]
    begin = time.perf_counter()
    with pytest.raises(kt.ModelError) as caught:
        kt.load(whole(content))
    message = str(caught.value)
    assert re.search(sentence, message), message
    assert "\n" not in message and message.startswith("the given MJCF document")
    assert time.perf_counter() - begin < 5.0


def test_errors_name_the_file(tmp_path):
    file = tmp_path / "arm.xml"
    file.write_text("<mujoco>\n<worldbody>\n<body pos='x'/></worldbody></mujoco>")
    with pytest.raises(kt.ModelError, match=re.escape(f"{file}, line 3: 'body': MuJoCo refuses it: bad format")):
        kt.load(file)
    file.write_bytes("<mujoco><body name='ä'/></mujoco>".encode("latin-1"))
    with pytest.raises(kt.ModelError, match="line 1: it is not encoded in UTF-8"):
        kt.load(file)


def test_what_is_included_counts_too(tmp_path):
    (tmp_path / "main.xml").write_text(
        "<mujoco><worldbody><replicate count='1000'><include file='part.xml'/></replicate></worldbody></mujoco>"
    )
    part = tmp_path / "part.xml"
    part.write_text("<mujocoinclude>\n<replicate count='1000'><body/></replicate></mujocoinclude>")
    with pytest.raises(kt.ModelError, match=re.escape(f"{part}, line 2: <body>: with it there are more than")):
        kt.load(tmp_path / "main.xml")
    part.write_text("<mujocoinclude><include file='part.xml'/></mujocoinclude>")
    with pytest.raises(kt.ModelError, match="already included"):
        kt.load(tmp_path / "main.xml")


def test_a_file_too_large(tmp_path):
    file = tmp_path / "large.xml"
    with file.open("wb") as out:
        out.write(b"<mujoco>")
        out.truncate(300 * 2**20)
    begin = time.perf_counter()
    with pytest.raises(kt.ModelError, match=r"large\.xml has 300 MB; expected"):
        kt.load(file)
    assert time.perf_counter() - begin < 5.0


def test_wrong_arguments():
    with pytest.raises(kt.ArgumentError, match="base is 'flying'; expected 'fixed' or 'floating'"):
        kt.load("<mujoco/>", "flying")
    with pytest.raises(kt.ArgumentTypeError, match="path_or_xml is 3; expected a path"):
        kt.load(3)


VALID = """<mujoco model="m"><compiler angle="radian"/><option gravity="0 0 -9.81"/><worldbody><geom size="1"/>
<body name="a" pos="0 0 1"><joint name="j" axis="0 1 0" range="-1 1" damping="1"/><geom size=".1" pos="1 0 0"/>
<body name="b" quat="1 0 0 0"><joint name="k" type="slide"/><geom type="box" size=".1 .1 .1"/><site name="s"/>
</body></body></worldbody><equality><joint joint1="j" joint2="k" polycoef="0 1 0 0 0"/></equality>
<actuator><motor joint="j" gear="2"/></actuator></mujoco>"""
PIECES = [
    '"',
    "<",
    ">",
    "/",
    "-1",
    "0",
    "nan",
    "inf",
    "1e308",
    "joint",
    "type='ball'",
    "<body>",
    "</body>",
    "\n",
    "ü",
    "\0",
]


@given(st.lists(st.tuples(st.integers(8, len(VALID) - 1), st.integers(0, 8), st.sampled_from(PIECES)), max_size=4))
def test_damaged_files_load_or_raise_a_model_error(damage):
    text = VALID
    for at, length, piece in damage:
        text = text[:at] + piece + text[at + length :]
    try:
        kt.load(text)
    except kt.KinetreeError as error:
        assert "\n" not in str(error)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit the memory of a process")
def test_a_scene_that_is_too_large_for_mujoco_says_what_else_there_is(monkeypatch):
    monkeypatch.setattr(mujoco_compiler, "MEMORY", 400 * 2**20)
    body = "<body><joint/><inertial pos='0 0 1' mass='1' diaginertia='1 1 1'/></body>"
    with pytest.raises(kt.ModelError, match=r"MuJoCo takes more than 0.39 GB of memory to compile it; if you trust"):
        kt.load(f"<mujoco><worldbody>{body * 3000}</worldbody></mujoco>")
