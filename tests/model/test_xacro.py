"""xacro files, expanded: their own and ROS's packages, arguments, and what goes wrong in them.

Covers: model/loaders/xacro.py, model/loaders/xacro_child.py.
"""

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree.model.geometry import Mesh
from peers import close, pin_from_urdf

xacro = pytest.importorskip("xacro")
pytest.importorskip("xacro.substitution_args")

ARM = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="length" default="2"/>
  <xacro:property name="half" value="${0.5 * $(arg length)}"/>
  <xacro:macro name="rod" params="name">
    <link name="${name}"><inertial><mass value="1"/><origin xyz="0 0 ${half}"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  </xacro:macro>
  <link name="base"/>
  <xacro:rod name="upper"/>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
</robot>"""


@pytest.fixture
def arm(tmp_path):
    file = tmp_path / "arm.urdf.xacro"
    file.write_text(ARM)
    return file


def test_a_file_is_expanded(arm):
    robot = kt.load(arm)
    assert (robot.name, robot.frame_names) == ("arm", ("base", "upper"))
    close(robot.mass_matrix([0.0]), [[1.0 + 1.0]], 1e-14)
    assert robot.check() == ()
    assert kt.load(str(arm)) == robot


def test_arguments(arm):
    for length in ("4", 4, 4.0):
        close(kt.load(arm, xacro_args={"length": length}).mass_matrix([0.0]), [[1.0 + 4.0]], 1e-14)
    with pytest.raises(kt.UnknownNameError, match="xacro argument 'lenght' does not exist; did you mean 'length'"):
        kt.load(arm, xacro_args={"lenght": "4"})
    with pytest.raises(kt.ArgumentTypeError, match="xacro_args is 'length:=4'; expected strings by name"):
        kt.load(arm, xacro_args="length:=4")
    with pytest.raises(kt.ArgumentTypeError, match=r"xacro_args has 'length': \[4\]; expected strings by name"):
        kt.load(arm, xacro_args={"length": [4]})


def test_documents_in_strings_are_expanded_if_arguments_are_given(arm):
    assert kt.load(ARM, xacro_args={}) == kt.load(arm)
    assert kt.load(ARM.encode(), xacro_args={}) == kt.load(arm)
    with pytest.raises(kt.ModelError, match="line 2: <xacro:arg>: this is xacro"):
        kt.load(ARM)


@pytest.mark.parametrize("name", ["arm.urdf", "arm.xml", "arm"])
def test_tags_of_xacro_in_other_files_are_expanded(name, arm, tmp_path):
    file = tmp_path / name
    file.write_text(ARM)
    robot = kt.load(file)
    (finding,) = robot.check()
    assert finding.severity == "note" and "tags of xacro in the file, so it was expanded" in finding.message
    close(robot.mass_matrix([0.0]), kt.load(arm).mass_matrix([0.0]), 0.0)
    close(kt.load(file, xacro_args={"length": 4}).mass_matrix([0.0]), [[1.0 + 4.0]], 1e-14)
    file.write_text(
        ARM.replace('<link name="base"/>', '<link name="base"/><!-- $(arg side) --><link name="$(arg side)"/>')
    )
    declared = r"arm\S*: xacro: .* give it by xacro_args=\{'side': …\} \(the file declares 'length'\)"
    with pytest.raises(kt.ModelError, match=declared):
        kt.load(file)


def test_what_is_no_xacro_needs_no_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    plain = '<robot name="r" xmlns:xacro="x"><!-- <xacro:rod/> --><gazebo><xacro:rod/></gazebo><link name="a"/></robot>'
    file = tmp_path / "r.urdf"
    file.write_text(plain)
    assert kt.load(file).frame_names == ("a",)
    file.write_text('<robot name="r"><link name="a"/><xacro:rod/></robot>')  # a prefix that nothing declares
    with pytest.raises(kt.ModelError, match="line 1: <xacro:rod>: this is xacro"):
        kt.load(file)
    file.write_text(plain.replace("<gazebo>", "<xacro:rod/><gazebo>"))
    with pytest.raises(
        kt.ModelError, match=r"r\.urdf is xacro, which needs a package: pip install 'kinetree\[xacro\]'"
    ):
        kt.load(file)


def test_sdformat_with_xacro(tmp_path):
    text = """<sdf version="1.9" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="mass" default="2"/>
    <model name="m"><link name="a"><inertial><mass>${3 * $(arg mass)}</mass></inertial></link></model></sdf>"""
    for name in ("m.sdf", "m.sdf.xacro"):
        (tmp_path / name).write_text(text)
        assert kt.load(tmp_path / name, "floating").mass == 6.0
        assert kt.load(tmp_path / name, "floating", xacro_args={"mass": 1}).mass == 3.0


def test_the_lines_of_findings_are_those_that_the_command_prints(tmp_path):
    file = tmp_path / "arm.xacro"
    file.write_text(ARM.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 2 0"/>'))
    (finding,) = kt.load(file).check()
    code = f"import sys, xacro; sys.argv = ['xacro', {str(file)!r}]; xacro.main()"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert '<joint name="hinge"' in printed.splitlines()[finding.line - 1]
    file.write_text(ARM.replace("continuous", "hinge"))
    with pytest.raises(kt.ModelError, match=r"arm\.xacro, expanded, line \d+: joint 'hinge': type is 'hinge'"):
        kt.load(file)


def test_includes_beside_the_file_and_in_packages(tmp_path, monkeypatch):
    macros = '<robot xmlns:xacro="x"><xacro:macro name="tip"><link name="tip"/></xacro:macro></robot>'
    for folder in (tmp_path / "arm" / "urdf", tmp_path / "other" / "tools"):
        folder.mkdir(parents=True)
        (folder / "macros.xacro").write_text(macros)
    template = '<robot name="r" xmlns:xacro="x"><xacro:include filename="{}"/><xacro:tip/></robot>'
    file = tmp_path / "arm" / "urdf" / "r.xacro"
    for name in ("macros.xacro", "$(find arm)/urdf/macros.xacro", "$(find other)/macros.xacro"):
        file.write_text(template.format(name))
        package_dirs = {"other": tmp_path / "other" / "tools"}
        monkeypatch.chdir(tmp_path)
        assert kt.load(file, package_dirs=package_dirs).frame_names == ("tip",)
        assert kt.load("arm/urdf/r.xacro", package_dirs=package_dirs).frame_names == ("tip",)
    file.write_text(template.format("$(find leg)/macros.xacro"))
    with pytest.raises(
        kt.ModelError, match=r"r\.xacro: xacro: package 'leg' was not found; name its folder in package_dirs"
    ):
        kt.load(file)


BROKEN = {
    "an unknown macro": ("<xacro:leg/>", r"arm\.xacro: xacro: unknown macro name: xacro:leg"),
    "an unknown property": ('<link name="${foo}"/>', r"arm\.xacro: xacro: name 'foo' is not defined"),
    "a wrong expression": ('<link name="${1/0}"/>', r"arm\.xacro: xacro: division by zero"),
    "an argument that is not given": (
        '<link name="$(arg foo)"/>',
        r"arm\.xacro: xacro: Undefined substitution argument",
    ),
    "a file that is missing": (
        '<xacro:include filename="none.xacro"/>',
        r"arm\.xacro: xacro: No such file or directory: \S+none\.xacro$",
    ),
    "a file that includes itself": ('<xacro:include filename="arm.xacro"/>', "includes or calls itself without end"),
    "a macro that calls itself": (
        '<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>',
        "includes or calls itself without end",
    ),
    "a file in which something is wrong": (
        '<xacro:include filename="other.xacro"/>',
        r"arm\.xacro, in .*other\.xacro: xacro: no element found: line 1",
    ),
    "not XML": ("<link>", r"arm\.xacro, line 1: not well-formed XML \(mismatched tag\)"),
    "a URDF that is none": ('<link name="a"/><link name="b"/>', r"arm\.xacro, expanded: robot: it has 2 root links"),
    "a message": ("${xacro.fatal('not so')}", r"arm\.xacro: xacro: not so"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files(name, tmp_path):
    inside, expected = BROKEN[name]
    (tmp_path / "other.xacro").write_text("<robot>")
    file = tmp_path / "arm.xacro"
    file.write_text(f'<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">{inside}</robot>')
    with pytest.raises(kt.ModelError, match=expected) as caught:
        kt.load(file)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 1500
    file.write_text(ARM)
    assert kt.load(file).name == "arm", "nothing of it stays behind"


def test_entities_are_refused_before_anything_is_expanded(tmp_path):
    file = tmp_path / "arm.xacro"
    file.write_text('<!DOCTYPE r [<!ENTITY a "b">]>' + ARM)
    with pytest.raises(kt.ModelError, match="there is a document type declaration"):
        kt.load(file)


def test_what_xacro_says_is_a_finding(tmp_path, capsys):
    file = tmp_path / "arm.xacro"
    file.write_text(ARM.replace('<link name="base"/>', "<link name=\"base\"/>${xacro.warning('old arm')}"))
    found = [str(finding) for finding in kt.load(file).check()]
    assert any("old arm" in line for line in found), found
    assert capsys.readouterr().err == ""


def test_several_threads(arm):
    results, lengths = {}, [str(k) for k in range(1, 9)]

    def work(length):
        results[length] = float(kt.load(arm, xacro_args={"length": length}).eager.mass_matrix([0.0])[0, 0])

    threads = [threading.Thread(target=work, args=(length,)) for length in lengths]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {length: pytest.approx(1.0 + (float(length) / 2) ** 2) for length in lengths}


def test_without_the_package(arm, monkeypatch):
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(
        kt.ModelError, match=r"arm\.urdf\.xacro is xacro, which needs a package: pip install 'kinetree\[xacro\]'"
    ):
        kt.load(arm)


# -- the robots of the Robotics Toolbox -----------------------------------------------------------------------------


def toolbox_files():
    rtbdata = pytest.importorskip("rtbdata")
    folder = Path(next(iter(rtbdata.__path__)))
    return folder, sorted([*folder.rglob("*.urdf"), *folder.rglob("*.xacro")])


def folders_of_packages(folder):
    """Packages are called …_support in the files, and their folders are not."""
    kuka = folder / "xacro" / "kuka_description"
    found = {f"{path.name}_support": path for path in kuka.iterdir() if path.is_dir()}
    abb = folder / "xacro" / "abb_irb140_description"
    return found | {
        "kuka_resources": kuka / "kuka_resources",
        "abb_irb140": abb,
        "abb_irb140_support": abb,
        "abb_resources": abb,
    }


@pytest.mark.filterwarnings("ignore::kinetree.ModelWarning")
@pytest.mark.sweep
def test_the_robots_of_the_robotics_toolbox(tmp_path):
    """Each is one, equal to Pinocchio's, or made of macros alone, or it lacks something."""
    folder, files = toolbox_files()
    robots, macros, broken, meshes = [], [], {}, []
    for path in files:
        try:
            robot = kt.load(path, package_dirs=folders_of_packages(folder))
        except kt.ModelError as problem:
            if "it has no links" in str(problem):
                macros.append(path.name)
            else:
                broken[path.name] = str(problem)
            continue
        robots.append(path.name)
        for link in robot.model.description.links.values():
            shapes = [geometry.shape for geometry in (*link.visuals, *link.collisions)]
            meshes += [shape.path for shape in shapes if isinstance(shape, Mesh)]
        compare(robot, path, tmp_path / "expanded.urdf", folder)
    lacks = {
        "kr210l150.xacro": "'deg'",
        "sick_lms1xx_mount.urdf.xacro": "'lms1xx'",
        "sick_s300_mount.urdf.xacro": "'lms1xx'",
    }
    assert broken.keys() == lacks.keys() | {"test.urdf"}, broken  # which says "hello"
    assert all(what in broken[name] for name, what in lacks.items())
    assert (len(robots), len(macros)) == (44, 21)
    assert len(meshes) == 600 and None not in meshes


def compare(robot, path, expanded, folder):
    """Mass, inverse dynamics and mass matrix beside those of Pinocchio."""
    text = path.read_text()
    if path.suffix == ".xacro":
        xacro.substitution_args._eval_find, theirs = (
            lambda name: str(find(name, path, folder)),
            xacro.substitution_args._eval_find,
        )
        try:
            text = xacro.process_file(str(path)).toxml()
        finally:
            xacro.substitution_args._eval_find = theirs
    expanded.write_text(text)
    peer = pin_from_urdf(robot, expanded, False)
    rng = np.random.default_rng(0)
    q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    data = peer.data()
    close(robot.mass, pin.computeTotalMass(peer.model))
    eager = robot.eager
    close(eager.inverse_dynamics(q, v, a), peer.G.T @ pin.rnea(peer.model, data, peer.q(q), peer.G @ v, peer.G @ a))


def find(name, path, folder):
    known = folders_of_packages(folder)
    return known.get(name) or next(parent / name for parent in path.parents if (parent / name).is_dir())
