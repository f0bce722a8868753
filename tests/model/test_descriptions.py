"""Robots by the names of robot_descriptions; the tests have a small one of their own, as the real one needs a net.

Covers: model/loaders/descriptions.py.
"""

import sys

import pytest

import kinetree as kt

URDF = """<robot name="arm"><link name="a"><visual><geometry><mesh filename="package://arm_package/a.stl"/></geometry></visual>
</link></robot>"""
XACRO = """<robot name="$(arg name)" xmlns:xacro="x">
<xacro:arg name="name" default="d"/><xacro:arg name="side" default="l"/>
<xacro:include filename="$(find tools)/tip.xacro"/><link name="$(arg side)"/></robot>"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder of description modules on the path, in place of an installed package."""
    folder = tmp_path / "robot_descriptions"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    for name in list(sys.modules):
        if name.partition(".")[0] == "robot_descriptions":
            monkeypatch.delitem(sys.modules, name)
    yield folder
    for name in list(sys.modules):
        if name.partition(".")[0] == "robot_descriptions":
            del sys.modules[name]


@pytest.fixture
def repository(tmp_path):
    """What such a module would have cloned."""
    package = tmp_path / "repository" / "arm_package"
    (package / "urdf").mkdir(parents=True)
    (package / "urdf" / "arm.urdf").write_text(URDF)
    (package / "urdf" / "arm.urdf.xacro").write_text(XACRO)
    (package / "a.stl").write_text("")
    return tmp_path / "repository"


def module(package, repository, name, **variables):
    lines = [f"REPOSITORY_PATH = {str(repository)!r}", f"PACKAGE_PATH = {str(repository / 'arm_package')!r}"]
    lines += [f"{variable} = {value!r}" for variable, value in variables.items()]
    (package / f"{name}.py").write_text("\n".join(lines))


def test_a_description_with_urdf(package, repository):
    module(package, repository, "arm_description", URDF_PATH=str(repository / "arm_package" / "urdf" / "arm.urdf"))
    robot = kt.load("arm_description")
    assert robot.name == "arm"
    mesh = robot.model.description.links["a"].visuals[0].shape
    assert mesh.path == str(repository / "arm_package" / "a.stl")
    assert kt.load("arm_description", "floating").nv == 6


def test_a_package_that_only_the_module_knows(package, repository, tmp_path):
    elsewhere = tmp_path / "cache" / "arm.urdf"
    elsewhere.parent.mkdir()
    elsewhere.write_text(URDF)
    module(package, repository, "arm_description", URDF_PATH=str(elsewhere))
    assert kt.load("arm_description").check() == ()
    assert len(kt.load(elsewhere).check()) == 1


def test_a_description_with_xacro(package, repository, tmp_path):
    pytest.importorskip("xacro")
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "tip.xacro").write_text("<robot/>")
    module(
        package,
        repository,
        "arm_description",
        XACRO_PATH=str(repository / "arm_package" / "urdf" / "arm.urdf.xacro"),
        XACRO_ARGS={"name": "seven"},
        XACRO_PACKAGE_PATHS={"tools": str(tmp_path / "t")},
    )
    robot = kt.load("arm_description")
    assert (robot.name, robot.frame_names) == ("seven", ("l",))
    robot = kt.load("arm_description", xacro_args={"side": "r"})
    assert (robot.name, robot.frame_names) == ("seven", ("r",)), "the module's arguments stay"


def test_files_and_bundled_robots_come_first(package, repository, tmp_path, monkeypatch):
    module(package, repository, "arm_description", URDF_PATH=str(repository / "arm_package" / "urdf" / "arm.urdf"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm_description").write_text(URDF.replace('"arm"', '"file"'))
    assert kt.load("arm_description").name == "file"


def test_names_that_do_not_exist(package, repository):
    module(package, repository, "arm_description", URDF_PATH="")
    with pytest.raises(
        kt.UnknownNameError, match="robot description 'amr_description' does not exist; did you mean 'arm_desc"
    ):
        kt.load("amr_description")
    with pytest.raises(kt.UnknownNameError, match="bundled robot 'amr7' does not exist; did you mean 'arm7'"):
        kt.load("amr7")


def test_without_the_package(monkeypatch):
    monkeypatch.setattr("kinetree.model.loaders.descriptions.find_spec", lambda name: None)
    with pytest.raises(kt.ModelError, match=r"arm_description is not here, .* pip install 'kinetree\[descriptions\]'"):
        kt.load("arm_description")


def test_what_goes_wrong_while_it_is_fetched(package, repository):
    (package / "arm_description.py").write_text("raise OSError('no net\\n  at all')")
    with pytest.raises(kt.ModelError, match="robot description 'arm_description' cannot be fetched: no net at all"):
        kt.load("arm_description")
    module(package, repository, "leg_description")
    with pytest.raises(kt.ModelError, match="robot description 'leg_description' has neither URDF nor xacro nor MJCF"):
        kt.load("leg_description")
    module(package, repository, "toe_description", URDF_PATH="/nowhere/toe.urdf")
    with pytest.raises(kt.ModelError, match=r"/nowhere/toe\.urdf does not exist; expected a model file"):
        kt.load("toe_description")
