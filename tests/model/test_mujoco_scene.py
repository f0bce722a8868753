"""Robots in scenes: which of several bodies is read, and what is said of the others.

Covers: model/loaders/mujoco_scene.py.
"""

import mujoco
import numpy as np
import pytest

import kinetree as kt
from peers import close

BALL = '<body name="ball" pos="1 0 0"><freejoint/><geom size="0.1"/></body>'
DOOR = """<body name="frame" pos="0 2 0"><body name="door"><joint name="hinge"/><geom size="0.1" pos="1 0 0"/></body>
  </body>"""
TABLE = '<body name="table" pos="2 0 0"><geom name="top" size="1"/><site name="corner"/></body>'
WALKER = """<body name="pelvis" pos="0 0 1"><freejoint name="float"/><geom size="0.1"/>
  <body name="thigh"><joint name="hip" damping="0.1"/><geom size="0.1" pos="0 0 -0.2"/><site name="foot"/></body>
  </body>"""
ARM = '<body name="arm"><body name="upper"><joint name="shoulder"/><geom size="0.1" pos="0 0.3 0"/></body></body>'
SCENE = f"<mujoco><worldbody>{BALL}{DOOR}{TABLE}{WALKER}{ARM}</worldbody></mujoco>"


def said(robot):
    return "\n".join(map(str, robot.check()))


def test_the_free_body_with_most_joints_floats():
    robot = kt.load(SCENE, "floating")
    assert robot.frame_names == ("pelvis", "thigh", "foot") and robot.joint_names == ("hip",)
    assert "3 bodies that move ('ball', 'door', 'upper'), and what they carry, were left out" in said(robot)
    assert "the robot is 'pelvis', root= chooses another" in said(robot)
    assert "3 × <body> (frame, table, arm) fixed to the world left out" in said(robot)
    assert all(finding.severity == "note" for finding in robot.check())
    alone = kt.load(f"<mujoco><worldbody>{WALKER}</worldbody></mujoco>", "floating")
    q, v, a = robot.random(0), np.ones(robot.nv), np.ones(robot.nv)
    close(robot.eager.inverse_dynamics(q, v, a), alone.eager.inverse_dynamics(q, v, a), 1e-14)


def test_a_root_by_name():
    assert kt.load(SCENE, "floating", root="ball").frame_names == ("ball",)
    fixed = kt.load(SCENE, root="frame")
    assert fixed.joint_names == ("hinge",) and {"table", "corner", "arm"} < set(fixed.frame_names)
    assert "3 bodies that move ('ball', 'pelvis', 'upper')" in said(fixed)
    assert "fixed to the world left out" not in said(fixed)
    loose = kt.load(SCENE, "floating", root="arm")
    assert loose.frame_names == ("arm", "upper") and loose.nv == 7
    assert kt.load(mujoco.MjModel.from_xml_string(SCENE), root="frame") == fixed


def test_everything_on_a_fixed_base():
    robot = kt.load(SCENE)
    assert robot.nv == 6 + 1 + 6 + 1 + 1 and "left out" not in said(robot)


def test_ties_to_what_is_left_out():
    """The world does not hold them; they are left out as well, and warn."""
    tie = '<equality><connect body1="thigh" body2="ball" anchor="0 0 0"/></equality></mujoco>'
    with pytest.warns(kt.ModelWarning, match="it holds 'connect0_1' to a body that was left out, and was ignored"):
        robot = kt.load(SCENE.replace("</mujoco>", tie), "floating")
    assert not robot.loops
    rope = '<equality><joint joint1="hip" joint2="hinge" polycoef="0 1 0 0 0"/></equality></mujoco>'
    with pytest.warns(kt.ModelWarning, match="cannot mimic: joint 'hinge' does not exist"):
        kt.load(SCENE.replace("</mujoco>", rope), "floating")


def test_what_cannot_be_the_root():
    with pytest.raises(kt.UnknownNameError, match="body on the world 'pelvi' does not exist; did you mean 'pelvis'"):
        kt.load(SCENE, root="pelvi")
    with pytest.raises(kt.UnknownNameError, match="body on the world 'thigh' does not exist"):
        kt.load(SCENE, root="thigh")
    hung = SCENE.replace("</worldbody>", '<body name="hung"><joint/><geom size="1"/></body></worldbody>')
    with pytest.raises(kt.ModelError, match="body 'hung' hangs on the world by a joint; expected base='fixed'"):
        kt.load(hung, "floating", root="hung")
    with pytest.raises(kt.ArgumentError, match="root is 'a', but arm6 is no MJCF"):
        kt.load("arm6", root="a")


def test_a_hundred_copies():
    """One of them is the robot."""
    text = f'<mujoco><worldbody><replicate count="100" offset="1 0 0">{WALKER}</replicate></worldbody></mujoco>'
    robot = kt.load(text, "floating")
    assert robot.nv == 7 and "99 bodies that move" in said(robot)
