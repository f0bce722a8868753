"""Loops in URDF files, in the elements that Gazebo and Drake read.

Covers: model/loaders/urdf_loops.py, model/loaders/closing_joints.py.
"""

import numpy as np
import pytest

import kinetree as kt
from linkages import along, four_bar, four_bar_at
from peers import close


def document(inside):
    """The four-bar of `linkages`, open, as URDF."""
    text = four_bar().to_urdf(lossy=True)
    return text.replace("</robot>", f"{inside}</robot>")


def links():
    """What its ends are on, and where."""
    sites = four_bar().model.description.sites
    return [(sites[name][0], sites[name][1].p) for name in ("coupler_end", "rocker_end")]


def drake(kind, axis="0 1 0"):
    ends = "".join(
        f'<link{k} link="{link}" xyz="{" ".join(map(repr, map(float, p)))}"/>' for k, (link, p) in enumerate(links(), 1)
    )
    return document(f'<loop_joint name="close" type="{kind}">{ends}<axis xyz="{axis}"/></loop_joint>')


@pytest.mark.parametrize(("kind", "loops"), [("continuous", 2), ("revolute", 2), ("spherical", 1), ("fixed", 1)])
def test_a_loop_joint_of_drakes(kind, loops):
    robot = kt.load(drake(kind))
    assert len(robot.loops) == loops and robot.loops[0].kind == ("rigid" if kind == "fixed" else "point")
    if kind != "fixed":
        follows_the_closed_form(robot)


def follows_the_closed_form(robot):
    q, v, _, _ = along(four_bar_at, 0.4, 2.0)
    system, closed = robot.constrained(), four_bar().constrained(kt.Loop("coupler_end", "rocker_end"))
    assert np.abs(system.position_error(q)).max() < 1e-9
    assert np.abs(system.jacobian(q) @ v).max() < 1e-9
    tau = np.array([0.3, 0.0, 0.0])
    close(system.forward_dynamics(q, v, tau)[0], closed.forward_dynamics(q, v, tau)[0], 1e-6)


def test_a_joint_in_a_gazebo_element():
    """At a pose in its child, with all joints at zero: here two bars that lie on one another, and one above."""
    bars = "".join(
        f'''<link name="{name}"><inertial><mass value="1"/><origin xyz="0.5 0 0"/>
        <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>'''
        for name in ("a", "b", "c")
    )
    hinges = "".join(
        f'''<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>
        <origin xyz="{xyz}"/><axis xyz="0 1 0"/></joint>'''
        for name, parent, child, xyz in (
            ("j", "base", "a", "0 0 0"),
            ("k", "a", "b", "0 0 1"),
            ("l", "base", "c", "1 0 0"),
        )
    )
    closing = """<gazebo><joint name="close" type="{}"><parent>b</parent><child>c</child><pose>0 0 1 0 0 0</pose>
      <axis><xyz>0 1 0</xyz></axis></joint>{}</gazebo>"""
    whole = f'<robot name="r"><link name="base"/>{bars}{hinges}{{}}</robot>'
    robot = kt.load(whole.format(closing.format("revolute", "")))
    assert robot.loops == (kt.Loop("close_1", "close_2"), kt.Loop("close_axis_1", "close_axis_2"))
    assert not any("gazebo" in str(finding) for finding in robot.check())
    close(robot.frame("close_1").pose(np.zeros(3))[:3, 3], [1.0, 0.0, 1.0], 1e-15)
    v = robot.constrained().projected(np.zeros(3), [1.0, 0.0, 0.0])[1]
    close(v / v[0], [1.0, -1.0, 1.0], 1e-6)  # a parallelogram
    listed = kt.load(whole.format(closing.format("ball", "<plugin/>")))
    assert len(listed.loops) == 1 and any("<gazebo>" in str(finding) for finding in listed.check())
    for kind, child, why in (("prismatic", "c", "its type is"), ("ball", "d", "link 'd' does not exist")):
        text = whole.format(closing.format(kind, "").replace("<child>c<", f"<child>{child}<"))
        with pytest.warns(kt.ModelWarning, match=f"joint 'close': it closes a loop and was left out: {why}"):
            assert not kt.load(text).loops
    with pytest.raises(kt.ModelError, match="joint 'close': it has no <child>"):
        kt.load(whole.format(closing.format("ball", "").replace("<child>c</child>", "")))


def test_other_constraints_warn():
    with pytest.warns(kt.ModelWarning, match="<drake:ball_constraint>: it was ignored, so that links move apart"):
        kt.load(document("<drake:ball_constraint/>"))
    with pytest.warns(kt.ModelWarning, match="it closes a loop and was left out: its axis is zero"):
        kt.load(drake("continuous", "0 0 0"))


@pytest.mark.parametrize(
    "closing",
    [
        '<loop_joint name="k" type="continuous"><link1 link="a" rpy="inf 0 0"/><link2 link="b"/></loop_joint>',
        '<loop_joint name="k" type="continuous"><link1 link="a" xyz="0 -inf 0"/><link2 link="b"/></loop_joint>',
        '<gazebo><joint name="k" type="ball"><parent>a</parent><child>b</child><pose>0 0 0 0 inf 0</pose></joint>'
        "</gazebo>",
    ],
)
def test_poses_that_are_not_finite_are_one_sentence(closing):
    with pytest.raises(kt.ModelError, match=r"'k': <(link1|pose)> has a pose that is not finite"):
        kt.load(document(closing))
