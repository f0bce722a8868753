"""MJCF beside MuJoCo itself: every joint type, several joints of one body, anchors, references, springs, mimics.

Covers: model/loaders/mjcf.py, model/loaders/mujoco_effort.py, model/loaders/mujoco_geometry.py,
model/loaders/mujoco_leftovers.py, model/loaders/mujoco_tree.py, robot/load.py.
"""

import subprocess
import sys
import textwrap
from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from mujoco_peer import MujocoPeer
from peers import close

FOLDER = Path(__file__).parent / "mjcf"
FILES = ("every_joint.xml", "hand.xml", "walker.xml")


def agree(robot, model, rng, tolerance=1e-9):
    """Every quantity at a random state; bodies and sites wherever both have them."""
    peer = MujocoPeer(robot, model)
    q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    peer.set(q, v, a)
    at = robot.eager
    close(at.mass_matrix(q), peer.mass_matrix(), tolerance)
    close(at.bias_forces(q, v), peer.bias_forces(), tolerance)
    bare = kt.Robot(kt.ModelBuilder.of(robot.model.description).build(**options_of(robot), passive=False)).eager
    passive = at.inverse_dynamics(q, v, a) - bare.inverse_dynamics(q, v, a)
    close(passive, peer.passive_forces(), tolerance)
    close(at.inverse_dynamics(q, v, a), peer.inverse_dynamics(), tolerance)
    for kind, count in (("body", model.nbody), ("site", model.nsite), ("cam", model.ncam)):
        for i in range(count):
            name = getattr(model, kind)(i).name
            if name not in robot.frame_names:
                continue
            there = getattr(peer.data, kind)(i)
            pose = at.frame(name).pose(q)
            close(pose[:3, 3], there.xpos, tolerance)
            close(pose[:3, :3], there.xmat.reshape(3, 3), tolerance)


def options_of(robot):
    return {"base": robot.model.options.base, "gravity": robot.gravity}


@pytest.mark.parametrize("file", FILES)
def test_agrees_with_mujoco(file):
    rng = np.random.default_rng(len(file))
    robot, model = kt.load(FOLDER / file), mujoco.MjModel.from_xml_path(str(FOLDER / file))
    close(robot.gravity, model.opt.gravity, 0.0)
    for _ in range(3):
        agree(robot, model, rng)


@pytest.mark.parametrize("file", FILES)
def test_links_are_the_bodies_of_the_file(file):
    robot, model = kt.load(FOLDER / file), mujoco.MjModel.from_xml_path(str(FOLDER / file))
    links = robot.model.description.links
    for i in range(model.nbody):
        name = model.body(i).name or f"body{i}"
        close(links[name].inertia.mass, model.body_mass[i], 1e-15)
        close(links[name].inertia.com, model.body_ipos[i] if model.body_mass[i] else np.zeros(3), 1e-12)
    assert robot.model.names[0] == "world" == robot.frame_names[0]


def test_compiled_as_by_the_textbook():
    robot, rng = kt.load(FOLDER / "every_joint.xml"), np.random.default_rng(3)
    q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    close(robot.inverse_dynamics(q, v, a), robot.eager.inverse_dynamics(q, v, a), 1e-11)


# -- random files ----------------------------------------------------------------------------------------------


def random_mjcf(rng):
    """Trees with up to three joints per body, anchors, references, springs and rotors."""
    model = mujoco.MjSpec()
    model.option.gravity = rng.normal(size=3)
    bodies = [model.worldbody]
    for i in range(int(rng.integers(1, 6))):
        parent = bodies[int(rng.integers(len(bodies)))]
        body = parent.add_body(name=f"b{i}", pos=rng.normal(size=3), quat=normalized(rng.normal(size=4)))
        bodies.append(body)
        body.mass, body.ipos, body.iquat = rng.uniform(0.5, 2), rng.normal(size=3) / 5, normalized(rng.normal(size=4))
        body.inertia, body.explicitinertial = rng.uniform(0.1, 0.15, size=3), True
        body.add_site(name=f"s{i}", pos=rng.normal(size=3), quat=normalized(rng.normal(size=4)))
        if parent is model.worldbody and rng.random() < 0.3:
            body.add_joint(name=f"b{i}f", type=mujoco.mjtJoint.mjJNT_FREE)
            continue
        types = list(rng.choice([2, 3], size=rng.integers(0, 4)))
        if len(types) < 3 and 3 not in types and rng.random() < 0.3:
            types.append(1)  # a ball goes last, and not after a hinge
        for k, kind in enumerate(types):
            body.add_joint(
                name=f"b{i}j{k}",
                type=mujoco.mjtJoint(int(kind)),
                axis=rng.normal(size=3),
                pos=rng.normal(size=3) * (rng.random() < 0.6),
                ref=rng.normal() * (rng.random() < 0.5),
                springref=rng.normal(),
                stiffness=vector(model, rng.uniform()),
                damping=vector(model, rng.uniform()),
                armature=rng.uniform(),
                frictionloss=rng.uniform(),
            )
    return model.compile()


def vector(model, value):
    """Newer versions take polynomials of damping and stiffness."""
    return np.array([value, 0.0, 0.0]) if np.ndim(model.default.joint.damping) else value


def normalized(x):
    return x / np.linalg.norm(x)


@given(st.integers(0, 2**32 - 1))
def test_random_models_agree_with_mujoco(seed):
    rng = np.random.default_rng(seed)
    model = random_mjcf(rng)
    agree(kt.load(model), model, rng)


# -- what a file says ------------------------------------------------------------------------------------------


def test_names_limits_and_frames():
    robot = kt.load(FOLDER / "every_joint.xml")
    assert robot.name == "every joint"
    names = ("turn", "slide", "twist", "push", "bend", "socket", "east", "socket2", "body6_hinge", "loose_free", "wag")
    assert robot.joint_names == names
    assert robot.body_names[:4] == ("arm/turn", "slider/slide", "slider/twist", "slider/push")
    assert {"world", "table", "arm", "corner", "elbow", "eye"} <= set(robot.frame_names)
    close(robot.limits.lower[:2], [np.radians(-90), -0.2], 1e-15)
    close(robot.limits.upper[:2], [np.radians(120), 0.4], 1e-15)
    assert np.isinf(robot.limits.upper[2:]).all() and np.isinf(robot.limits.velocity).all()
    assert list(robot.limits.effort[:2]) == [6.0, 40.0] and np.isinf(robot.limits.effort[2:]).all()
    kinds = [joint.kind for joint in robot.model.description.joints.values() if joint.name in names]
    assert kinds.count("spherical") == 2 and kinds.count("free") == 1 and kinds.count("prismatic") == 3
    found = "\n".join(map(str, robot.check()))
    assert len(robot.actuators) == 3 and "<light>: 1 element was ignored" in found


def test_shapes_and_colors():
    links = kt.load(FOLDER / "every_joint.xml").model.description.links
    (plane,) = links["world"].visuals
    assert isinstance(plane.shape, Plane) and plane.shape.half_size is None and plane.name == "floor"
    (capsule,) = links["arm"].visuals
    assert isinstance(capsule.shape, Capsule) and capsule.color == (0.0, 0.0, 1.0, 0.5)
    close(capsule.shape.length, np.hypot(0.3, 0.1), 1e-12)
    assert links["table"].visuals[0].shape == Box((0.4, 0.4, 0.4))
    assert links["plate"].visuals[0].shape == Sphere(0.1)
    mesh, paint = links["slider"].visuals  # the shell is in a hidden group, the paint does not collide
    assert [type(g.shape) for g in links["slider"].collisions] == [Mesh, Cylinder]
    assert paint.shape == Ellipsoid((0.05, 0.1, 0.02)) and mesh is links["slider"].collisions[0]
    corners = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.4, 0], [0, 0, 0.1]])
    turn = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])  # the geom's euler="0 90 0"
    placed = mesh.shape.vertices @ mesh.placement.R + mesh.placement.p
    close(placed, corners @ turn.T + [0.1, 0, 0], 1e-6)
    assert mesh.shape.triangles.max() == 3


def test_equalities_of_joints_are_mimics():
    robot = kt.load(FOLDER / "hand.xml")
    assert robot.joint_names == ("knuckle", "thumb")
    middle, tip = robot.model.joints[2:4]
    assert (middle.ratio, tip.ratio) == (0.8, pytest.approx(-1.2))
    assert middle.offset == pytest.approx(0.1 + 0.05 - 0.8 * 0.2)
    assert tip.offset == pytest.approx(-1.5 * (middle.offset - 0.1))
    assert list(robot.limits.effort) == [np.inf, 5.0]
    found = "\n".join(map(str, robot.check()))
    curved, circle = robot.loops
    assert (curved.joint, curved.leader) == ("thumb", "knuckle") and len(curved.coefficients) == 3
    assert (circle.joint, circle.leader) == ("knuckle", "tip")
    assert "loop: it was left out: no joint moves 'glue_1' and 'glue_2'" in found
    assert "its range -2 to 5 is not symmetric" in found


def test_a_file_a_document_and_a_live_model_are_the_same(tmp_path):
    path = FOLDER / "walker.xml"
    assert kt.load(path) == kt.load(str(path)) == kt.load(path.read_text())
    assert kt.load(path) == kt.load(mujoco.MjModel.from_xml_path(str(path)))
    spec = mujoco.MjSpec.from_file(str(path))
    spec.body("left_shin").add_site(name="left_foot", pos=[0, 0, -0.4])
    edited = kt.load(spec.compile(), base="floating")
    assert "left_foot" in edited.frame_names
    unnamed = tmp_path / "box.xml"
    unnamed.write_text("\ufeff<!-- a -- comment --><mujoco><worldbody/></mujoco>")
    assert kt.load(unnamed).name == "box" and kt.load("<mujoco/>").name == "robot"


def test_includes_and_meshes_are_found_beside_the_file(tmp_path, monkeypatch):
    (tmp_path / "meshes").mkdir()
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype="<f4")
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    body = b"".join(bytes(12) + corners[list(face)].tobytes() + bytes(2) for face in faces)
    (tmp_path / "meshes" / "m.stl").write_bytes(bytes(80) + len(faces).to_bytes(4, "little") + body)
    (tmp_path / "parts.xml").write_text(
        '<mujocoinclude><asset><mesh name="m" file="m.stl"/></asset><worldbody><body name="b"><freejoint name="f"/>'
        '<geom type="mesh" mesh="m" density="6"/></body></worldbody></mujocoinclude>'
    )
    (tmp_path / "main.xml").write_text(
        '<mujoco><compiler meshdir="meshes"/><worldbody/><include file="parts.xml"/></mujoco>'
    )
    monkeypatch.chdir("/")
    robot = kt.load(tmp_path / "main.xml")
    assert robot.mass == pytest.approx(1.0) and robot.joint_names == ("f",)
    (geometry,) = robot.model.description.links["b"].visuals
    assert geometry.shape.written.endswith("m.stl")
    placed = geometry.shape.vertices @ geometry.placement.R + geometry.placement.p
    close(sorted(placed.round(6).tolist()), sorted(corners.tolist()))


# -- the base --------------------------------------------------------------------------------------------------


def test_a_free_body_is_a_joint_of_the_tree_or_the_floating_base():
    path = FOLDER / "walker.xml"
    tree, floating = kt.load(path), kt.load(path, base="floating")
    assert tree.joint_names == ("root", *floating.joint_names)
    assert floating.body_names[0] == floating.frame_names[0] == "torso"
    assert (tree.nq, tree.nv, tree.mass) == (floating.nq, floating.nv, floating.mass)
    assert floating.model.floating_base is not None and tree.model.floating_base is None
    rng = np.random.default_rng(0)
    q, v, a = tree.random(rng), rng.normal(size=tree.nv), rng.normal(size=tree.nv)
    close(*(robot.eager.inverse_dynamics(q, v, a) for robot in (tree, floating)), 1e-12)
    found = "\n".join(map(str, floating.check()))
    assert "1 × <body> (stone) fixed to the world left out, because 'torso' floats" in found
    assert "2 × <geom> fixed to the world" in found and "1 × <site> (start)" in found
    dynamics = [next(j for j in robot.model.joints if j.kind == "free").dynamics for robot in (tree, floating)]
    assert dynamics == [kt.JointDynamics(armature=0.01, damping=0.5)] * 2


def test_floating_base_agrees_with_mujoco():
    """Armature and damping of the base included."""
    model = mujoco.MjModel.from_xml_path(str(FOLDER / "walker.xml"))
    assert model.dof_damping[:6].all() and model.dof_armature[:6].all()
    model.dof_armature[:6] = 0.7
    for options in ({"base": "floating"}, {}):
        robot = kt.load(model, **options)
        rng = np.random.default_rng(7)
        for _ in range(3):
            agree(robot, model, rng)


def test_convert_knows_the_coordinates():
    text = """<mujoco><worldbody><body name="b" pos="1 2 3"><freejoint name="f"/><geom size="1"/>
      <body name="c"><joint name="j" ref="20"/><joint name="k" type="slide"/><geom size=".1" pos="1 0 0"/>
      <body name="d" pos="1 0 0"><joint name="l" type="ball"/><geom size=".1" pos="1 0 0"/></body></body></body>
      </worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    for base in ("fixed", "floating"):
        robot = kt.load(text, base)
        q = robot.random(1)
        data = mujoco.MjData(model)
        data.qpos = kt.convert(robot, "q", q, to="mujoco")
        v = np.random.default_rng(2).normal(size=robot.nv)
        data.qvel = kt.convert(robot, "v", v, to="mujoco", q=q)
        mujoco.mj_forward(model, data)
        close(robot.frame("d").pose(q)[:3, :3].ravel(), data.body("d").xmat, 1e-12)
        a = kt.convert(robot, "a", data.qacc, source="mujoco", q=data.qpos, v=data.qvel)
        close(robot.forward_dynamics(q, v, np.zeros(robot.nv)), a)


def test_what_floats_where_nothing_is_free():
    arm = (
        "<body name='base' pos='1 0 0'><geom size='.1'/><body name='a'><joint name='j'/><geom size='.1'/></body></body>"
    )
    robot = kt.load(f"<mujoco><worldbody><geom type='plane' size='1 1 1'/>{arm}</worldbody></mujoco>", "floating")
    assert robot.body_names == ("base", "a") and robot.nv == 7
    assert any("1 × <geom> fixed to the world left out" in str(finding) for finding in robot.check())
    two = arm + arm.replace("'base'", "'base2'").replace("'a'", "'b'").replace("'j'", "'k'")
    both = kt.load(f"<mujoco><worldbody>{two}</worldbody></mujoco>", "floating")
    assert both.body_names == ("world", "a", "b") and both.nv == 8


def test_gravity_and_passive_forces_are_the_files_unless_told():
    body = "<body><joint name='j' damping='2'/><geom size='1'/></body>"
    text = f"<mujoco><option gravity='0 1 0'>{{}}</option><worldbody>{body}</worldbody></mujoco>"
    robot = kt.load(text.format(""))
    assert list(robot.gravity) == [0, 1, 0] and robot.model.passive
    assert list(kt.load(text.format(""), gravity=(0, 0, -1)).gravity) == [0, 0, -1]
    assert not kt.load(text.format(""), passive=False).model.passive
    off = kt.load(text.format("<flag gravity='disable' spring='disable' damper='disable' frictionloss='disable'/>"))
    assert not off.gravity.any() and not off.model.passive
    assert off.model.joints[1].dynamics.damping == 2.0
    half = kt.load(text.format("<flag damper='disable'/>"))
    assert half.model.passive and half.model.joints[1].dynamics.damping == 0.0
    assert any("its damping is switched off" in str(finding) for finding in half.check())


# -- what is left out ------------------------------------------------------------------------------------------

LEFT_OUT = {
    "<worldbody><body name='m' mocap='true'><geom size='1'/></body></worldbody>": "body 'm': it is a mocap body",
    "<worldbody><body name='a'><joint name='j'/><geom size='1'/></body></worldbody>"
    "<sensor><jointpos joint='j'/><jointvel joint='j'/><jointpos joint='j'/></sensor>": (
        "<sensor>: 3 elements were ignored: 2 × jointpos, 1 × jointvel"
    ),
    "<worldbody><body><joint name='j'/><geom size='1'/></body></worldbody>"
    "<tendon><fixed><joint joint='j' coef='1'/></fixed></tendon>": "<tendon>: 1 element was ignored",
    "<option wind='1 0 0'/>": "<option>: wind was ignored",
    "<worldbody><body name='a'><joint name='j' type='ball' range='0 30'/><geom size='1'/></body></worldbody>": (
        "joint 'j': its limit, 0.523599 rad from the middle, was ignored"
    ),
    "<asset><hfield name='h' nrow='2' ncol='2' size='1 1 1 1'/></asset>"
    "<worldbody><geom name='hill' type='hfield' hfield='h'/></worldbody>": "geom 'hill': a shape of type hfield",
    "<worldbody><body name='x'><geom size='1'/><site name='x'/></body></worldbody>": (
        "site 'x': the name is taken by another frame; it is called 'x_site'"
    ),
    "<worldbody><camera name='c' mode='track'/></worldbody>": "camera 'c': it is not fixed to a body",
    "<worldbody><body name='a'><joint type='free' stiffness='2'/><geom size='1'/></body></worldbody>": (
        "joint 'a_free': its stiffness 2 was ignored: it is a free joint"
    ),
    "<worldbody><body name='a'><joint name='j'/><joint name='k'/><geom size='1'/></body></worldbody>"
    "<equality><joint joint1='j' joint2='k' active='false'/></equality>": "it is switched off, so it was ignored",
}


@pytest.mark.parametrize("content", LEFT_OUT, ids=range(len(LEFT_OUT)))
def test_nothing_is_dropped_in_silence(content):
    found = "\n".join(map(str, kt.load(f"<mujoco>{content}</mujoco>").check()))
    assert LEFT_OUT[content] in found


ARM = """<mujoco><worldbody><body name='a' {body}>
  <joint name='j' axis='0 1 0' {joint}/><geom size='1' pos='1 0 0'/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("joint", "body", "said"),
    [
        ("stiffness='1 2 3'", "", "the higher powers of its spring were ignored"),
        ("damping='1 2'", "", "the higher powers of its damping were ignored"),
        ("actuatorgravcomp='true'", "gravcomp='1'", "is a passive force, and not part of that of its actuators"),
        ("actuatorgravcomp='true' actuatorfrcrange='-1 1'", "gravcomp='1'", "actuators, whose limit does not count it"),
    ],
)
def test_other_forces_than_the_files_warn_at_load(joint, body, said):
    text = ARM.format(joint=joint, body=body)
    try:
        mujoco.MjModel.from_xml_string(text)
    except ValueError:
        pytest.skip("this MuJoCo has no such springs")
    with pytest.warns(kt.ModelWarning, match=f"joint 'j': .*{said}"):
        kt.load(text)


def test_compensation_by_actuators_of_nothing_says_nothing():
    assert kt.load(ARM.format(joint="actuatorgravcomp='true'", body="")).check() == ()


def test_rotors_and_dampers_of_actuators():
    text = """<mujoco><worldbody><body><joint name="j" armature=".5"/><geom size=".1"/></body></worldbody>
      <actuator><motor joint="j" gear="3" armature="0.2" damping=".7"/></actuator></mujoco>"""
    try:
        model = mujoco.MjModel.from_xml_string(text)
    except ValueError:
        pytest.skip("this MuJoCo has no rotors in actuators")
    agree(kt.load(model), model, np.random.default_rng(0))


def test_a_clean_model_has_nothing_to_say():
    text = "<mujoco><worldbody><body name='a'><joint name='j'/><geom size='1'/></body></worldbody></mujoco>"
    assert kt.load(text).check() == ()


def test_exclusions_are_read_and_written():
    text = """<mujoco><worldbody><body name='b'><joint/><geom size='1'/></body><body name='a' pos='2 0 0'><joint/>
      <geom size='1'/><body><joint/><geom size='1'/></body></body></worldbody>
      <contact><exclude body1='b' body2='a'/><exclude body1='a' body2='world'/></contact></mujoco>"""
    robot = kt.load(text)
    assert set(robot.disabled_collisions) == {("a", "b"), ("a", "world")}
    assert set(kt.load(robot.to_mjcf()).disabled_collisions) == {("a", "b"), ("a", "world")}
    assert mujoco.MjModel.from_xml_string(robot.to_mjcf()).nexclude == 2
    assert kt.load(text, root="b").disabled_collisions == ()
    assert not any("exclude" in str(finding) for finding in robot.check())


# -- without mujoco --------------------------------------------------------------------------------------------


def test_without_mujoco_the_extra_is_named(tmp_path):
    code = """
        import sys
        sys.modules["mujoco"] = None
        import kinetree as kt
        try:
            kt.load("<mujoco/>")
        except kt.ModelError as error:
            print(error)
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert "pip install 'kinetree[mujoco]'" in run.stdout


def test_nothing_is_printed_and_no_log_is_left(tmp_path):
    """MuJoCo warns on the console and in a file of the working directory."""
    code = """if True:
        import kinetree as kt, kinetree.model.loaders.mjcf as mjcf
        mjcf.check_cost = lambda *_: None  # it would refuse what MuJoCo only warns of
        robot = kt.load("<mujoco><worldbody><light pos='nan 0 0'/></worldbody></mujoco>")
        assert any("MuJoCo warns: XML contains a 'NaN'" in str(finding) for finding in robot.check())"""
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert not run.stdout and not run.stderr and not list(tmp_path.iterdir())
