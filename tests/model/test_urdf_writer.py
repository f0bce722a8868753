"""What is written reads as the same robot, here and in Pinocchio.

Covers: model/writers/urdf.py, model/writers/losses.py, robot/writing.py.
"""

import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.geometry.surfaces import surfaces
from kinetree.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Sphere
from kinetree.model.writers.urdf import _parts
from kinetree.spatial import Transform
from kinetree.spatial.rotation import matrix_from_rpy, rpy_from_matrix
from peers import close, pin_from_urdf, readable_urdfs, urdf, urdf_files
from states import state_of

WRITABLE = ("revolute", "continuous", "prismatic", "fixed", "free", "mimic")


def same(robot, again, s):
    assert again.joint_names == robot.joint_names and again.body_names == robot.body_names
    assert set(robot.frame_names) == set(again.frame_names)
    close(again.inverse_dynamics(s.q, s.v, s.a), robot.inverse_dynamics(s.q, s.v, s.a), 1e-12)
    close(again.mass_matrix(s.q), robot.mass_matrix(s.q), 1e-12)
    close(again.poses(s.q), robot.poses(s.q), 1e-12)
    for limit in ("lower", "upper", "velocity", "effort"):
        assert np.array_equal(getattr(again.limits, limit), getattr(robot.limits, limit))


@pytest.mark.parametrize("name", readable_urdfs())
def test_real_robots(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.ModelWarning)
        robot = kt.load(urdf(name)).eager
        again = kt.load(robot.to_urdf()).eager
    same(robot, again, state_of(robot, np.random.default_rng(0)))
    ours, theirs = robot.model.description, again.model.description
    for link, other in zip(ours.links.values(), theirs.links.values(), strict=True):
        assert looks(link.visuals) == looks(other.visuals)
        assert [each[:3] for each in looks(link.collisions)] == [each[:3] for each in looks(other.collisions)]
    for joint in ours.joints.values():
        other = theirs.joints[joint.name]
        assert (joint.dynamics, joint.safety, joint.mimic) == (other.dynamics, other.safety, other.mimic)


def looks(geometries):
    """Of all shapes, a capsule by its parts."""
    return [look(part) for geometry in geometries for part in _parts(geometry)]


def look(geometry):
    """What can be written of a shape; collisions have no colour in URDF."""
    shape, pose = geometry.shape, geometry.placement.pose().round(12) + 0.0
    what = (shape.written, shape.scale) if isinstance(shape, Mesh) else shape
    return what, geometry.name, pose.tolist(), geometry.color


@given(st.integers(0, 2**32 - 1), st.sampled_from(["fixed", "floating"]))
def test_random_trees(seed, base):
    rng = np.random.default_rng(seed)
    robot = kt.Robot(kt.random_model(rng, 7, WRITABLE, base=base)).eager
    same(robot, kt.load(robot.to_urdf(), base).eager, state_of(robot, rng))


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_pinocchio_reads_it_too(seed, floats):
    """Random trees, of which some joints have no limits, some only one, some no speed."""
    rng = np.random.default_rng(seed)
    kinds = ("revolute", "continuous", "prismatic", "fixed", "mimic")
    model = kt.random_model(rng, 7, kinds, base="floating" if floats else "fixed")
    builder = kt.ModelBuilder.of(model.description)
    for name, joint in builder.joints.items():
        lower, upper, velocity, effort = joint.limits
        free = rng.random(4) < 0.4
        limits = (-np.inf if free[0] else lower, np.inf if free[1] else upper)
        speed = np.inf if free[2] else velocity if rng.random() < 0.5 else 0.0
        builder.joints[name] = replace(joint, bounds=(*limits, speed, np.inf if free[3] else effort))
    robot = kt.Robot(builder.build(model.options.base)).eager
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        robot.to_urdf(path)
        peer = pin_from_urdf(robot, path, floats)
        again = kt.load(path, model.options.base).eager
    s = state_of(robot, rng)
    same(robot, again, s)
    T, data = peer.T(s.q), peer.data()
    a = T @ s.a + peer.T_rate(s.q, s.v) @ s.v
    close(robot.inverse_dynamics(s.q, s.v, s.a), T.T @ pin.rnea(peer.model, data, peer.q(s.q), T @ s.v, a))


@pytest.mark.parametrize("name", readable_urdfs())
@pytest.mark.sampled(6)
def test_pinocchio_finds_the_same_robot_in_what_is_written(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.ModelWarning)
        text = kt.load(urdf_files()[name]).to_urdf()
    ours, theirs = pin.buildModelFromXML(text), pin.buildModelFromUrdf(str(urdf_files()[name]))
    assert list(ours.names) == list(theirs.names)
    q, v = pin.neutral(ours), np.random.default_rng(0).normal(size=(2, ours.nv))
    q = pin.integrate(ours, q, v[0])
    results = [pin.rnea(model, model.createData(), q, v[0], v[1]) for model in (ours, theirs)]
    close(*results, 1e-12)


def test_pinocchio_reads_what_mujocos_files_become():
    """Their joints have no limits of speed, and some none at all."""
    robot = kt.load(Path(__file__).parent / "mjcf" / "hand.xml", passive=False)
    model = pin.buildModelFromXML(robot.to_urdf(lossy=True))
    assert set(robot.joint_names) <= set(model.names)


def test_no_limit_is_a_finite_number():
    """urdfdom reads no infinity, and asks for limits of revolute and prismatic joints."""
    builder = kt.ModelBuilder("limits")
    for name in "abcd":
        builder.link(name, kt.Inertia.from_com(1.0, (0.1, 0, 0), np.eye(3)))
    builder.joint("one", "revolute", "a", "b", axis=(0, 0, 1))
    builder.joint("two", "prismatic", "b", "c", axis=(0, 0, 1), lower=0.5, effort=0.0)
    builder.joint("three", "revolute", "c", "d", axis=(0, 0, 1), upper=2.0, velocity=0.0)
    text = kt.Robot(builder.build()).to_urdf()
    assert "inf" not in text
    model, again = pin.buildModelFromXML(text), kt.load(text)
    assert model.lowerPositionLimit.tolist() == [-1e10, 0.5, -1e10] and model.effortLimit.tolist() == [1e10, 0.0, 1e10]
    assert again.limits.lower.tolist() == [-np.inf, 0.5, -np.inf] and again.limits.upper.tolist() == [np.inf, np.inf, 2]
    assert again.limits.velocity.tolist() == [np.inf, np.inf, 0] and again.limits.effort.tolist() == [np.inf, 0, np.inf]
    assert not again.check()
    beyond = kt.load(text.replace("-10000000000", "-1e300", 1))
    assert "its lower limit -1e+300 is out of reach, so it counts as none" in str(beyond.check()[0])
    assert beyond.limits.lower[0] == -np.inf


CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def test_meshes_without_a_file_get_one_beside_the_document(tmp_path):
    X = kt.Transform.from_pose(np.array([[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1.0]]))
    mesh = Mesh(written="assets/wedge.obj", vertices=CORNERS, triangles=FACES, scale=(1.0, 2.0, 3.0))
    robot = pendulum(visuals=[Geometry(mesh, X)], collisions=[Geometry(mesh)])
    with pytest.raises(kt.ModelError, match="the mesh of link 'rod', which has no file and gets one only beside"):
        robot.to_urdf()
    assert "mesh" not in robot.to_urdf(lossy=True)
    (tmp_path / "out").mkdir()
    robot.to_urdf(tmp_path / "out" / "rod.urdf")
    assert [path.name for path in (tmp_path / "out" / "rod_meshes").iterdir()] == ["0_wedge.stl"]
    shape = kt.load(tmp_path / "out" / "rod.urdf").model.description.links["rod"].visuals[0].shape
    found = surfaces(shape)[0].vertices
    assert {tuple(point) for point in found.round(6)} == {tuple(point) for point in CORNERS * (1, 2, 3)}


def test_no_name_has_a_control_character():
    builder = kt.ModelBuilder("one")
    builder.link("a\x01")
    with pytest.raises(kt.ModelError, match="control character"):
        kt.Robot(builder.build()).to_urdf()


def pendulum(dynamics=None, **link):
    builder = kt.ModelBuilder('rod & "ball" <1>')
    builder.link("stand")
    builder.link("rod", kt.Inertia.from_com(1.0, (0, 0, -0.5), np.diag([0.1, 0.1, 0.01])), **link)
    builder.joint("hinge", "revolute", "stand", "rod", axis=(0, 1, 0), dynamics=dynamics or kt.JointDynamics())
    builder.frame("tip", "rod", xyz=(0, 0, -1), rpy=(0.1, np.pi / 2, 0.3))
    return kt.Robot(builder.build())


def test_frames_and_odd_names():
    robot = pendulum()
    again = kt.load(robot.to_urdf())
    assert again.name == robot.name
    close(again.frame("tip").pose([0.3]), robot.frame("tip").pose([0.3]), 1e-15)


def test_what_urdf_cannot_express():
    robot = pendulum(kt.JointDynamics(armature=0.1, stiffness=2.0))
    with pytest.raises(
        kt.ModelError, match=r"cannot express the armature 0.1 of joint 'hinge' \(and 1 more\); lossy=True"
    ):
        robot.to_urdf()
    assert "armature" not in robot.to_urdf(lossy=True)
    with pytest.raises(kt.ModelError, match="cannot express the ellipsoid of link 'rod'"):
        pendulum(visuals=[Geometry(Ellipsoid((0.1, 0.2, 0.3)))]).to_urdf()


def test_a_refused_robot_leaves_the_file_as_it_was(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text("before")
    with pytest.raises(kt.ModelError):
        pendulum(kt.JointDynamics(armature=0.1)).to_urdf(file)
    assert file.read_text() == "before"
    text = pendulum().to_urdf(file)
    assert file.read_text(encoding="utf-8") == text


def test_shapes_are_written():
    shapes = [Box((1, 2, 3)), Sphere(0.5), Cylinder(0.1, 0.2), Capsule(0.1, 0.3), Mesh(written="package://a/b.stl")]
    text = pendulum(visuals=[Geometry(shape, color=(1, 0, 0, 1)) for shape in shapes]).to_urdf()
    for words in (
        '<box size="1 2 3"/>',
        '<sphere radius="0.5"/>',
        '<cylinder radius="0.1" length="0.2"/>',
        '<mesh filename="package://a/b.stl"/>',
        'rgba="1 0 0 1"',
    ):
        assert words in text


def test_urdfdom_reads_all_shapes_of_a_capsule():
    """In a document of version 1.0, urdfdom drops a <capsule>, and all shapes behind it."""
    X = Transform(matrix_from_rpy((0.3, -0.5, 1.0)).T, np.array([0.1, 0.2, 0.3]))
    text = pendulum(visuals=[Geometry(Capsule(0.1, 0.4), X, "rod"), Geometry(Box((1, 2, 3)))]).to_urdf()
    model = pin.buildModelFromXML(text)
    found = pin.buildGeomFromUrdfString(model, text, pin.GeometryType.VISUAL, None, [])
    assert found.ngeoms == 4
    by_kind = {type(each.geometry).__name__: [] for each in found.geometryObjects}
    for each in found.geometryObjects:
        by_kind[type(each.geometry).__name__].append(each)
    assert {kind: len(each) for kind, each in by_kind.items()} == {"Cylinder": 1, "Sphere": 2, "Box": 1}
    (middle,) = by_kind["Cylinder"]
    along = middle.placement.rotation[:, 2]
    ends = [each.placement.translation - middle.placement.translation for each in by_kind["Sphere"]]
    close(np.array(ends), np.array([0.2 * along, -0.2 * along]), 1e-12)
    close(middle.placement.rotation, X.R.T, 1e-12)
    visuals = kt.load(text).model.description.links["rod"].visuals
    assert [each.name for each in visuals] == ["rod", "rod_top", "rod_bottom", ""]


@given(st.tuples(*[st.floats(-4, 4)] * 3), st.sampled_from([None, np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, np.pi]))
def test_angles_give_back_their_matrix(rpy, pitch):
    R = matrix_from_rpy((rpy[0], rpy[1] if pitch is None else pitch, rpy[2]))
    assert np.abs(matrix_from_rpy(rpy_from_matrix(R)) - R).max() < 1e-15


def test_a_universal_joint_is_written_as_two_revolute_ones():
    builder = kt.ModelBuilder("cardan")
    for name in ("a", "b", "c"):
        builder.link(name, kt.Inertia.from_com(1.0, (0.1, 0.2, 0.3), np.eye(3)))
    cross = {"axis": (1, 0, 0), "axis2": (0, 0.6, 0.8), "lower": (-1, -2), "upper": (2, 1), "velocity": (3, 4)}
    dynamics = kt.JointDynamics(damping=(0.1, 0.2))
    builder.joint("cross", "universal", "a", "b", xyz=(0.1, 0, 0), rpy=(0.3, 0, 0), dynamics=dynamics, **cross)
    builder.joint("plate", "planar", "b", "c", axis=(0, 0.6, 0.8), velocity=5.0)
    robot = kt.Robot(builder.build())
    again = kt.load(robot.to_urdf())
    assert again.joint_names == ("cross", "cross_2", "plate") and 'damping="0.2"' in robot.to_urdf()
    q, v = robot.random(0), np.arange(5.0)
    close(again.poses(q)[1:], robot.poses(q), 1e-14)
    close(again.bias_forces(q, v), robot.bias_forces(q, v), 1e-13)
    for limit in ("lower", "upper", "velocity", "effort"):
        assert np.array_equal(getattr(again.limits, limit), getattr(robot.limits, limit))


@pytest.mark.parametrize(
    ("kind", "options", "sentence"),
    [
        ("spherical", {}, "joint 'j' is spherical, which URDF cannot express"),
        ("helical", {"pitch": 0.1}, "joint 'j' is helical, which URDF cannot express"),
        ("planar", {"upper": (1, 2, 3)}, "cannot express the position limits of joint 'j'; lossy=True leaves it out"),
        ("planar", {"effort": (1, 2, 3)}, "cannot express the effort limit of each coordinate of joint 'j'"),
        ("planar", {"dynamics": kt.JointDynamics(damping=(1, 2, 3))}, "cannot express the damping of each coordinate"),
        ("planar", {"dynamics": kt.JointDynamics(stiffness=(1, 2, 3))}, "cannot express the stiffness 1 2 3 of joint"),
    ],
)
def test_joints_that_urdf_has_no_words_for(kind, options, sentence):
    builder = kt.ModelBuilder("one")
    builder.link("a")
    builder.link("b", kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3)))
    builder.joint("j", kind, "a", "b", **options)
    with pytest.raises(kt.ModelError, match=sentence):
        kt.Robot(builder.build()).to_urdf()
