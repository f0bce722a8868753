"""SDFormat that is written reads as the same robot. Covers: model/writers/sdf.py."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinetree as kt
from kinetree.model.joints.dynamics import NONE
from kinetree.model.random import EVERY_JOINT
from peers import close, readable_urdfs, urdf, urdf_files
from states import state_of

FOLDER = Path(__file__).parent / "sdf"
BUNDLED = kt.bundled_robots()


def again(robot, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.ModelWarning)
        text = robot.to_sdf(lossy=options.pop("lossy", False))
    base = "fixed" if robot.model.floating_base is None else "floating"
    given = dict(base=base, gravity=robot.model.gravity, passive=robot.model.passive)
    return kt.load(text, **(given | options)), text


def check_same(robot, other, rng):
    assert (other.nq, other.nv) == (robot.nq, robot.nv)
    s = state_of(robot.eager, rng)
    close(other.eager.mass_matrix(s.q), robot.eager.mass_matrix(s.q), 1e-10)
    close(other.eager.inverse_dynamics(s.q, s.v, s.a), robot.eager.inverse_dynamics(s.q, s.v, s.a), 1e-10)
    for name in set(robot.frame_names) & set(other.frame_names):
        close(other.eager.frame(name).pose(s.q), robot.eager.frame(name).pose(s.q), 1e-10)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 8), base=st.sampled_from(["fixed", "floating"]))
def test_random_trees(seed, count, base):
    rng = np.random.default_rng(seed)
    kinds = tuple(kind for kind in EVERY_JOINT if kind not in ("free", "mimic"))
    robot = kt.Robot(kt.random_model(rng, count, kinds, base=base))
    other, _ = again(robot, lossy=True)  # limits of balls
    check_same(robot, other, rng)
    assert again(other)[0].frame_names == other.frame_names


@pytest.mark.parametrize("name", BUNDLED)
@pytest.mark.sampled(8)
def test_bundled_robots(name):
    robot = kt.load(name)
    builder = kt.ModelBuilder.of(robot.model.description)
    builder.joints = {name: replace(joint, dynamics=NONE) for name, joint in builder.joints.items()}
    builder.base_dynamics = NONE  # it cannot express rotors
    base = "fixed" if robot.model.floating_base is None else "floating"
    check_same(*(each := kt.Robot(builder.build(base)), again(each)[0]), np.random.default_rng(0))


@pytest.mark.parametrize("name", readable_urdfs())
@pytest.mark.sampled(6)
def test_real_robots(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.ModelWarning)
        robot = kt.load(urdf_files()[name])
        check_same(robot, again(robot, lossy=True)[0], np.random.default_rng(0))


def test_a_joint_that_mimics_none_moves_on_its_own():
    builder = kt.ModelBuilder("r")
    builder.link("a")
    builder.link("b", kt.solids.box((1, 1, 1), mass=1.0))
    builder.joint("j", "revolute", "a", "b", mimic=kt.Mimic("nobody"))
    with pytest.warns(kt.ModelWarning, match="cannot mimic"):
        robot = kt.Robot(builder.build())
    other, text = again(robot)
    assert other.joint_names == ("j",) and "<mimic" not in text


def test_inertias_that_no_body_can_have_warn():
    """Drake takes 1 kg instead of an inertia without mass."""
    builder = kt.ModelBuilder("r")
    builder.link("a")
    for name, mass in (("b", 1.0), ("c", 0.0)):
        builder.link(name, kt.Inertia(mass, np.zeros(3), np.eye(3)))
        builder.joint(f"on_{name}", "revolute", "a", name)
    with pytest.warns(kt.ModelWarning, match="the inertia of link 'c' is one that no body can have"):
        kt.Robot(builder.build()).to_sdf()


@pytest.mark.parametrize("file", sorted(path.name for path in FOLDER.glob("*.sdf")))
def test_files_that_drake_reads(file):
    robot = kt.load(FOLDER / file)
    other, text = again(robot)
    check_same(robot, other, np.random.default_rng(1))
    assert "::" not in text


def small(**options):
    builder = kt.ModelBuilder("small")
    builder.link("base")
    builder.link("arm", kt.solids.box((0.1, 0.2, 0.3), mass=2.0))
    builder.link("finger", kt.solids.sphere(0.1, mass=0.3))
    builder.link("thumb", kt.solids.sphere(0.1, mass=0.2))
    spring = kt.JointDynamics(damping=0.3, friction=0.1, stiffness=2.0, rest=0.4)
    builder.joint("arm", "revolute", "base", "arm", axis=(0, 1, 0), xyz=(0.1, 0.2, 0.3), rpy=(0.1, 0.2, 0.3), lower=-1,
                  upper=2, velocity=3, effort=4, dynamics=spring)  # fmt: skip
    builder.joint("grip", "prismatic", "arm", "finger", axis=(1, 0, 0), xyz=(0, 0, 0.4))
    builder.joint("follow", "prismatic", "arm", "thumb", axis=(-1, 0, 0), mimic=kt.Mimic("grip", 0.5, 0.1))
    builder.frame("tip", "finger", xyz=(0, 0, 0.1), rpy=(0.3, 0, 0))
    return kt.Robot(builder.build(**options))


@pytest.mark.drake
@pytest.mark.parametrize("which", ["small", "arm6", "revolute", "prismatic", "helical", "universal", "planar"])
def test_drake_reads_it(which, tmp_path):
    pytest.importorskip("pydrake")
    from model.sdf_record import recorded  # noqa: PLC0415

    robot = small() if which == "small" else kt.load(which) if which in BUNDLED else None
    robot = robot or kt.Robot(kt.random_model(np.random.default_rng(5), 3, (which,)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.ModelWarning)
        robot.to_sdf(tmp_path / "robot.sdf", lossy=True)
    there, other = recorded(tmp_path / "robot.sdf"), kt.load(tmp_path / "robot.sdf").eager
    places = [there["joints"][name] for name in other.joint_names]
    at = [k for iq, nq, _, _ in places for k in range(iq, iq + nq)]
    v_at = [k for _, _, iv, nv in places for k in range(iv, iv + nv)]
    q, v, a, tau, M = (np.array(there[name]) for name in ("q", "v", "a", "tau", "mass_matrix"))
    if which == "small":  # Drake couples by constraints, and has no springs and friction
        assert np.isclose(other.limits.effort[0], 4.0) and there["joints"].keys() == {"arm_joint", "grip", "follow"}
    else:
        close(other.mass_matrix(q[at]), M[np.ix_(v_at, v_at)], 1e-10)
        close(other.inverse_dynamics(q[at], v[v_at], a[v_at]), tau[v_at], 1e-9)


@pytest.mark.drake
@pytest.mark.long
@pytest.mark.parametrize("name", readable_urdfs())
def test_drake_reads_real_robots(name, tmp_path):
    pytest.importorskip("pydrake")
    from model.sdf_record import recorded  # noqa: PLC0415

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", kt.ModelWarning)
        robot = kt.load(urdf(name))
        if robot.model.has_mimics or any(joint.nv > 1 for joint in robot.model.joints) or not robot.nv:
            pytest.skip("Drake couples by constraints, and has other coordinates of free joints")
        robot.to_sdf(tmp_path / "robot.sdf", lossy=True)
        if any("other readers replace it" in str(each.message) for each in said):
            pytest.skip("Drake replaces inertias that no body can have")
        there, other = recorded(tmp_path / "robot.sdf"), kt.load(tmp_path / "robot.sdf").eager
    at = [there["joints"][joint][0] for joint in other.joint_names]
    v_at = [there["joints"][joint][2] for joint in other.joint_names]
    q, v, a, tau, M = (np.array(there[each]) for each in ("q", "v", "a", "tau", "mass_matrix"))
    close(other.mass_matrix(q[at]), M[np.ix_(v_at, v_at)], 1e-9)
    friction = other.passive_forces(q[at], v[v_at])
    damping = np.array([joint.dynamics.damping for joint in other.model.joints if joint.nv])
    close(other.inverse_dynamics(q[at], v[v_at], a[v_at]) - friction + damping * v[v_at], tau[v_at], 1e-8)


def test_limits_springs_mimics_frames_and_names():
    robot = small()
    with pytest.warns(kt.ModelWarning, match="'arm' is written as 'arm_joint': in SDFormat the name is taken"):
        text = robot.to_sdf()
    other = kt.load(text)
    assert other.joint_names == ("arm_joint", "grip") and 'version="1.11"' in text
    for bound in ("lower", "upper", "velocity", "effort"):
        assert np.array_equal(getattr(other.limits, bound), getattr(robot.limits, bound))
    check_same(robot, other, np.random.default_rng(2))
    assert other.model.joints[1].dynamics == robot.model.joints[1].dynamics
    assert set(other.frame_names) == {*robot.frame_names, "world"}


def test_a_floating_base_and_its_file(tmp_path):
    robot = small(base="floating")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot.to_sdf(tmp_path / "small.sdf")
    other = kt.load(tmp_path / "small.sdf", base="floating")
    assert other.frame_names == robot.frame_names
    check_same(robot, other, np.random.default_rng(3))


def test_scenes_of_mjcf_with_shapes_and_free_bodies():
    shapes = "".join(
        f'<geom type="{kind}" size="{size}" rgba="0.1 0.2 0.3 1"/>'
        for kind, size in (("sphere", ".1"), ("capsule", ".1 .2"), ("ellipsoid", ".1 .2 .3"), ("cylinder", ".1 .2"))
    )
    robot = kt.load(f"""<mujoco><worldbody><geom type="plane" size="0 0 1"/><site name="mark" pos="1 2 3"/>
      <body name="cup"><freejoint/>{shapes}</body><body name="door"><joint name="hinge"/><geom size="0.1"/></body>
      </worldbody></mujoco>""")
    other, _ = again(robot)
    check_same(robot, other, np.random.default_rng(4))
    there, here = (each.model.description.links["cup"].visuals for each in (other, robot))
    assert [each.shape for each in there] == [each.shape for each in here]
    assert there[0].color == here[0].color
    alone = kt.load('<mujoco><worldbody><body name="cup"><freejoint/><geom size="1"/></body></worldbody></mujoco>')
    assert again(alone)[0].nv == 6


def test_what_it_has_no_words_for():
    heavy = kt.edit.set_dynamics(small(), "arm", armature=0.5)
    with pytest.raises(kt.ModelError, match="SDFormat cannot express the armature of joint 'arm'; lossy=True"):
        heavy.to_sdf()
    with pytest.raises(kt.ModelError, match="was made without a description"):
        kt.Robot(replace(small().model, description=None)).to_sdf()
    strange = kt.ModelBuilder("strange")
    strange.link("a")
    strange.link("b", kt.solids.sphere(0.1, mass=1.0))
    strange.joint("j", "free", "a", "b", xyz=(1, 0, 0))
    with pytest.raises(kt.ModelError, match="free joint 'j' is not at the origin of the world"):
        kt.Robot(strange.build()).to_sdf()
