"""Each joint by itself: where it puts its body, how its coordinates move, and where that gets difficult.

Covers: model/joints/axis.py, model/joints/dynamics.py, model/joints/free.py, model/joints/helical.py,
model/joints/joint.py, model/joints/planar.py, model/joints/prismatic.py, model/joints/revolute.py,
model/joints/spherical.py, model/joints/universal.py, model/joints/vector.py.
"""

import pickle

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.algorithms import aba, configuration, factorization
from kinetree.model.joints.planar import plane_directions
from kinetree.model.random import EVERY_JOINT
from peers import REFERENCES, close, in_plane, pin_from_tree
from states import State, rate_along, state_of, states

NEW = ("helical", "universal", "spherical", "planar")
SKEW = np.array([2.0, -1.0, 2.0]) / 3
OTHER = np.array([0.6, 0.8, 0.0])
BODY = kt.Inertia.from_com(2.0, (0.1, -0.2, 0.3), np.diag([0.3, 0.4, 0.5]))


def one(kind, base="fixed", inertia=BODY, **options):
    """A robot with one joint, placed askew."""
    builder = kt.ModelBuilder(kind)
    builder.link("ground", BODY)
    builder.link("body", inertia)
    builder.joint("joint", kind, "ground", "body", xyz=(0.1, 0.2, 0.3), rpy=(0.3, -0.2, 0.1), **options)
    return kt.Robot(builder.build(base)).eager


def in_joint_frame(robot, q):
    """The pose of the body as the joint sees it."""
    X = robot.model.placements[1]
    ground = np.eye(4)
    ground[:3, :3], ground[:3, 3] = X.R.T, X.p
    return np.linalg.solve(ground, robot.poses(q)[0])


def turn(axis, angle):
    return pin.AngleAxis(float(angle), np.array(axis)).toRotationMatrix()


# -- where the body is -------------------------------------------------------------------------------------------------


def test_a_screw_turns_and_advances():
    robot = one("helical", axis=SKEW, pitch=-0.3)
    T = in_joint_frame(robot, [1.7])
    close(T[:3, :3], turn(SKEW, 1.7), 1e-14)
    close(T[:3, 3], -0.3 * 1.7 * SKEW, 1e-14)


def test_a_universal_joint_turns_about_the_first_axis_and_then_about_the_one_it_carried():
    robot = one("universal", axis=SKEW, axis2=OTHER)
    T = in_joint_frame(robot, [0.7, -1.1])
    close(T[:3, :3], turn(SKEW, 0.7) @ turn(OTHER, -1.1), 1e-14)
    carried = turn(SKEW, 0.7) @ OTHER
    close(T[:3, :3], turn(carried, -1.1) @ turn(SKEW, 0.7), 1e-14)
    close(T[:3, 3], np.zeros(3), 1e-15)
    R = robot.poses([0.7, -1.1])[0, :3, :3]
    omega = robot.frame("body").velocity([0.7, -1.1], [2.0, 3.0], "local")[3:]
    close(R @ omega, robot.model.placements[1].R.T @ (2.0 * SKEW + 3.0 * carried), 1e-14)


def test_a_ball_turns_as_its_quaternion_says_and_its_velocity_is_in_its_own_axes():
    robot = one("spherical")
    q, omega = np.array([2.0, -1.0, 4.0, 2.0]) / 5, np.array([1.0, -2.0, 3.0])
    close(in_joint_frame(robot, q)[:3, :3], pin.Quaternion(q).toRotationMatrix(), 1e-15)
    close(robot.frame("body").velocity(q, omega, "local")[3:], omega, 1e-15)


def test_a_planar_joint_slides_in_the_plane_of_the_parent():
    robot = one("planar", axis=SKEW)
    x, y = in_plane(SKEW)
    T = in_joint_frame(robot, [0.4, -0.7, 1.2])
    close(T[:3, :3], turn(SKEW, 1.2), 1e-14)
    close(T[:3, 3], 0.4 * x - 0.7 * y, 1e-14)
    to_world = robot.model.placements[1].R.T
    velocity = robot.frame("body").velocity([0.4, -0.7, 1.2], [2.0, 3.0, 5.0])
    close(velocity, np.concatenate([to_world @ (2.0 * x + 3.0 * y), to_world @ (5.0 * SKEW)]), 1e-14)
    level = one("planar")
    close(in_joint_frame(level, [0.4, -0.7, 0.0])[:3, 3], [0.4, -0.7, 0.0], 1e-15)


@pytest.mark.parametrize(
    ("normal", "x", "y"),
    [
        ((0, 0, 1), (1, 0, 0), (0, 1, 0)),
        ((0, 0, -1), (1, 0, 0), (0, -1, 0)),
        ((1, 0, 0), (0, 0, -1), (0, 1, 0)),
        ((0, 1, 0), (1, 0, 0), (0, 0, -1)),
        ((0.6, 0, 0.8), (0.8, 0, -0.6), (0, 1, 0)),
        ((-1, 0, 0), (0, 0, 1), (0, 1, 0)),
        ((0.48, 0.64, -0.6), (0.424, -0.768, -0.48), (-0.768, -0.024, -0.64)),
    ],
)
def test_directions_in_a_plane(normal, x, y):
    """As Drake reads the axis of a planar joint in a URDF file."""
    close(plane_directions(np.array(normal, dtype=float)), [x, y], 1e-15)


@pytest.mark.parametrize("tilt", [1e-3, 1e-5, 1e-7, 1e-9, 1e-12, 0.0])
@pytest.mark.parametrize("towards", [0.0, 0.4, np.pi / 2, 3.0])
def test_directions_in_a_plane_that_is_nearly_upside_down(tilt, towards):
    normal = np.array([np.sin(tilt) * np.cos(towards), np.sin(tilt) * np.sin(towards), -np.cos(tilt)])
    frame = np.column_stack([*plane_directions(normal), normal])
    close(frame.T @ frame, np.eye(3), 1e-15)
    close(np.linalg.det(frame), 1.0, 1e-15)


# -- how the coordinates move ------------------------------------------------------------------------------------------


@given(states(joints=NEW, base="fixed"))
def test_position_rates_are_the_slope_of_integrate(s: State):
    model, h = s.robot.model, 1e-6
    for q in (s.q, configuration.neutral(model)):
        N = configuration.position_rates(model, q)
        columns = [
            (configuration.integrate(model, q, h * e) - configuration.integrate(model, q, -h * e)) / (2 * h)
            for e in np.eye(model.nv)
        ]
        close(N, np.array(columns).T, 1e-8)


@given(states())
def test_the_rate_of_the_mass_matrix_belongs_to_the_bias_forces(s: State):
    """½ vᵀ Ṁ v = vᵀ C v: Coriolis forces only pass kinetic energy on."""
    robot = s.robot.eager
    M_dot = rate_along(State(robot, s.q, s.v, 0 * s.a, s.rng), lambda q, v: robot.mass_matrix(q))
    coriolis = robot.bias_forces(s.q, s.v) - robot.gravity_forces(s.q)
    close(0.5 * s.v @ M_dot @ s.v, s.v @ coriolis, 1e-5)


@given(st.integers(0, 2**32 - 1))
def test_lagrange(seed):
    """Where v = q̇, the bias forces are Ṁ v - ∂T/∂q: helical, universal and planar joints beside revolute ones."""
    rng = np.random.default_rng(seed)
    kinds = ("helical", "universal", "planar", "revolute", "prismatic", "mimic")
    s = state_of(kt.Robot(kt.random_model(rng, 5, kinds)).eager, rng)
    robot, h = s.robot, 1e-6
    M_dot = rate_along(State(robot, s.q, s.v, 0 * s.a, rng), lambda q, v: robot.mass_matrix(q))
    slope = [
        (robot.kinetic_energy(s.q + h * e, s.v) - robot.kinetic_energy(s.q - h * e, s.v)) / (2 * h)
        for e in np.eye(robot.nv)
    ]
    close(robot.bias_forces(s.q, s.v) - robot.gravity_forces(s.q), M_dot @ s.v - np.array(slope), 1e-5)


def test_a_ball_spins_as_euler_says():
    """I ω̇ + ω × I ω = 0 about a centre of mass in the socket."""
    moments = np.array([0.3, 0.4, 0.5])
    robot = one("spherical", inertia=kt.Inertia.from_com(2.0, (0, 0, 0), np.diag(moments)))
    q, omega = robot.random(0), np.array([1.0, -2.0, 3.0])
    a = robot.forward_dynamics(q, omega, np.zeros(3))
    close(a, -np.cross(omega, moments * omega) / moments, 1e-14)


def test_a_screw_falls_slower_the_finer_it_is():
    """(I + m p²) θ̈ = -m g p on a vertical axis."""
    for pitch in (0.0, 0.01, 0.5):
        builder = kt.ModelBuilder("screw")
        builder.link("nut")
        builder.link("screw", kt.Inertia.from_com(2.0, (0, 0, 0), np.diag([1.0, 1.0, 0.5])))
        builder.joint("thread", "helical", "nut", "screw", pitch=pitch)
        robot = kt.Robot(builder.build()).eager
        close(robot.forward_dynamics([0.3], [2.0], [0.0]), [-2.0 * 9.81 * pitch / (0.5 + 2.0 * pitch**2)], 1e-14)


def test_a_plate_on_ice_keeps_its_velocity():
    """Bodies move straight whatever they turn: ẍ of the centre of mass is zero in the plane."""
    robot = one("planar", inertia=kt.Inertia.from_com(2.0, (0, 0, 0), np.eye(3)))
    level = kt.Robot(kt.ModelBuilder.of(robot.model.description).build(gravity=(0, 0, 0))).eager
    close(level.forward_dynamics([0.1, 0.2, 0.7], [1.0, -2.0, 5.0], np.zeros(3)), np.zeros(3), 1e-14)


# -- edges -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [np.pi, -np.pi, 3 * np.pi, 1e3])
def test_angles_are_not_wrapped(angle):
    for kind, options in (("planar", {}), ("universal", {"axis2": OTHER}), ("helical", {"pitch": 0.1})):
        robot = one(kind, **options)
        q = np.full(robot.nq, angle)
        close(robot.integrate(q, np.full(robot.nv, 0.5)), q + 0.5, 0.0)
        close(robot.difference(q, q + 0.5), np.full(robot.nv, 0.5), 1e-12)
        close(robot.difference(-q, q), 2 * q, 0.0)


@pytest.mark.parametrize("angle", [0.0, 1e-300, 1e-12, 1e-8, 1e-4, 3.0, np.pi - 1e-8, np.pi])
def test_a_ball_near_no_turn_and_half_a_turn(angle):
    robot = one("spherical")
    q0 = robot.random(4)
    there = robot.integrate(q0, angle * SKEW)
    close(np.linalg.norm(there), 1.0, 1e-15)
    back = robot.difference(q0, there)
    close(np.linalg.norm(back), angle, 1e-14 if angle < 3.0 else 1e-7)
    close(robot.poses(robot.integrate(q0, back)), robot.poses(there), 1e-14)
    if angle <= 3.0:
        close(back, angle * SKEW, 1e-15)
    close(robot.difference(q0, -there), back, 1e-7)  # q and -q are the same rotation


def test_quaternions_of_a_ball_must_be_unit_and_come_back_so():
    builder = kt.ModelBuilder.of(one("spherical").model.description)
    robot = kt.Robot(builder.build())
    q = robot.random(1, 5)
    assert robot.model.quaternions == (slice(0, 4),)
    q[3] *= 1.001
    for asked in (robot, robot.eager):
        with pytest.raises(kt.ArgumentError, match=r"q\[3\] has a quaternion \(entries 0 to 3, xyzw\) of norm 1\.001"):
            asked.mass_matrix(q)
        with pytest.raises(kt.ArgumentError, match=r"q1\[3\] has a quaternion"):
            asked.difference(q[0], q)
        with pytest.raises(kt.ArgumentError, match=r"q has a quaternion .* of norm 0; expected a unit quaternion"):
            asked.poses(np.zeros(4))
        slightly = q[0] * (1 + 1e-7)
        close(np.linalg.norm(asked.integrate(slightly, np.zeros(3))), 1.0, 1e-15)
        assert np.isnan(asked.poses(np.full(4, np.nan))).any()
    floating = kt.Robot(builder.build("floating"))
    assert floating.model.quaternions == (slice(3, 7), slice(7, 11))
    with pytest.raises(kt.ArgumentError, match=r"q has a quaternion \(entries 7 to 10, xyzw\) of norm 0"):
        floating.mass_matrix(np.eye(11)[6])


def test_a_universal_joint_keeps_the_angle_between_its_axes():
    """So it has no singular position; nearly parallel axes make it stiff everywhere, a thin rod in some positions."""
    nearly = one("universal", axis=(0, 0, 1), axis2=(1e-3, 0, 1))
    q, v = np.array([0.4, 2.0]), np.array([1.0, 2.0])
    tau = nearly.inverse_dynamics(q, v, [3.0, -1.0])
    close(nearly.forward_dynamics(q, v, tau), [3.0, -1.0], 1e-6)
    rod = kt.Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 0.0]))  # along z: nothing resists a turn about it
    thin = kt.Robot(one("universal", inertia=rod, axis2=(1, 0, 0)).model)
    assert np.isfinite(thin.forward_dynamics([0.3, 0.5], v, [0.0, 0.0])).all()
    for asked in (thin, thin.eager):
        with pytest.raises(kt.SingularMassMatrixError, match="joint 'joint' can move without moving any mass"):
            asked.forward_dynamics([0.3, 0.0], v, [0.0, 0.0])  # upright, the first axis is along the rod


# -- every way to compute ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("kind", NEW)
@pytest.mark.sampled(8)
def test_compiled_and_in_batches_as_by_the_textbook(kind, base):
    rng = np.random.default_rng(3)
    model = kt.random_model(rng, 3, (kind,), base=base, base_velocity="mixed", spatial_order="angular-first")
    robot = kt.Robot(model)
    q, v, a = robot.random(rng, 9), rng.normal(size=(9, robot.nv)), rng.normal(size=(9, robot.nv))
    tool = "tool"
    for call in (
        lambda r, k: r.inverse_dynamics(q[k], v[k], a[k], {tool: np.arange(6.0)}),
        lambda r, k: r.forward_dynamics(q[k], v[k], a[k]),
        lambda r, k: r.mass_matrix(q[k]),
        lambda r, k: r.poses(q[k]),
        lambda r, k: r.integrate(q[k], v[k]),
        lambda r, k: r.difference(q[k], q[0]),
        lambda r, k: r.center_of_mass_acceleration(q[k], v[k], a[k]),
        lambda r, k: r.kinetic_energy(q[k], v[k]),
        *(lambda r, k, ref=ref: r.frame(tool).jacobian_rate(q[k], v[k], ref) for ref in REFERENCES),
        lambda r, k: r.frame(tool).acceleration(q[k], v[k], a[k]),
    ):
        batch = call(robot, slice(None))
        for k in (0, 8):
            assert np.array_equal(call(robot, k), batch[k])
            close(batch[k], call(robot.eager, k), 1e-10)
    by_recursion = aba.forward_dynamics(model, q[1], v[1], a[1])
    close(by_recursion, factorization.forward_dynamics(model, q[1], v[1], a[1]), 1e-9)


def test_pinocchio_has_the_same_universal_joint():
    """Trees with arbitrary axes are compared elsewhere, with two revolute joints; here the joint of that name."""
    robot = one("universal", "floating", axis=(1, 2, 2), axis2=(2, 1, -2))
    s, peer = state_of(robot, np.random.default_rng(0)), pin_from_tree(robot.model)
    assert any(joint.shortname() == "JointModelUniversal" for joint in peer.model.joints)
    tau = pin.rnea(peer.model, peer.data(), peer.q(s.q), s.v, s.a)
    close(robot.inverse_dynamics(s.q, s.v, s.a), tau, 1e-13)


def test_a_follower_can_be_a_screw_and_follow_one():
    builder = kt.ModelBuilder("jack")
    builder.link("base")
    for name in ("screw", "other", "table"):
        builder.link(name, kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3)))
    builder.joint("drive", "helical", "base", "screw", pitch=0.1, lower=-10, upper=10)
    builder.joint("twin", "helical", "base", "other", pitch=0.1, xyz=(1, 0, 0), mimic=kt.Mimic("drive", -1.0, 0.5))
    builder.joint("lift", "prismatic", "base", "table", mimic=kt.Mimic("twin", 0.1))
    robot = kt.Robot(builder.build())
    poses = robot.poses([2.0])
    close(poses[:, 2, 3], [0.2, 0.1 * -1.5, 0.1 * -1.5], 1e-15)
    close(robot.mass_matrix([2.0]), [[1.01 + 1.01 + 0.01]], 1e-14)
    bolted = kt.ModelBuilder("bolted")
    bolted.link("a")
    bolted.link("b")
    bolted.link("c", kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3)))
    bolted.joint("weld", "fixed", "a", "b")
    bolted.joint("thread", "helical", "b", "c", pitch=0.1, mimic=kt.Mimic("weld", 1.0, 3.0))
    close(kt.Robot(bolted.build()).frame("c").pose([])[2, 3], 0.3, 1e-15)


def test_every_new_kind_is_drawn_by_name():
    for kind in NEW:
        assert kind in EVERY_JOINT
        assert type(kt.random_model(0, 1, kind).joints[1]).__name__.lower() == kind


# -- what can be given per coordinate ----------------------------------------------------------------------------------


def test_limits_of_each_coordinate():
    robot = one("planar", lower=(-1, -2, -3), upper=[1, 2, np.inf], velocity=(4, 5, 6), effort=7)
    limits = robot.limits
    assert limits.lower.tolist() == [-1, -2, -3] and limits.upper.tolist() == [1, 2, np.inf]
    assert limits.velocity.tolist() == [4, 5, 6] and limits.effort.tolist() == [7, 7, 7]
    q = robot.random(0, 2000)
    assert np.all(q >= limits.lower) and np.all(q <= limits.upper)
    assert q[:, 2].max() > 3.0 and q[:, 1].max() > 1.9 and q[:, 0].max() < 1.0
    unlimited = one("universal", axis2=OTHER).random(0, 2000)
    assert np.all(np.abs(unlimited) <= np.pi) and np.abs(unlimited).max() > 3.1
    both = one("universal", axis2=OTHER, lower=-0.5, upper=0.5)
    assert both.limits.lower.tolist() == [-0.5, -0.5]
    free = one("free", lower=-0.25, upper=[0.25, 0.5, 1.0, *4 * [np.inf]], velocity=np.arange(6.0))
    assert free.limits.lower.tolist() == 3 * [-0.25] + 4 * [-np.inf]
    p = free.random(0, 500)[:, :3]
    assert np.all(p >= -0.25) and np.all(p <= [0.25, 0.5, 1.0]) and p[:, 2].max() > 0.9
    ball = one("spherical", velocity=(1, 2, 3), effort=5)
    assert ball.limits.lower.tolist() == 4 * [-np.inf] and ball.limits.velocity.tolist() == [1, 2, 3]
    single = one("revolute", lower=[-1.0], upper=np.array([2.0]))
    assert single.limits.lower.tolist() == [-1.0] and single.limits.upper.tolist() == [2.0]


@pytest.mark.parametrize(
    ("kind", "options", "sentence"),
    [
        ("revolute", {"pitch": 0.1}, "joint 'joint': pitch is given; a revolute joint has none"),
        ("helical", {}, r"pitch is missing; a helical joint advances by it \[m/rad\]"),
        ("helical", {"pitch": np.nan}, "pitch is nan; expected a finite number"),
        ("helical", {"pitch": "fine"}, "pitch is 'fine'; expected a number"),
        ("helical", {"pitch": 0.1, "axis": (0, 0, 0)}, r"axis is \(0, 0, 0\); expected a direction"),
        ("prismatic", {"axis2": (1, 0, 0)}, "axis2 is given; a prismatic joint has none"),
        ("spherical", {"axis2": (1, 0, 0)}, "axis2 is given; a spherical joint has none"),
        ("universal", {}, "axis2 is missing; a universal joint turns about two axes"),
        ("universal", {"axis2": (0, 0, -2)}, "axis and axis2 are parallel; expected two directions"),
        ("universal", {"axis2": (0, 0, 0)}, r"axis2 is \(0, 0, 0\); expected a direction"),
        ("universal", {"axis2": (0, 1)}, "axis2 is .*; expected three finite numbers"),
        ("universal", {"axis2": (1, 0, 0), "pitch": 1.0}, "pitch is given; a universal joint has none"),
        ("planar", {"axis": (0, 0, 0)}, r"axis is \(0, 0, 0\); expected a direction"),
        ("planar", {"lower": (1, 2)}, "lower has 2 numbers; expected one, or 3 for a planar joint"),
        ("planar", {"lower": (0, 0, 1), "upper": (1, 1, 0)}, "lower limit 1 is above upper limit 0"),
        ("planar", {"lower": (0, np.nan, 1)}, "a limit is NaN"),
        ("planar", {"velocity": (1, "2", 3)}, "velocity is '2'; expected a number"),
        ("revolute", {"effort": (1, 2)}, "effort has 2 numbers; expected one$"),
        ("spherical", {"lower": -1.0}, "lower is -1 for the quaternion of a spherical joint, which has no limits"),
        ("free", {"upper": 7 * (1.0,)}, "upper is 1 for the quaternion of a free joint, which has no limits"),
        ("free", {"upper": 6 * (1.0,)}, "upper has 6 numbers; expected one, or 7 for a free joint"),
        (
            "planar",
            {"dynamics": kt.JointDynamics(damping=(1.0, 2.0))},
            "damping of its dynamics has 2 numbers; expected one, or 3",
        ),
    ],
)
def test_what_a_joint_cannot_have(kind, options, sentence):
    with pytest.raises(kt.ModelError, match=sentence):
        one(kind, **options)


def test_what_may_not_mimic_or_be_mimicked():
    builder = kt.ModelBuilder("pair")
    for name in ("a", "b", "c"):
        builder.link(name, BODY)
    builder.joint("plate", "planar", "a", "b", mimic=kt.Mimic("hinge"))
    builder.joint("hinge", "revolute", "a", "c")
    assert "it is planar, so its mimic tag was ignored" in str(builder.build().findings[0])
    builder.link("d", BODY)
    builder.joint("follower", "revolute", "a", "d", mimic=kt.Mimic("plate"))
    with pytest.raises(kt.ModelError, match="it mimics 'plate', a planar joint; expected one coordinate"):
        builder.build()


def test_oddities_are_noted():
    robot = one("universal", axis2=(0, 3, 0), velocity=(1, -2))
    assert [str(finding) for finding in robot.check()] == [
        "joint 'joint': axis2 has length 3; it was normalized",
        "joint 'joint': its velocity limit -2 is negative",
    ]


def test_a_planar_joint_in_a_urdf_file_is_normal_to_its_axis():
    text = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"
      ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="planar"><parent link="a"/><child link="b"/>
      {}</joint></robot>"""
    level, upright = kt.load(text.format('<axis xyz="0 0 1"/>')), kt.load(text.format(""))
    close(level.poses([1.0, 2.0, 0.0])[0, :3, 3], [1, 2, 0], 0.0)
    close(upright.poses([1.0, 2.0, 0.0])[0, :3, 3], [0, 2, -1], 0.0)  # URDF's axis is x where the file has none
    model = pin.buildModelFromXML(text.format('<axis xyz="0 0 1"/>'))
    data = model.createData()
    q = np.array([1.0, 2.0, 0.7])
    pin.forwardKinematics(model, data, kt.convert(level, "q", q, to="pinocchio"))
    close(level.poses(q)[0], data.oMi[1].homogeneous, 1e-15)


def test_digests_tell_joints_apart():
    robots = [
        one("helical", pitch=0.1),
        one("helical", pitch=0.2),
        one("universal", axis2=OTHER),
        one("universal", axis2=SKEW),
        one("planar"),
        one("planar", dynamics=kt.JointDynamics(damping=(1, 2, 3))),
        one("planar", dynamics=kt.JointDynamics(damping=(1, 2, 4))),
        one("spherical"),
    ]
    assert len({robot.model.digest for robot in robots}) == len(robots)
    for robot in robots:
        robot.poses(robot.neutral())  # what a joint remembers is not part of it
        assert kt.Robot(pickle.loads(pickle.dumps(robot.model))) == kt.Robot(robot.model)
