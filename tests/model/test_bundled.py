"""The bundled robots: what their files promise, beside Pinocchio, MuJoCo and equations written by hand."""

import re
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from peers import close, pin_from_urdf

ROOT = Path(__file__).parents[2]
FOLDER = Path(kt.__file__).parent / "robots"
GRAVITY = 9.81
# name: joints, mass [kg], frames
EXPECTED = {
    "planar2": (2, 4.0, {"tip"}),
    "cartpole": (2, 5.2, {"tip"}),
    "arm6": (6, 25.15, {"tool0"}),
    "arm7": (7, 18.0, {"tool0"}),
    "quadruped": (12, 30.0, {f"{end}_{side}_foot" for end in ("front", "hind") for side in ("left", "right")}),
    "humanoid": (31, 60.0, {"left_sole", "right_sole", "left_hand", "right_hand", "head"}),
    "quadrotor": (0, 0.5, {f"rotor_{k}" for k in range(1, 5)}),
    "hexarotor": (0, 1.5, {f"rotor_{k}" for k in range(1, 7)}),
    "quadrotor_arm": (2, 2.45, {"tool0", *(f"rotor_{k}" for k in range(1, 5))}),
    "fixed_wing": (0, 11.0, {"aero", "propeller"}),
}
MEASURED = {"quadrotor", "fixed_wing"}
"""Their inertias are those of machines, not of what is drawn."""
STANDING = {"quadruped": {"hfe": 0.6, "kfe": -1.2}, "humanoid": {"hip_pitch": -0.4, "knee": 0.8, "ankle_pitch": -0.4}}
FEET = {name: sorted(frame for frame in EXPECTED[name][2] if re.search("foot|sole", frame)) for name in STANDING}

each_robot = pytest.mark.parametrize("name", EXPECTED)
each_walker = pytest.mark.parametrize("name", STANDING)
each_base = pytest.mark.parametrize("base", ["fixed", "floating"])


@cache
def load(name, base="fixed"):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return kt.load(name, base)


def posture(robot, angles):
    """The neutral configuration with some joints bent, by the end of their names."""
    q = robot.neutral()
    for k, name in enumerate(robot.joint_names):
        q[k - len(robot.joint_names)] = next((angle for end, angle in angles.items() if name.endswith(end)), 0.0)
    return q


def mujoco_model(name, base, change=lambda compiler: None):
    """The same file in MuJoCo; `change` alters how it is compiled."""
    spec = mujoco.MjSpec.from_string((FOLDER / f"{name}.urdf").read_text())
    change(spec.compiler)
    if base == "floating":
        spec.worldbody.first_body().add_freejoint()
    return spec.compile()


def test_there_are_these():
    assert set(kt.bundled_robots()) == {*EXPECTED, "puma560"} == {path.stem for path in FOLDER.iterdir()}


@each_robot
@each_base
def test_joints_mass_and_frames(name, base):
    robot = load(name, base)
    joints, mass, frames = EXPECTED[name]
    assert robot.name == name
    assert len(robot.joint_names) == joints and robot.nv == joints + (6 if base == "floating" else 0)
    with_mass = {frame for frame in robot.frame_names if frame.endswith("_link")}
    assert set(robot.frame_names) - with_mass == frames
    assert set(robot.body_names) <= with_mass and "base_link" in with_mass
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", word) for word in (*robot.joint_names, *robot.frame_names))
    close(load(name, "floating").mass, mass, 1e-12)


@each_robot
def test_nothing_is_odd_about_them(name):
    findings = load(name, "floating").check()
    drawn = {"<link/visual>", "<link/collision>"}  # dynamics has no use for them
    assert not [finding for finding in findings if str(finding).split()[0] not in drawn]


@each_robot
def test_limits_hold_the_neutral_configuration_and_the_weight(name):
    robot = load(name)
    limits, q = robot.limits, robot.neutral()
    assert np.all(limits.lower <= q) and np.all(q <= limits.upper) and np.all(limits.lower < limits.upper)
    assert np.all(np.isfinite(limits.effort)) and np.all(np.isfinite(limits.velocity)) and np.all(limits.velocity > 0)
    driven = limits.effort > 0
    assert [joint for joint, has in zip(robot.joint_names, driven, strict=True) if not has] == (
        ["pivot"] if name == "cartpole" else []
    )
    weight = np.abs(robot.gravity_forces(robot.random(0, 1000)))
    assert np.all(weight[:, driven] < 0.8 * limits.effort[driven])


@pytest.mark.parametrize("name", [name for name in EXPECTED if name not in MEASURED])
def test_inertias_are_those_of_the_solids(name):
    """MuJoCo finds the same centres and moments from the collision geometry alone, at even density."""

    def from_geometry(compiler):
        compiler.inertiafromgeom, compiler.fusestatic = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE, False

    robot, peer = load(name, "floating"), mujoco_model(name, "floating", from_geometry)
    for i, body in enumerate(robot.body_names, start=1):
        inertia, solids = robot.model.inertias[i], peer.body(body)
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, solids.iquat)
        R = R.reshape(3, 3)
        close(inertia.h / inertia.mass, solids.ipos, 1e-6)
        expected = R @ np.diag(solids.inertia) @ R.T * (inertia.mass / solids.mass[0])
        moments = np.linalg.eigvalsh(inertia.about_com)
        assert np.abs(inertia.about_com - expected).max() < 1e-5 * moments[2]
        assert moments[0] > 0 and moments[0] + moments[1] >= moments[2]


@each_robot
@each_base
@pytest.mark.sampled(2)
def test_agrees_with_pinocchio(name, base):
    robot, rng = load(name, base), np.random.default_rng(0)
    peer = pin_from_urdf(robot, FOLDER / f"{name}.urdf", base == "floating")
    data = peer.data()
    for _ in range(10):
        q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
        tau = pin.rnea(peer.model, data, peer.q(q), peer.G @ v, peer.G @ a)
        close(robot.inverse_dynamics(q, v, a), peer.G.T @ tau)
        M = pin.crba(peer.model, data, peer.q(q))
        close(robot.mass_matrix(q), peer.G.T @ M @ peer.G)


@each_robot
@each_base
@pytest.mark.sampled(2)
def test_agrees_with_mujoco(name, base):
    robot, rng = load(name, base), np.random.default_rng(0)
    model = mujoco_model(name, base)
    data = mujoco.MjData(model)
    for _ in range(10):
        q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
        data.qpos = kt.convert(robot, "q", q, to="mujoco")
        data.qvel = kt.convert(robot, "v", v, to="mujoco", q=q)
        mujoco.mj_forward(model, data)
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, M, data.qM) if hasattr(data, "qM") else mujoco.mj_fullM(model, data, M)
        tau = M @ kt.convert(robot, "a", a, to="mujoco", q=q, v=v) + data.qfrc_bias
        there = {"source": "mujoco", "q": data.qpos, "v": data.qvel}
        close(robot.inverse_dynamics(q, v, a), kt.convert(robot, "tau", tau, **there))
        close(robot.mass_matrix(q), kt.convert(robot, "mass_matrix", M, **there))


# -- the two that fit on a line ------------------------------------------------------------------------------------


def test_planar2_is_the_textbook_double_pendulum():
    robot, rng = load("planar2"), np.random.default_rng(0)
    m1, m2, l1, l2, I1, I2 = 2.0, 1.0, 1.0, 0.5, 0.002, 0.001  # spheres: I = 2/5 m r², r = 0.05
    for q, v in rng.normal(size=(20, 2, 2)):
        c1, c2, s2, c12 = np.cos(q[0]), np.cos(q[1]), np.sin(q[1]), np.cos(q[0] + q[1])
        M22 = I2 + m2 * l2**2
        M12 = M22 + m2 * l1 * l2 * c2
        M11 = I1 + m1 * l1**2 + M22 + m2 * l1**2 + 2 * m2 * l1 * l2 * c2
        h = m2 * l1 * l2 * s2
        C = np.array([[-h * v[1], -h * (v[0] + v[1])], [h * v[0], 0.0]])
        G = GRAVITY * np.array([(m1 + m2) * l1 * c1 + m2 * l2 * c12, m2 * l2 * c12])
        close(robot.mass_matrix(q), [[M11, M12], [M12, M22]], 1e-14)
        close(robot.bias_forces(q, v), C @ v + G, 1e-14)
        close(robot.gravity_forces(q), G, 1e-14)
        tip = [l1 * c1 + l2 * c12, 0.0, l1 * np.sin(q[0]) + l2 * np.sin(q[0] + q[1])]
        close(robot.frame("tip").pose(q)[:3, 3], tip, 1e-14)


def test_cartpole_in_closed_form():
    robot, rng = load("cartpole"), np.random.default_rng(0)
    m_cart, m, r = 1.0, 0.2, 0.5  # r to the middle of the pole
    I_pole = 0.0166717  # m (3 · 0.01² + 1²) / 12, as the file rounds it
    for q, v in rng.normal(size=(20, 2, 2)):
        s, c = np.sin(q[1]), np.cos(q[1])
        close(robot.mass_matrix(q), [[m_cart + m, m * r * c], [m * r * c, I_pole + m * r**2]], 1e-14)
        close(robot.bias_forces(q, v), [-m * r * s * v[1] ** 2, -m * GRAVITY * r * s], 1e-14)


# -- arms ----------------------------------------------------------------------------------------------------------


def test_arm7_reaches_90_cm_from_its_shoulder():
    arm = load("arm7")
    straight = arm.frame("tool0").pose(arm.neutral())
    close(straight[:3, :3], np.eye(3), 1e-14)
    close(straight[:3, 3], [0, 0, 0.3 + 0.9], 1e-12)
    q = arm.random(0, 1000)
    distance = np.linalg.norm(arm.frame("tool0").pose(q)[:, :3, 3] - [0, 0, 0.3], axis=1)
    assert distance.max() < 0.9 + 1e-12


# -- walkers -------------------------------------------------------------------------------------------------------


def mirror(robot):
    """The matrix that reflects joint values in the plane of x and z."""
    names = robot.joint_names
    S = np.zeros((len(names), len(names)))
    for k, name in enumerate(names):
        other = re.sub("left|right", lambda side: {"left": "right", "right": "left"}[side[0]], name)
        S[names.index(other), k] = -1.0 if name.endswith(("roll", "yaw", "haa")) else 1.0
    return S


@each_walker
def test_left_is_right_in_a_mirror(name):
    robot, joints, rng = load(name, "floating"), load(name), np.random.default_rng(0)
    S = np.diag([1.0, -1.0, 1.0, -1.0, 1.0, -1.0, *np.zeros(joints.nv)])
    S[6:, 6:] = mirror(joints)
    for _ in range(5):
        q, q_mirror, v = robot.neutral(), robot.neutral(), rng.normal(size=robot.nv)
        q[7:] = joints.random(rng)
        q_mirror[7:] = S[6:, 6:] @ q[7:]
        close(robot.mass_matrix(q_mirror), S @ robot.mass_matrix(q) @ S.T, 1e-13)
        close(robot.bias_forces(q_mirror, S @ v), S @ robot.bias_forces(q, v), 1e-13)
        close(robot.center_of_mass(q_mirror), robot.center_of_mass(q) * [1, -1, 1], 1e-14)
    limits = joints.limits
    bounds = np.array([limits.lower, limits.upper])
    assert np.array_equal(np.sort(bounds @ mirror(joints).T, axis=0), bounds)
    for each in (limits.effort, limits.velocity):
        assert np.array_equal(np.abs(mirror(joints)) @ each, each)


@each_walker
def test_standing(name):
    robot = load(name, "floating")
    straight, bent, radius = {"quadruped": (0.598, 0.5, 0.028), "humanoid": (0.97, 0.91, 0.0)}[name]
    for angles, expected in (({}, straight), (STANDING[name], bent)):
        q = posture(robot, angles)
        feet = np.array([robot.frame(foot).pose(q) for foot in FEET[name]])
        assert np.abs(feet[:, 2, 3] - feet[0, 2, 3]).max() < 1e-12
        assert -feet[0, 2, 3] + radius == pytest.approx(expected, abs=0.01)
        com = robot.center_of_mass(q)
        assert abs(com[1]) < 1e-12
        assert feet[:, 0, 3].min() - 0.05 < com[0] < feet[:, 0, 3].max() + 0.1  # above its feet
        assert np.all(robot.limits.lower <= q) and np.all(q <= robot.limits.upper)


@each_walker
def test_no_part_of_it_runs_into_another(name):
    robot, model = load(name, "floating"), mujoco_model(name, "floating")
    data = mujoco.MjData(model)
    for angles in ({}, STANDING[name]):
        data.qpos = kt.convert(robot, "q", posture(robot, angles), to="mujoco")
        mujoco.mj_forward(model, data)
        assert data.ncon == 0


def test_the_humanoid_is_160_cm_tall():
    robot = load("humanoid", "floating")
    q = robot.neutral()
    top = robot.frame("head_link").pose(q)[2, 3] + 0.08 + 0.09
    close(top - robot.frame("left_sole").pose(q)[2, 3], 1.6, 1e-12)
    for side, y in (("left", 1), ("right", -1)):
        close(robot.frame(f"{side}_sole").pose(q)[:3, :3], np.eye(3), 1e-14)
        assert y * robot.frame(f"{side}_hand").pose(q)[1, 3] == pytest.approx(0.22)


# -- where they come from --------------------------------------------------------------------------------------------


def test_the_files_are_what_the_generator_writes(tmp_path):
    subprocess.run([sys.executable, ROOT / "tools" / "make_robots.py", tmp_path], check=True)
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in FOLDER.glob("*.urdf")}
    for path in tmp_path.iterdir():
        assert path.read_text() == (FOLDER / path.name).read_text(), f"run tools/make_robots.py: {path.name} is old"


def test_an_unknown_name_gets_the_nearest_or_all():
    with pytest.raises(kt.UnknownNameError, match="'humanoids' does not exist; did you mean 'humanoid'"):
        kt.load("humanoids")
    with pytest.raises(kt.UnknownNameError, match=r"'zzz' does not exist; there are 'arm6', 'arm7', .*'quadruped'"):
        kt.load("zzz")
