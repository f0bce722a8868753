"""Shapes of links: what a file says of them, and where Pinocchio puts them.

Covers: model/loaders/urdf_geometry.py.
"""

import pickle
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree.model.geometry import Box, Capsule, Cylinder, Mesh, Sphere
from peers import close, readable_urdfs, urdf, urdf_files


def shapes(inside, before="", **options):
    robot = kt.load(f'<robot name="r">{before}<link name="a">{inside}</link></robot>', **options)
    return robot, robot.model.description.links["a"]


def visual(geometry, more=""):
    return f"<visual>{more}<geometry>{geometry}</geometry></visual>"


@pytest.mark.parametrize(
    ("written", "shape"),
    [
        ('<box size="1 2 3"/>', Box((1.0, 2.0, 3.0))),
        ('<sphere radius="0.5"/>', Sphere(0.5)),
        ('<cylinder radius="0.5" length="2"/>', Cylinder(0.5, 2.0)),
        ('<capsule radius="0.5" length="2"/>', Capsule(0.5, 2.0)),
        ('<drake:capsule radius="0.5" length="2"/>', Capsule(0.5, 2.0)),
    ],
)
def test_simple_shapes(written, shape):
    robot, link = shapes(visual(written) + f'<collision name="c"><geometry>{written}</geometry></collision>')
    assert [geometry.shape for geometry in link.visuals] == [shape]
    assert [geometry.shape for geometry in link.collisions] == [shape]
    assert (link.visuals[0].name, link.collisions[0].name) == ("", "c")
    assert robot.check() == ()


def test_meshes_are_kept_as_they_are_written():
    robot, link = shapes(visual('<mesh filename="package://arm/a.stl" scale="1 -1 0.001"/>'))
    mesh = link.visuals[0].shape
    assert isinstance(mesh, Mesh)
    assert (mesh.written, mesh.path, mesh.scale) == ("package://arm/a.stl", None, (1.0, -1.0, 0.001))
    assert [str(finding) for finding in robot.check()] == [
        "link 'a' (line 1): package 'arm' was not found, and so its file 'package://arm/a.stl'; "
        "name its folder in package_dirs"
    ]


def test_where_a_shape_is():
    _, link = shapes(visual('<sphere radius="1"/>', '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>'))
    pose = link.visuals[0].placement.pose()
    close(pose[:3, 3], [1.0, 2.0, 3.0], 1e-15)
    close(pose[:3, :3], pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), 1e-14)


# -- materials ------------------------------------------------------------------------------------------------------

BLUE = '<material name="blue"><color rgba="0 0 1 0.5"/></material>'


def test_colours_inline_and_by_name():
    box = '<box size="1 1 1"/>'
    named = '<material name="blue"/>'
    robot, link = shapes(visual(box, BLUE) + visual(box, named))
    assert [geometry.color for geometry in link.visuals] == [(0.0, 0.0, 1.0, 0.5)] * 2
    assert robot.check() == ()
    robot, link = shapes(visual(box, named) + visual(box), before=BLUE)
    assert [geometry.color for geometry in link.visuals] == [(0.0, 0.0, 1.0, 0.5), None]
    own = '<material name="blue"><color rgba="1 0 0 1"/></material>'
    _, link = shapes(visual(box, own), before=BLUE)
    assert link.visuals[0].color == (1.0, 0.0, 0.0, 1.0), "what stands in the shape itself is meant"


def test_materials_that_are_odd():
    box = '<box size="1 1 1"/>'
    robot, link = shapes(visual(box, '<material name="red"/>') * 2)
    assert link.visuals[0].color is None
    (finding,) = robot.check()
    assert str(finding) == "link 'a' (line 1): material 'red' is not defined here or before"
    robot, link = shapes(visual(box, '<material name=""><color rgba="255 -1 0 1"/></material>'))
    assert link.visuals[0].color == (1.0, 0.0, 0.0, 1.0)
    assert "it was clipped to 0 to 1" in str(robot.check()[0])
    robot, link = shapes(visual(box, '<material name="blue"/>'), before=BLUE + BLUE.replace("0.5", "1"))
    assert link.visuals[0].color == (0.0, 0.0, 1.0, 0.5)
    assert "material 'blue' (line 1): it is defined twice; the first counts" in map(str, robot.check())


def test_textures(tmp_path):
    (tmp_path / "wood.png").write_bytes(b"")
    material = '<material name="wood"><texture filename="{}"/></material>'
    sphere = visual('<sphere radius="1"/>', material)
    text = f'<robot name="r"><link name="a">{sphere}</link></robot>'
    file = tmp_path / "r.urdf"
    file.write_text(text.format("wood.png"))
    robot = kt.load(file)
    assert robot.model.description.links["a"].visuals[0].texture == str(tmp_path / "wood.png")
    file.write_text(text.format("stone.png"))
    robot = kt.load(file)
    assert robot.model.description.links["a"].visuals[0].texture is None
    assert [str(finding) for finding in robot.check()] == ["link 'a' (line 1): texture 'stone.png' was not found"]
    file.write_text(text.format(""))
    (finding,) = kt.load(file).check()
    assert "material 'wood' is not defined" in str(finding)


# -- what is suspicious ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inside", "sentence"),
    [
        ("<visual/>", "<visual> has no <geometry>, so it was left out"),
        ("<collision><geometry/></collision>", "<collision> has no shape that is known, so it was left out"),
        (visual("<cone/>"), "<visual> has no shape that is known, so it was left out"),
        (visual('<box size="1 0 1"/>'), "<box> size is zero"),
        (visual('<sphere radius="0"/>'), "<sphere> radius is zero"),
        (visual('<mesh filename="package://a/b" scale="1 0 1"/>'), "<mesh> scale is zero along an axis"),
        (visual('<box size="1 1 1" color="red"/>'), "<box> has color, which was ignored"),
    ],
)
def test_odd_shapes_are_listed(inside, sentence):
    robot, _ = shapes(inside)
    assert any(sentence in str(finding) for finding in robot.check()), robot.check()


def test_shapes_do_not_change_the_dynamics():
    plain = kt.load('<robot name="r"><link name="a"/></robot>')
    robot, link = shapes(visual('<sphere radius="1"/>'))
    assert robot == plain and hash(robot) == hash(plain)
    copied = pickle.loads(pickle.dumps(robot)).model.description.links["a"]
    assert copied.visuals[0].shape == link.visuals[0].shape


# -- real robots ----------------------------------------------------------------------------------------------------

SHAPES = {Box: "box", Sphere: "sphere", Cylinder: "cylinder", Capsule: "capsule", Mesh: "mesh"}


@pytest.mark.filterwarnings("ignore::kinetree.ModelWarning")
@pytest.mark.parametrize("name", readable_urdfs())
def test_every_shape_of_every_file_is_there(name):
    path = urdf_files()[name]
    links = kt.load(path).model.description.links
    for link in ElementTree.parse(path).getroot().findall("link"):
        ours = links[link.get("name")]
        for tag, found in (("visual", ours.visuals), ("collision", ours.collisions)):
            elements = [element for element in link.findall(tag) if len(element.find("geometry"))]
            assert [SHAPES[type(geometry.shape)] for geometry in found] == [e.find("geometry")[0].tag for e in elements]
            for element, geometry in zip(elements, found, strict=True):
                mesh = element.find("geometry/mesh")
                if mesh is not None:
                    assert geometry.shape.written == mesh.get("filename")
                    assert list(geometry.shape.scale) == [float(x) for x in mesh.get("scale", "1 1 1").split()]
                origin = element.find("origin")
                xyz = [0.0] * 3 if origin is None else [float(x) for x in origin.get("xyz", "0 0 0").split()]
                close(geometry.placement.p, xyz, 1e-15)


@pytest.mark.filterwarnings("ignore::kinetree.ModelWarning")
def test_all_meshes_of_the_data_set_are_found_but_those_of_another_machine():
    total, missing = 0, []
    for name in readable_urdfs():
        links = kt.load(urdf_files()[name]).model.description.links.values()
        meshes = [shape.shape for link in links for shape in (*link.visuals, *link.collisions)]
        meshes = [mesh for mesh in meshes if isinstance(mesh, Mesh)]
        total += len(meshes)
        missing += [mesh.written for mesh in meshes if mesh.path is None]
    assert total == 2347
    assert len(missing) == 20
    assert all(written.startswith("file:///usr/Romeo/") for written in missing)


@pytest.mark.parametrize("ending", ["panda_description/panda.urdf", "double_pendulum.urdf", "talos_left_arm.urdf"])
@pytest.mark.sampled(3)
@pytest.mark.sweep
def test_shapes_are_where_pinocchio_has_them(ending):
    """Poses in the world, scales and files of all collision shapes."""
    path = urdf(ending)
    folders = [str(folder) for folder in path.parents if folder.name == "example-robot-data"]
    share = [str(folder.parent) for folder in path.parents if folder.name == "example-robot-data"]
    model = pin.buildModelFromUrdf(str(path))
    peer = pin.buildGeomFromUrdf(model, str(path), pin.GeometryType.COLLISION, package_dirs=share + folders)
    robot = kt.load(path)
    q = robot.random(0)
    data, placed = model.createData(), peer.createData()
    pin.updateGeometryPlacements(model, data, peer, placed, kt.convert(robot, "q", q, to="pinocchio"))
    ours = [
        (robot.frame(name).pose(q) @ geometry.placement.pose(), geometry.shape)
        for name, link in robot.model.description.links.items()
        for geometry in link.collisions
    ]
    theirs = [(placed.oMg[k].homogeneous, theirs) for k, theirs in enumerate(peer.geometryObjects)]
    assert len(ours) == len(theirs) > 0
    for pose, other in theirs:
        near = [shape for our, shape in ours if np.abs(our - pose).max() < 1e-9]
        assert near, other.name
        if not other.meshPath.startswith(("BOX", "CYLINDER", "SPHERE")):
            meshes = [shape for shape in near if isinstance(shape, Mesh)]
            assert (other.meshPath, *other.meshScale) in [(mesh.path, *mesh.scale) for mesh in meshes]
        else:
            assert any(SHAPES[type(shape)].upper() == other.meshPath for shape in near)
