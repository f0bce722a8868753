"""SDFormat beside Drake: what it made of the files in tests/model/sdf stands in sdf_drake.json.

Covers: model/loaders/sdf.py, model/loaders/sdf_axes.py, model/loaders/sdf_frames.py, model/loaders/sdf_geometry.py,
model/loaders/sdf_values.py.
"""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from kinetree.model.geometry import Box, Cylinder
from kinetree.model.loaders import xml
from peers import close

FOLDER = Path(__file__).parent / "sdf"
DRAKE = json.loads((Path(__file__).parent / "sdf_drake.json").read_text())


@pytest.mark.parametrize("file", sorted(DRAKE))
def test_drake_computes_the_same(file):
    there = DRAKE[file]
    robot = kt.load(FOLDER / file).eager
    names = {name.rpartition("::")[2]: name for name in robot.joint_names}
    assert set(names) == set(there["joints"])
    q, v, a, tau = robot.neutral(), *np.zeros((3, robot.nv))
    M = np.zeros((robot.nv, robot.nv))
    places = {}
    for name, (iq, nq, iv, nv) in there["joints"].items():
        joint = next(each for each in robot.model.joints if each.name == names[name])
        places[name] = joint.v_slice, slice(iv, iv + nv)
        if joint.nq == nq:
            q[joint.q_slice] = there["q"][iq : iq + nq]
        for ours, theirs in ((v, "v"), (a, "a"), (tau, "tau")):
            ours[joint.v_slice] = there[theirs][iv : iv + nv]
    for ours, theirs in places.values():
        for other, other_there in places.values():
            M[ours, other] = np.array(there["mass_matrix"])[theirs, other_there]
    close(robot.mass_matrix(q), M, 1e-10)
    close(robot.inverse_dynamics(q, v, a), tau, 1e-10)
    frames = {name.rpartition("::")[2]: name for name in robot.frame_names}
    for body, pose in there["poses"].items():
        close(robot.frame(frames[body]).pose(q), np.array(pose), 1e-10)


@pytest.mark.drake
def test_the_record_is_what_drake_gives_now():
    pytest.importorskip("pydrake")
    from model.sdf_record import recorded  # noqa: PLC0415

    for file, there in DRAKE.items():
        now = recorded(FOLDER / file)
        close(np.array(now["tau"]), np.array(there["tau"]), 1e-12)


def test_names_limits_frames_and_shapes():
    robot = kt.load(FOLDER / "arm.sdf")
    assert robot.joint_names == ("shoulder", "slide", "cross", "drill", "tool::knuckle")
    assert {"tip", "elbow_place", "tool::wrist", "upper", "tool::palm"} < set(robot.frame_names)
    assert robot.limits.lower[:2].tolist() == [-2.0, -0.1] and robot.limits.upper[:2].tolist() == [1.5, 0.3]
    assert robot.limits.velocity[0] == 4.0 and robot.limits.effort[0] == 50.0 and robot.limits.effort[-1] == 3.0
    link = robot.model.description.links["upper"]
    assert link.visuals[0].shape == Cylinder(0.05, 0.4) and link.visuals[0].color == (1.0, 0.5, 0.0, 1.0)
    assert link.collisions[0].shape == Box((0.1, 0.1, 0.4))
    assert "<link/sensor> (line 15): 1 element was ignored" in "\n".join(map(str, robot.check()))
    assert robot.model.passive


def sdf(content, version="1.9"):
    return f'<sdf version="{version}"><model name="m">{content}</model></sdf>'


MASS = "<inertial><mass>2</mass></inertial>"
LINKS = f'<link name="a">{MASS}</link><link name="b"><pose>0 0 1 0 0 0</pose>{MASS}</link>'
HINGE = '<joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz>{}</axis></joint>'


def test_a_root_that_hangs_on_nothing():
    robot = kt.load(sdf(LINKS + HINGE.format("")), "floating")
    assert robot.frame_names[0] == "a" and robot.nv == 7 and robot.mass == 4.0
    assert kt.load(sdf(LINKS + HINGE.format(""))).nv == 1
    moved = kt.load(sdf("<pose>1 0 0 0 0 0</pose>" + LINKS + HINGE.format("")))
    assert "its pose in the world was left out" in str(moved.check()[0])


def test_bodies_that_hang_on_nothing_are_free_or_fixed():
    two = kt.load(sdf(LINKS))
    assert two.nv == 12 and two.frame_names[0] == "world"
    static = kt.load(sdf(f"<pose>1 2 3 0 0 0</pose><static>true</static>{LINKS}"))
    assert static.nv == 0
    close(static.frame("b").pose(static.neutral())[:3, 3], [1, 2, 4], 1e-15)


def test_worlds():
    model = f'<model name="{{}}"><pose>0 0 {{}} 0 0 0</pose>{LINKS}{HINGE.format("")}</model>'
    text = (
        f'<sdf version="1.9"><world name="w"><gravity>0 0 -1.62</gravity>{model.format("x", 0)}{model.format("y", 5)}'
    )
    robot = kt.load(text + "</world></sdf>")
    assert robot.gravity[2] == -1.62 and robot.nv == 14
    assert robot.joint_names == ("x::a_free", "x::j", "y::a_free", "y::j")


def test_springs_mimics_and_limits():
    extra = "<dynamics><spring_stiffness>3</spring_stiffness><spring_reference>0.2</spring_reference></dynamics>"
    limit = "<limit><lower>2</lower><upper>1</upper></limit>"
    follower = HINGE.format(
        '<mimic joint="j"><multiplier>2</multiplier><offset>0.1</offset><reference>0.5</reference></mimic>'
    )
    follower = follower.replace('name="j"', 'name="k"').replace(">b<", ">c<").replace(">a<", ">b<")
    robot = kt.load(sdf(LINKS + f'<link name="c">{MASS}</link>' + HINGE.format(extra + limit) + follower))
    assert robot.joint_names == ("j",) and robot.model.joints[1].dynamics == kt.JointDynamics(stiffness=3, rest=0.2)
    assert (robot.model.joints[2].ratio, robot.model.joints[2].offset) == (2.0, 0.1 - 2 * 0.5)
    assert (robot.limits.lower[0], robot.limits.upper[0]) == (1.0, 2.0)
    assert any("they are exchanged" in str(finding) for finding in robot.check())


def test_loops():
    """A second joint of one child."""
    closing = '<joint name="close" type="ball"><parent>c</parent><child>a</child><pose>0.1 0 0 0 0 0</pose></joint>'
    hinge = HINGE.format("").replace('name="j"', 'name="k"').replace(">b<", ">c<").replace(">a<", ">b<")
    fixed = '<joint name="stay" type="fixed"><parent>world</parent><child>a</child></joint>'
    robot = kt.load(sdf(LINKS + f'<link name="c">{MASS}</link>' + fixed + HINGE.format("") + hinge + closing))
    assert robot.loops == (kt.Loop("close_1", "close_2", "point"),)
    close(robot.constrained().position_error([0.0, 0.0]), np.zeros(3), 1e-15)
    assert any("its limits were ignored" in str(each) for each in closed_by("revolute", LIMIT).check())
    with pytest.warns(kt.ModelWarning, match="it closes a loop, so its damping, friction or spring was ignored"):
        closed_by("revolute", "<dynamics><damping>1</damping></dynamics>")
    with pytest.raises(kt.ModelError, match="joint 'close': it closes a loop and is prismatic; expected one of revol"):
        closed_by("prismatic")
    itself = '<joint name="k" type="fixed"><parent>b</parent><child>b</child></joint>'
    with pytest.raises(kt.ModelError, match="joint 'k': its parent and its child are both part of 'b'"):
        kt.load(sdf(LINKS + fixed + HINGE.format("") + itself))


LIMIT = "<limit><lower>-1</lower><upper>1</upper></limit>"


def closed_by(kind, inside=""):
    """A pendulum on a ball, whose second joint with the world stands first in the file."""
    inertial = "<inertial><pose>0.3 0 -0.4 0 0 0</pose><mass>2</mass></inertial>"
    return kt.load(
        sdf(
            f'''<link name="rod">{inertial}</link>
            <joint name="ball" type="ball"><parent>world</parent><child>rod</child></joint>
            <joint name="close" type="{kind}"><parent>world</parent><child>rod</child>
            <axis><xyz>1 1 0</xyz>{inside}</axis></joint>'''
        )
    )


@pytest.mark.parametrize("kind", ["revolute", "continuous"])
def test_a_hinge_closes_a_loop(kind):
    """A rod on a ball and a hinge is a pendulum about the axis n: (n·I n) α = n·(c × m g)."""
    robot = closed_by(kind)
    assert robot.loops == (kt.Loop("close_1", "close_2"), kt.Loop("close_axis_1", "close_axis_2"))
    n, c, g = np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0), np.array([0.3, 0.0, -0.4]), np.array([0.0, 0.0, -9.81])
    inertia = np.eye(3) + 2.0 * (c @ c * np.eye(3) - np.outer(c, c))
    alpha = n @ np.cross(c, 2.0 * g) / (n @ inertia @ n)
    system = robot.constrained()
    q = robot.neutral()
    close(system.forward_dynamics(q, np.zeros(3), np.zeros(3))[0], alpha * n, 1e-6)
    path = robot.rollout(q, np.zeros(3), None, 1e-3, 400)
    assert np.abs(system.position_error(path.q)).max() < 1e-6
    energy = robot.kinetic_energy(path.q, path.v) + robot.potential_energy(path.q)
    assert np.ptp(energy) < 1e-2 and np.abs(path.v).max() > 0.5


def test_a_loop_without_a_joint_that_leads_out_of_it_first():
    """Joints a, b, c in a ring, and only then the one that holds it."""
    ring = [
        f'<joint name="{x}{y}" type="ball"><parent>{x}</parent><child>{y}</child></joint>'
        for x, y in (("a", "b"), ("b", "c"), ("c", "a"))
    ]
    links = "".join(f'<link name="{x}"><pose>{k} 0 0 0 0 0</pose>{MASS}</link>' for k, x in enumerate("abc"))
    robot = kt.load(
        sdf(links + "".join(ring) + '<joint name="h" type="ball"><parent>world</parent><child>a</child></joint>')
    )
    assert robot.joint_names == ("h", "ab", "bc") and robot.loops == (kt.Loop("ca_1", "ca_2"),)


def test_included_by_a_manifest(tmp_path):
    (tmp_path / "hand").mkdir()
    for name in ("hand.sdf", "model.config"):
        (tmp_path / "hand" / name).write_text((FOLDER / "hand" / name).read_text())
    text = '<sdf version="1.9"><include><uri>model://hand</uri></include></sdf>'
    assert kt.load(text, package_dirs=tmp_path).joint_names == ("knuckle",)
    merged = sdf(f'<link name="a">{MASS}</link><include merge="true"><uri>model://hand</uri></include>'
                 '<joint name="f" type="fixed"><parent>a</parent><child>palm</child></joint>')  # fmt: skip
    assert kt.load(merged, package_dirs=tmp_path).joint_names == ("knuckle",)
    with pytest.raises(kt.ModelError, match="it was not found; name the folder it lies in by package_dirs"):
        kt.load(text)


def test_files_that_include_themselves(tmp_path):
    twice = "".join(f"<include><uri>model://x/x.sdf</uri><name>{k}</name></include>" for k in range(2))
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "x.sdf").write_text(sdf(f'<link name="a"/>{twice}'))
    with pytest.raises(kt.ModelError, match="too many files include each other"):
        kt.load(tmp_path / "x" / "x.sdf", package_dirs=tmp_path)


def test_files_that_are_large_together(tmp_path, monkeypatch):
    monkeypatch.setattr(xml, "MOST_BYTES", 5000)
    monkeypatch.setattr(xml.check_size, "__defaults__", (5000,))
    (tmp_path / "part.sdf").write_text(sdf('<link name="a"/>') + " " * 900)
    several = "".join(f"<include><uri>part.sdf</uri><name>p{k}</name></include>" for k in range(9))
    (tmp_path / "all.sdf").write_text(f'<sdf version="1.9"><world name="w">{several}</world></sdf>')
    with pytest.raises(kt.ModelError, match=r"all.sdf, with the files that it includes, has"):
        kt.load(tmp_path / "all.sdf")


def test_a_version_of_many_digits():
    assert kt.load(sdf('<link name="a"/>', "9" * 5000)).nv == 0


def test_dynamics_that_are_dropped_warn():
    with pytest.warns(kt.ModelWarning, match="gravity does not pull on it in the file"):
        kt.load(sdf(f'<link name="a"><gravity>false</gravity>{MASS}</link>'))


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ("<kinematic>true</kinematic>", "it is kinematic in the file"),
        (
            "<velocity_decay><angular>0.1</angular></velocity_decay>",
            "its <velocity_decay>, a drag of the air, was ignored",
        ),
        (
            "<inertial><mass>2</mass><fluid_added_mass><xx>1</xx></fluid_added_mass></inertial>",
            "<fluid_added_mass> was",
        ),
    ],
)
def test_other_forces_on_links_warn(inside, said):
    with pytest.warns(kt.ModelWarning, match=f"link 'a': .*{said}"):
        kt.load(sdf(f'<link name="a">{inside}</link>'))


def test_what_changes_nothing_is_said_too():
    decay = "<velocity_decay><linear>0</linear></velocity_decay><kinematic>0</kinematic>"
    assert kt.load(sdf(f'<link name="a">{decay}</link>')).check() == ()
    place = "<initial_position>0.3</initial_position>"
    robot = kt.load(sdf(LINKS + HINGE.format("").replace("</axis>", f"{place}</axis>")))
    assert any("<axis/initial_position>" in str(finding) for finding in robot.check())
    odd = kt.load(sdf('<static>maybe</static><link name="a"/>')).check()
    assert any("<static> is 'maybe'; expected true or false" in str(finding) for finding in odd)


def test_inertias_from_shapes_are_refused_unless_repaired():
    text = sdf('<link name="a"><inertial auto="true"><density>1000</density></inertial></link>')
    with pytest.raises(kt.ModelError, match="link 'a': <inertial auto> asks for an inertia from shapes and density"):
        kt.load(text)
    assert kt.load(text, "floating", repair=True).mass == 1.0


BROKEN = {
    sdf(LINKS + HINGE.format("").replace("revolute", "gearbox")): "joint 'j': type is 'gearbox'; expected one of",
    sdf(LINKS + HINGE.format("").replace("<child>b</child>", "")): "joint 'j': it has no <child>",
    sdf(LINKS + HINGE.format("").replace(">b<", ">x<")): "frame 'x' does not exist",
    sdf(LINKS.replace("<pose>", '<pose relative_to="b">')): "the pose of frame 'b' is given in itself",
    sdf(LINKS.replace("<pose>0 0 1", "<pose>0 0")): "<pose> text is '0 0 0 0 0'; expected 6 numbers",
    sdf(LINKS.replace(">2<", ">heavy<")): "link 'a': <mass> text is 'heavy'; expected a number",
    sdf(LINKS + LINKS): "frame 'a': the name is taken",
    sdf(LINKS.replace("<pose>0 0 1 0 0 0", '<pose rotation_format="quat_xyzw">0 0 1 0 0 0 0')): "a quaternion of zeros",
    "<sdf version='1.9'/>": "it has no <model>",
    sdf(
        f"<pose>1e308 0 0 0 0 0</pose>{LINKS.replace('<pose>0', '<pose>1e308')}"
    ): "the pose of frame 'b' is not finite",
    sdf(LINKS.replace("</mass>", "</mass><pose>nan 0 0 0 0 0</pose>"), "1.²"): "expected 6 numbers",
    sdf(
        LINKS + HINGE.format("").replace("<axis>", "<axi>").replace("</axis>", "</axi>")
    ): "it has too few <axis> elements",
    sdf(
        '<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>' + LINKS
    ): "frame '[fg]' is attached to itself|given in itself",
}


@pytest.mark.parametrize("document", BROKEN, ids=range(len(BROKEN)))
def test_one_sentence(document):
    with pytest.raises(kt.ModelError, match=BROKEN[document]) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kt.load(document)
    assert "\n" not in str(caught.value) and str(caught.value).startswith("the given SDFormat document")


def test_repaired():
    robot = kt.load(sdf(LINKS.replace(">2<", ">heavy<", 1) + HINGE.format("")), repair=True)
    assert [finding.severity for finding in robot.check()][:1] == ["error"]


def test_shapes_that_cannot_be_read_are_left_out():
    visual = "<visual name='v'><geometry>{}</geometry></visual>"
    shapes = "".join(
        visual.format(shape) for shape in ("<sphere/>", "<polyline/>", "<mesh><uri>no.stl</uri></mesh>", "<plane/>")
    )
    robot = kt.load(sdf(f'<link name="a">{MASS}{shapes}</link>'))
    assert len(robot.model.description.links["a"].visuals) == 2
    found = "\n".join(map(str, robot.check()))
    assert "<sphere> has no <radius>; its <visual> is left out" in found and "mesh 'no.stl' was not found" in found
    assert re.search(r"has no shape that is known \(polyline\)", found)
