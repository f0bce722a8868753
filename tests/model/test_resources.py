"""Where meshes and packages are looked for, and in which order.

Covers: model/loaders/resources.py.
"""

import os

import pytest

import kinetree as kt
from kinetree.model.loaders.resources import Resources

VARIABLES = ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "GAZEBO_MODEL_PATH", "GZ_SIM_RESOURCE_PATH")


@pytest.fixture(autouse=True)
def no_ros(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def put(path, text=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def test_relative_paths_start_at_the_models_own_folder(tmp_path):
    mesh = put(tmp_path / "urdf" / "meshes" / "a.stl")
    above = put(tmp_path / "meshes" / "b.stl")
    found = Resources(tmp_path / "urdf")
    assert found.find("meshes/a.stl") == found.find("./meshes/a.stl".removeprefix("./")) == mesh
    assert os.path.samefile(found.find("../meshes/b.stl"), above)
    assert found.find("meshes/b.stl") == above, "in a package whose models lie in urdf/"
    assert found.find("meshes\\a.stl") == mesh
    assert found.find("meshes") is None, "a folder is no mesh"
    assert found.find("meshes/c.stl") is None


def test_absolute_paths_and_file_urls(tmp_path):
    mesh = put(tmp_path / "a mesh.stl")
    for spelling in (mesh, f"file://{mesh}", f"file:{mesh}", f"file://{mesh.replace(' ', '%20')}"):
        assert Resources().find(spelling) == mesh
    assert Resources(tmp_path).find("file://a mesh.stl") == mesh
    assert Resources(tmp_path).find("https://example.org/a.stl") is None


def test_a_document_without_a_file_looks_from_here(tmp_path, monkeypatch):
    mesh = put(tmp_path / "a.stl")
    monkeypatch.chdir(tmp_path)
    assert Resources().find("a.stl") == mesh


def test_packages_around_the_models_own_file(tmp_path):
    inside = put(tmp_path / "arm" / "meshes" / "a.stl")
    beside = put(tmp_path / "hand" / "meshes" / "h.stl")
    found = Resources(tmp_path / "arm" / "urdf" / "v2")
    for scheme in ("package://", "model://", "package:///"):
        assert found.find(f"{scheme}arm/meshes/a.stl") == inside
        assert found.find(f"{scheme}hand/meshes/h.stl") == beside
    assert found.find("package://arm/meshes/h.stl") is None
    assert found.package("arm") == str(tmp_path / "arm")
    assert found.package("leg") is None


def test_a_package_whose_folder_is_called_otherwise(tmp_path):
    mesh = put(tmp_path / "arm-main" / "meshes" / "a.stl")
    assert Resources(tmp_path / "arm-main" / "urdf").find("package://arm/meshes/a.stl") is None
    assert Resources(package_dirs={"arm": tmp_path / "arm-main"}).find("package://arm/meshes/a.stl") == mesh
    put(tmp_path / "arm-main" / "package.xml", "<package><name> arm </name><depend><name>leg</name></depend></package>")
    assert Resources(tmp_path / "arm-main" / "urdf").find("package://arm/meshes/a.stl") == mesh
    assert Resources(package_dirs=tmp_path / "arm-main").find("package://arm/meshes/a.stl") == mesh


@pytest.mark.parametrize("several", [False, True])
def test_package_dirs_are_packages_or_hold_them(tmp_path, several):
    mesh = put(tmp_path / "arm" / "a.stl")
    for folder in (tmp_path, tmp_path / "arm"):
        assert Resources(package_dirs=[folder] if several else str(folder)).find("package://arm/a.stl") == mesh
    nested = put(tmp_path / "repositories" / "hands" / "left" / "h.stl")
    assert Resources(package_dirs=tmp_path / "repositories").find("package://left/h.stl") == nested


def test_environment(tmp_path, monkeypatch):
    ros = put(tmp_path / "ros" / "arm" / "a.stl")
    itself = put(tmp_path / "src" / "hand" / "h.stl")
    ament = put(tmp_path / "install" / "share" / "leg" / "l.stl")
    model = put(tmp_path / "models" / "cup" / "c.stl")
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"{tmp_path / 'ros'}{os.pathsep}{tmp_path / 'src' / 'hand'}")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path / 'nothing'}{os.pathsep}{tmp_path / 'install'}")
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(tmp_path / "models"))
    found = Resources()
    assert found.find("package://arm/a.stl") == ros
    assert found.find("package://hand/h.stl") == itself
    assert found.find("package://leg/l.stl") == ament
    assert found.find("model://cup/c.stl") == model


def test_what_is_named_comes_first_then_the_environment_then_the_surroundings(tmp_path, monkeypatch):
    files = [put(tmp_path / place / "arm" / "a.stl") for place in ("given", "ros", "own")]
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ros"))
    found = Resources(tmp_path / "own" / "arm" / "urdf", tmp_path / "given")
    assert found.find("package://arm/a.stl") == files[0]
    assert Resources(tmp_path / "own" / "arm" / "urdf").find("package://arm/a.stl") == files[1]
    os.remove(files[1])
    assert Resources(tmp_path / "own" / "arm" / "urdf").find("package://arm/a.stl") == files[2], "the first that has it"


def test_nothing_is_looked_for_twice(tmp_path, monkeypatch):
    put(tmp_path / "arm" / "a.stl")
    found = Resources(tmp_path)
    assert found.find("package://arm/a.stl") and found.find("package://arm/b.stl") is None
    monkeypatch.setattr(os.path, "isfile", None)
    monkeypatch.setattr(os.path, "isdir", None)
    assert found.find("package://arm/a.stl") and found.find("package://arm/b.stl") is None


@pytest.mark.parametrize("odd", ["", "package://", "package:///", "://", "file:", "a\0b", "\ud800", "x" * 5000, "%"])
def test_odd_names_are_not_found(odd, tmp_path):
    assert Resources(tmp_path).find(odd) is None


def test_wrong_package_dirs():
    with pytest.raises(kt.ArgumentTypeError, match="package_dirs is 3; expected a folder, or several"):
        kt.load("arm6", package_dirs=3)
    with pytest.raises(kt.ArgumentTypeError, match="package_dirs has 3; expected the path of a folder"):
        kt.load("arm6", package_dirs=[3])
    with pytest.raises(kt.ArgumentError, match="package_dirs has '/nowhere', which is no folder"):
        kt.load("arm6", package_dirs="/nowhere")


# -- through kt.load ------------------------------------------------------------------------------------------------

MESHES = ("package://arm/a.stl", "package://arm/b.stl", "package://leg/l.stl", "package://leg/m.stl", "c.stl")


def robot_with(meshes, folder):
    shapes = "\n".join(f'<visual><geometry><mesh filename="{mesh}"/></geometry></visual>' for mesh in meshes)
    return put(folder / "r.urdf", f'<robot name="r"><link name="a">\n{shapes}</link></robot>')


def test_missing_meshes_are_listed_and_stop_nothing(tmp_path):
    put(tmp_path / "arm" / "a.stl")
    robot = kt.load(robot_with(MESHES, tmp_path))
    paths = [visual.shape.path for visual in robot.model.description.links["a"].visuals]
    assert paths == [str(tmp_path / "arm" / "a.stl"), None, None, None, None]
    assert [str(finding) for finding in robot.check()] == [
        "link 'a' (line 3): mesh 'package://arm/b.stl' was not found",
        "link 'a' (line 6): mesh 'c.stl' was not found",
        "link 'a' (line 4): package 'leg' was not found, and so 2 of its files, the first 'package://leg/l.stl'; "
        "name its folder in package_dirs",
    ]


def test_package_dirs_find_them(tmp_path):
    for mesh in ("arm/a.stl", "arm/b.stl", "leg/l.stl", "leg/m.stl"):
        put(tmp_path / "elsewhere" / mesh)
    put(tmp_path / "here" / "c.stl")
    file = robot_with(MESHES, tmp_path / "here")
    assert kt.load(file, package_dirs=tmp_path / "elsewhere").check() == ()
    by_name = {name: tmp_path / "elsewhere" / name for name in ("arm", "leg")}
    assert kt.load(file, package_dirs=by_name).check() == ()
    assert len(kt.load(file).check()) == 2


def test_no_mesh_is_opened(tmp_path, monkeypatch):
    put(tmp_path / "arm" / "a.stl")
    file = robot_with(["package://arm/a.stl"], tmp_path)
    opened = []
    original = open
    monkeypatch.setattr(
        "builtins.open", lambda path, *rest, **more: opened.append(str(path)) or original(path, *rest, **more)
    )
    kt.load(file)
    assert [path for path in opened if path.endswith(".stl")] == []
    assert file in opened
