"""Robots written as MJCF: read again they are the same, and MuJoCo finds the same dynamics.

Covers: model/writers/mjcf.py, model/writers/mjcf_geometry.py, model/writers/mjcf_inertia.py,
model/writers/mesh_points.py.
"""

import re
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Sphere
from kinetree.model.loaders import document
from kinetree.model.writers.mjcf import mjcf, renamed_links
from mujoco_peer import MujocoPeer
from peers import close, readable_urdfs, urdf, urdf_files

FOLDER = Path(__file__).parent / "mjcf"
WRITABLE = ("revolute", "continuous", "prismatic", "universal", "planar", "spherical", "fixed")
SINGLE = ("revolute", "continuous", "prismatic", "fixed")
NOT_A_BODY = {"romeo_description/romeo_laas_small.urdf", "romeo_description/romeo_small.urdf"}
"""Their inertias no rigid body can have, which MuJoCo does not take."""


def same(robot, again, seed=0, tolerance=1e-12):
    rng = np.random.default_rng(seed)
    assert (again.nq, again.nv) == (robot.nq, robot.nv)
    q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    for name, arguments in (
        ("mass_matrix", (q,)),
        ("inverse_dynamics", (q, v, a)),
        ("bias_forces", (q, v)),
        ("gravity_forces", (q,)),
        ("potential_energy", (q,)),
    ):
        close(getattr(again.eager, name)(*arguments), getattr(robot.eager, name)(*arguments), tolerance)
    renamed = renamed_links(robot.model)
    for frame in robot.frame_names:
        close(again.eager.frame(renamed.get(frame, frame)).pose(q), robot.eager.frame(frame).pose(q), tolerance)
    close(again.mass, robot.mass, tolerance)


def reloaded(robot, **options):
    return kt.load(robot.to_mjcf(), robot.model.options.base, **options)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["fixed", "floating"]), st.booleans())
def test_random_trees(seed, base, joint_dynamics):
    rng = np.random.default_rng(seed)
    kinds = (*SINGLE, "planar", "universal") if joint_dynamics else WRITABLE
    model = kt.random_model(rng, int(rng.integers(1, 9)), kinds, base=base, joint_dynamics=joint_dynamics)
    robot = kt.Robot(model)
    again = reloaded(robot)
    same(robot, again, seed)
    np.testing.assert_array_equal(again.limits.lower, robot.limits.lower)
    np.testing.assert_array_equal(again.limits.upper, robot.limits.upper)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["fixed", "floating"]))
def test_mujoco_agrees_with_what_was_written(seed, base):
    rng = np.random.default_rng(seed)
    robot = kt.Robot(kt.random_model(rng, 6, SINGLE, base=base, joint_dynamics=True, gravity=(0.5, -1.0, 2.0)))
    peer = MujocoPeer(robot, mujoco.MjModel.from_xml_string(robot.to_mjcf()))
    q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    peer.set(q, v, a)
    close(robot.eager.inverse_dynamics(q, v, a), peer.inverse_dynamics())
    close(robot.eager.frame("tool").pose(q)[:3, 3], peer.data.site("tool").xpos)


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("name", [name for name in readable_urdfs() if name not in NOT_A_BODY])
@pytest.mark.sampled(3)
def test_real_robots(name, base):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.ModelWarning)
        robot = kt.load(urdf_files()[name], base)
        text = mjcf(robot.model, lossy=True)  # without shapes that MuJoCo cannot read
    same(robot, kt.load(text, base))


@pytest.mark.parametrize("file", ["every_joint.xml", "hand.xml", "walker.xml"])
def test_files_of_mujocos(file):
    robot = kt.load(FOLDER / file)
    again = reloaded(robot)
    rng = np.random.default_rng(0)
    q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    close(again.eager.inverse_dynamics(q, v, a), robot.eager.inverse_dynamics(q, v, a), 1e-12)
    close(again.eager.mass_matrix(q), robot.eager.mass_matrix(q), 1e-12)
    assert again.joint_names == robot.joint_names
    for name, link in robot.model.description.links.items():
        written = again.model.description.links[name]
        for side in ("visuals", "collisions"):
            shapes = [type(g.shape) for g in getattr(link, side)]
            assert [type(g.shape) for g in getattr(written, side)] == shapes
    same_effort = np.where(np.isinf(robot.limits.effort), -1, robot.limits.effort)
    close(np.where(np.isinf(again.limits.effort), -1, again.limits.effort), same_effort, 1e-15)


def test_mimic_joints_come_back_as_mimic_joints():
    robot = kt.Robot(kt.random_model(11, 8, ("revolute", "prismatic", "mimic"), joint_dynamics=True))
    followers = [joint for joint in robot.model.joints if getattr(joint, "leader", None)]
    assert followers
    again = reloaded(robot)
    assert {joint.name: (joint.leader, joint.ratio, joint.offset) for joint in followers} == {
        joint.name: (joint.leader, joint.ratio, joint.offset)
        for joint in again.model.joints
        if getattr(joint, "leader", None)
    }
    same(robot, again)


def test_what_mimics_a_fixed_joint_is_written_where_it_stands():
    builder = kt.ModelBuilder("frozen")
    for name in ("base", "a", "b", "c"):
        builder.link(name, kt.Inertia.from_com(1.0, (0.1, 0, 0), np.eye(3)))
    builder.joint("hold", "fixed", "base", "a")
    builder.joint("follow", "revolute", "a", "b", mimic=kt.Mimic("hold", 1.0, 0.7))
    builder.joint("turn", "revolute", "b", "c", xyz=(1, 0, 0), lower=0.3, upper=0.3)
    robot = kt.Robot(builder.build())
    again = reloaded(robot)
    same(robot, again)
    assert again.joint_names == ("turn",) and again.limits.lower == [0.3]
    close(again.limits.upper, [0.3], 1e-15)


def test_passive_forces_that_are_off_stay_off():
    model = kt.random_model(3, 5, SINGLE, joint_dynamics=True)
    off = kt.Robot(kt.ModelBuilder.of(model.description).build(passive=False))
    again = reloaded(off)
    same(off, again)
    assert not again.model.passive
    on = kt.load(off.to_mjcf(), passive=True)
    same(kt.Robot(model), on)


def test_point_masses_rods_and_links_without_mass():
    """MuJoCo moves nothing without inertia; what is added is below the last digit."""
    builder = kt.ModelBuilder("bare")
    builder.link("base")
    builder.link("massless")
    builder.link("rod", kt.Inertia.from_com(1.0, (0, 0, 0.5), np.diag([1 / 12, 1 / 12, 0.0])))
    builder.link("point", kt.Inertia.from_com(2.0, (0.1, 0.2, 0.3), np.zeros((3, 3))))
    builder.link("handle")
    builder.link("head", kt.Inertia.from_com(0.5, (0, 0, 0), np.diag([0.1, 0.2, 0.3])))
    builder.joint("one", "revolute", "base", "massless", axis=(1, 0, 0))
    builder.joint("two", "revolute", "massless", "rod", axis=(0, 1, 0))
    builder.joint("three", "prismatic", "rod", "point", axis=(0, 0, 1), lower=0.0)
    builder.joint("four", "revolute", "rod", "handle", axis=(0, 0, 1))
    builder.joint("weld", "fixed", "handle", "head", xyz=(0, 0, 0.1))
    robot = kt.Robot(builder.build())
    again = reloaded(robot)
    same(robot, again)
    assert again.limits.lower[2] == 0.0 and again.limits.upper[2] == np.inf
    assert again.model.description.links["handle"].inertia.mass == 0.0
    assert 0.0 < again.model.description.links["massless"].inertia.mass < 1e-14


def test_links_lend_each_other_what_no_body_could_have_alone():
    builder = kt.ModelBuilder("lent")
    builder.link("base")
    builder.link("a", kt.Inertia.from_com(3.0, (0, 0, 0), np.diag([1.0, 1.0, 1.0])))
    builder.link("b", kt.Inertia.from_com(1.0, (0, 0, 0), np.diag([0.1, 0.1, 0.5])))
    builder.joint("turn", "revolute", "base", "a")
    builder.joint("weld", "fixed", "a", "b", xyz=(0, 0, 1), rpy=(1, 2, 3))
    robot = kt.Robot(builder.build())
    same(robot, reloaded(robot))
    assert robot.check()


def test_shapes(tmp_path):
    shapes = [Box((1, 2, 3)), Sphere(0.5), Ellipsoid((1, 2, 3)), Cylinder(0.1, 2.0), Capsule(0.2, 3.0)]
    X = kt.Transform.from_pose(np.array([[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1.0]]))
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    stl = tmp_path / "m.stl"
    body = b"".join(bytes(12) + corners[face].astype("<f4").tobytes() + bytes(2) for face in faces)
    stl.write_bytes(bytes(80) + len(faces).to_bytes(4, "little") + body)
    shapes += [Mesh(vertices=corners, triangles=faces), Mesh(path=str(stl), scale=(1.0, 2.0, 3.0))]
    visuals = [Geometry(shape, X, name="same", color=(0.1, 0.2, 0.3, 0.4)) for shape in shapes]
    both = Geometry(Sphere(0.3))
    builder = kt.ModelBuilder("shapes")
    builder.link("base", visuals=[Geometry(Plane((1.0, 2.0)))])
    builder.link("a", kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3)), visuals=[*visuals, both], collisions=[both])
    builder.joint("turn", "revolute", "base", "a")
    robot = kt.Robot(builder.build())
    (tmp_path / "out").mkdir()
    path = tmp_path / "out" / "shapes.xml"
    assert robot.to_mjcf(path) == path.read_text() and 'file="../m.stl"' in path.read_text()
    again = kt.load(path)
    same(robot, again)
    links = again.model.description.links
    assert links["base"].visuals[0].shape == Plane((1.0, 2.0))
    back = links["a"].visuals
    assert [g.shape for g in back[:5]] == shapes[:5] and len(back) == 8
    assert links["a"].collisions == (back[7],)
    assert all(np.allclose(g.color, (0.1, 0.2, 0.3, 0.4), atol=1e-7) for g in back[:7])
    for g in back[:5]:
        close(g.placement.pose(), X.pose(), 1e-15)
    for g, scale in ((back[5], (1, 1, 1)), (back[6], (1, 2, 3))):
        placed = g.shape.vertices @ g.placement.R + g.placement.p
        expected = (corners * scale) @ X.R + X.p
        close(sorted(placed.round(5).tolist()), sorted(expected.tolist()), 1e-5)


def build(*, kind="revolute", base="fixed", root="base", inertia=None, dynamics=None, **options):
    builder = kt.ModelBuilder("odd")
    builder.link(root)
    mass = kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3))
    builder.link("a", mass if inertia is None else inertia, **options.pop("link", {}))
    builder.joint("j", kind, root, "a", dynamics=dynamics or kt.JointDynamics(), **options)
    return kt.Robot(builder.build(base))


REFUSED = {
    "helical": (dict(kind="helical", pitch=0.1), "joint 'j' is helical, which MJCF cannot express"),
    "free elsewhere": (dict(kind="free", xyz=(1, 0, 0)), "free joint 'j' is not at the origin of the world"),
    "free below a base": (dict(kind="free", base="floating"), "free joint 'j' is not at the origin of the world"),
    "triangle": (
        dict(inertia=kt.Inertia.from_com(1.0, (0, 0, 0), np.diag([1.0, 1.0, 3.0]))),
        "cannot express the principal moments 1, 1, 3 kg m², which break the triangle inequality, of link 'a'",
    ),
    "negative": (
        dict(inertia=kt.Inertia.from_com(1.0, (0, 0, 0), np.diag([-1.0, 1.0, 1.0]))),
        "cannot express the negative principal moment -1 kg m² of link 'a'",
    ),
    "rest of a ball": (
        dict(kind="spherical", dynamics=kt.JointDynamics(stiffness=1.0, rest=(0.1, 0, 0))),
        "cannot express the rest [0.1, 0.0, 0.0] of joint 'j', which is spherical",
    ),
    "spring of a free joint": (
        dict(kind="free", dynamics=kt.JointDynamics(stiffness=1.0)),
        "the stiffness [1.0, 1.0, 1.0, 1.0, 1.0, 1.0] of joint 'j', which is free",
    ),
    "moving plane": (dict(link={"visuals": [Geometry(Plane())]}), "cannot express the plane of link 'a'"),
    "missing mesh": (
        dict(link={"visuals": [Geometry(Mesh(path="no.stl"))]}),
        "cannot express the mesh 'no.stl' of link 'a'",
    ),
    "collada": (
        dict(link={"visuals": [Geometry(Mesh(written="package://a/m.dae"))]}),
        "cannot express the mesh 'package://a/m.dae' of link 'a'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_mjcf_cannot_say_is_refused(case, tmp_path):
    options, sentence = REFUSED[case]
    robot = build(**options)
    with pytest.raises(kt.ModelError, match=re.escape(sentence)):
        robot.to_mjcf(tmp_path / "out.xml")
    assert not list(tmp_path.iterdir())
    if "lossy" in sentence or "cannot express the" in sentence or "which is free" in sentence:
        assert reloaded_lossy(robot).nv == robot.nv


def reloaded_lossy(robot):
    return kt.load(robot.to_mjcf(lossy=True), robot.model.options.base)


def test_free_bodies_at_the_origin_and_their_dynamics():
    robot = build(kind="free", dynamics=kt.JointDynamics(damping=0.5, armature=0.3, friction=0.1))
    same(robot, reloaded(robot))


def test_the_dynamics_of_a_floating_base():
    text = """<mujoco><worldbody><body name="b"><joint type="free" armature="0.3" damping="2"/><geom size="0.1"/></body>
      </worldbody></mujoco>"""
    robot = kt.load(text, "floating")
    assert robot.model.floating_base.dynamics == kt.JointDynamics(armature=0.3, damping=2.0)
    same(robot, reloaded(robot))
    same(kt.edit.merge_fixed(robot), robot)
    with pytest.raises(kt.ModelError, match="URDF cannot express armature, damping or friction of the floating base"):
        robot.to_urdf()


def test_names_that_xml_would_mistake():
    builder = kt.ModelBuilder('a "model" <of> & names')
    builder.link('ba"se')
    builder.link("l<i>nk & co", kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3)))
    builder.joint("jöint's", "revolute", 'ba"se', "l<i>nk & co")
    robot = kt.Robot(builder.build())
    again = reloaded(robot)
    assert again.name == robot.name and again.joint_names == robot.joint_names
    assert set(robot.frame_names) < set(again.frame_names)
    builder.frame("line\x01", 'ba"se')
    with pytest.raises(kt.ModelError, match="control character"):
        kt.Robot(builder.build()).to_mjcf()


def test_no_moving_mass_is_negligible_in_real_robots():
    """What MuJoCo needs is written only where the file has nothing."""
    robot = kt.load(urdf("ur5_robot.urdf"))
    assert "2e-15" not in robot.to_mjcf(lossy=True)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_a_moving_link_called_world_gets_another_name(base):
    options = dict(root="world", base="floating") if base == "floating" else dict(root="base")
    robot = build(**options) if base == "floating" else kt.edit.rename(build(), links={"a": "world"})
    with pytest.warns(kt.ModelWarning, match="link 'world' is written as 'world_link'"):
        text = robot.to_mjcf()
    again = kt.load(text, base)
    same(robot, again)
    assert "world_link" in again.body_names


def test_a_root_called_world_is_the_world():
    robot = build(root="world")
    assert renamed_links(robot.model) == {} and reloaded(robot).frame_names == robot.frame_names


SIZELESS = [Box((0.0, 1.0, 0.0)), Sphere(0.0), Ellipsoid((0.0, 0.0, 0.0)), Cylinder(0.0, 0.0), Capsule(0.1, 0.0)]


def test_mujoco_takes_shapes_without_size():
    shapes = [Geometry(shape) for shape in SIZELESS]
    robot = build(link={"visuals": shapes, "collisions": shapes})
    mujoco.MjModel.from_xml_string(robot.to_mjcf())
    same(robot, reloaded(robot))


PLANE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]])
TWO = np.array([[0, 1, 2], [0, 2, 3]])


@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2, 3]))
def test_mujoco_takes_meshes_of_any_dimension(seed, dimension):
    """Flat ones are seen and not felt; those without area are left out. Turned and moved, they are flat to rounding."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(6, 3)) * (np.arange(3) < dimension)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    faces = np.array([[0, 1, 2], [2, 3, 4], [3, 4, 5], [5, 0, 1]])
    mesh = Mesh(vertices=points @ R + rng.normal(size=3), triangles=faces)
    seen = build(link={"visuals": [Geometry(mesh)]})
    felt = build(link={"collisions": [Geometry(mesh)]})
    for robot, least, sentence in ((seen, 2, "the mesh of link 'a'"), (felt, 3, "mesh of link 'a'")):
        if dimension < least:
            with pytest.raises(kt.ModelError, match=sentence):
                robot.to_mjcf()
        model = mujoco.MjModel.from_xml_string(robot.to_mjcf(lossy=dimension < least))
        assert model.ngeom == (dimension >= 2)
        assert dimension < 2 or bool(model.geom_contype[0]) == (robot is felt and dimension == 3)


def test_mesh_files_that_mujoco_would_refuse(tmp_path):
    """A flat STL that collides, one that is cut short, an OBJ with three corners, and COLLADA, which is converted."""

    def stl(name, corners, faces, cut=0):
        body = b"".join(bytes(12) + corners[face].astype("<f4").tobytes() + bytes(2) for face in faces)
        content = bytes(80) + len(faces).to_bytes(4, "little") + body
        (tmp_path / name).write_bytes(content[: len(content) - cut])

    stl("flat.stl", PLANE, TWO)
    stl("cut.stl", PLANE, TWO, cut=7)
    (tmp_path / "three.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    for name in ("flat.stl", "cut.stl", "three.obj"):
        robot = build(link={"collisions": [Geometry(Mesh(path=str(tmp_path / name)))]})
        with pytest.raises(kt.ModelError, match=f"mesh '.*{name}' of link 'a'"):
            robot.to_mjcf()
        mujoco.MjModel.from_xml_string(robot.to_mjcf(lossy=True))


def test_other_mesh_files_are_converted(tmp_path):
    pytest.importorskip("trimesh")
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    lines = [" ".join(map(str, corner)) for corner in corners]
    lines += [f"3 {a} {b} {c}" for a, b, c in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))]
    header = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
    header += "element face 4\nproperty list uchar int vertex_indices\nend_header\n"
    (tmp_path / "wedge.ply").write_text(header + "\n".join(lines) + "\n")
    mesh = Mesh(path=str(tmp_path / "wedge.ply"), scale=(1.0, 2.0, 3.0))
    robot = build(link={"visuals": [Geometry(mesh)]})
    (shown,) = kt.load(robot.to_mjcf()).model.description.links["a"].visuals
    placed = shown.shape.vertices @ shown.placement.R + shown.placement.p
    close(sorted(placed.round(5).tolist()), sorted((corners * (1, 2, 3)).tolist()), 1e-5)


def test_an_effort_of_zero_stays_zero():
    robot = build(effort=0.0)
    again = reloaded(robot)
    assert again.limits.effort.tolist() == [0.0]
    assert reloaded(build(effort=np.inf)).limits.effort.tolist() == [np.inf]


def test_chains_as_deep_as_mujoco_reads():
    def chain(length):
        builder = kt.ModelBuilder("chain")
        builder.link("l0")
        for k in range(1, length + 1):
            builder.link(f"l{k}", kt.Inertia.from_com(1.0, (0, 0, 0.1), np.eye(3)))
            builder.joint(f"j{k}", "revolute", f"l{k - 1}", f"l{k}", xyz=(0, 0, 0.1), axis=(1, 0, 0))
        return kt.Robot(builder.build())

    assert mujoco.MjModel.from_xml_string(chain(494).to_mjcf()).nv == 494
    with pytest.raises(kt.ModelError, match="link 'l495' cannot be written: more than 495 bodies hang on each other"):
        chain(495).to_mjcf()


def test_a_file_with_large_meshes_in_it_is_read_again(tmp_path, monkeypatch):
    """Meshes stand in the document number by number: MJCF may have more bytes than URDF."""
    monkeypatch.setattr(document, "MOST_BYTES", 1000)
    robot = build()
    robot.to_mjcf(tmp_path / "a.xml")
    (tmp_path / "a.xml").write_text((tmp_path / "a.xml").read_text() + "<!--" + " " * 2000 + "-->")
    same(robot, kt.load(tmp_path / "a.xml"))
