"""Rigid stops at limits of joints and tendons, and contact of robots with closed loops, in one solve with the contacts.

Covers: simulation/contact/stops.py.
"""

import numpy as np
import pytest

import kinetree as kt
from contact_bodies import ALL
from kinetree.simulation import Ground, RigidContact, Touch
from linkages import along, four_bar, four_bar_at
from peers import close

G = 9.81


def pendulum(lower, upper):
    builder = kt.ModelBuilder("pendulum")
    builder.link("base")
    builder.link("rod", kt.Inertia.from_com(1.0, (0.0, 0.0, -0.5), 0.02 * np.eye(3)))
    builder.joint("hinge", "revolute", "base", "rod", axis=(0.0, 1.0, 0.0), lower=lower, upper=upper)
    return kt.Robot(builder.build())


@pytest.mark.parametrize(("lower", "upper", "start"), [(0.2, 1.5, 1.0), (-1.5, -0.2, -1.0), (0.2, np.inf, 1.0)])
def test_a_pendulum_falls_onto_its_stop_and_rests_there(lower, upper, start):
    robot, limit = pendulum(lower, upper), 0.2 * np.sign(start)
    path = robot.rollout(
        [start], [0.0], None, 1e-3, 3000, contact=RigidContact((), stops=True), record=("q", "v", "stop_efforts")
    )
    assert np.abs(path.q).min() >= 0.2 - 1e-12
    close(path.q[-1], np.array([limit]), 1e-12)
    close(path.v[-1], np.zeros(1), 1e-12)
    close(path["stop_efforts"][-1], np.abs(robot.gravity_forces([limit])), 1e-9)
    free = robot.rollout([start], [0.0], None, 1e-3, 3000)
    assert np.abs(free.q).min() < 0.1


ROPE = """<mujoco><option gravity="0 0 {}"/><worldbody><site name="hook"/>
  <body name="ball"><joint name="x" type="slide" axis="1 0 0" damping="{damping}"/>
  <joint name="y" type="slide" axis="0 1 0" damping="{damping}"/>
  <joint name="z" type="slide" axis="0 0 1" damping="{damping}"/>
  <geom size="0.05" mass="2"/><site name="eye"/></body></worldbody>
  <tendon><spatial name="rope" range="0 1.5" limited="true"><site site="hook"/><site site="eye"/></spatial>
  </tendon></mujoco>"""


def test_a_ball_on_a_rope_falls_and_hangs():
    robot, contact = kt.load(ROPE.format(-G, damping=2.0)), RigidContact((), stops=True)
    recorded = ("q", "v", "stop_efforts")
    path = robot.rollout([0.6, 0.0, 0.3], [0.5, 0.2, 0.0], None, 2e-3, 8000, contact=contact, record=recorded)
    length = np.linalg.norm(path.q, axis=1)
    assert length.max() < 1.5 + 2e-4 and length[:50].max() < 1.0
    close(path.q[-1], [0.0, 0.0, -1.5], 1e-3)
    close(path["stop_efforts"][-1], [2.0 * G], 1e-3)
    assert (path["stop_efforts"][:50] == 0.0).all(), "slack, it does not push"
    on_bumpers = robot.rollout([0.0, 0.0, -1.4], np.zeros(3), None, 1e-3, 8000, forces=kt.LimitStops(1e4, 300.0))
    close(on_bumpers.q[-1], [0.0, 0.0, -1.5 - 2.0 * G / 1e4], 1e-6)
    assert (path.names["stop_efforts"], path.units["stop_efforts"]) == (("rope",), ("N",))


def test_a_ball_on_a_rope_circles():
    """With the tension m v² / ℓ, and at the same speed."""
    robot, contact = kt.load(ROPE.format(0, damping=0.0)), RigidContact((), stops=True)
    recorded = ("q", "v", "stop_efforts")
    path = robot.rollout([1.5, 0.0, 0.0], [0.0, 3.0, 0.0], None, 2e-4, 5000, contact=contact, record=recorded)
    close(path["stop_efforts"][100:], np.full((4900, 1), 2.0 * 3.0**2 / 1.5), 0.03)
    close(np.linalg.norm(path.v[-1]), 3.0, 2e-3)
    close(path.q[-1], [1.5 * np.cos(2.0), 1.5 * np.sin(2.0), 0.0], 5e-3)


def test_a_tendon_over_two_joints_passes_a_push_on():
    """Two carts with a play of 0.1 m between them; what the one loses the other gets."""
    text = """<mujoco><option gravity="0 0 0"/><worldbody>
      <body><joint name="a" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body>
      <body pos="1 0 0"><joint name="b" type="slide" axis="1 0 0"/><geom size="0.1" mass="3"/></body></worldbody>
      <tendon><fixed name="play" range="-0.1 0.1" limited="true"><joint joint="a" coef="1"/>
        <joint joint="b" coef="-1"/></fixed></tendon></mujoco>"""
    robot = kt.load(text)
    assert robot.tendons.names == ("play",) and kt.load(robot.to_mjcf()).model.tendons == robot.model.tendons
    assert any("limits of 1 tendon are held where those of joints are" in each.message for each in robot.check())
    for sign in (1.0, -1.0):
        path = robot.rollout([0.0, 0.0], [sign, 0.0], None, 1e-3, 300, contact=RigidContact((), stops=True))
        close(path.v[50], [sign, 0.0], 1e-12)
        close(path.v[-1], [0.25 * sign, 0.25 * sign], 1e-9)
    off = text.replace("<mujoco>", "<mujoco><option><flag limit='disable'/></option>")
    assert not len(kt.load(off).tendons)


def test_strong_damping_and_friction_only_slow_down():
    """Of joints: taken at the end of a step, where explicit steps of the same length would explode."""
    builder = kt.ModelBuilder("pendulum")
    builder.link("base")
    builder.link("rod", kt.Inertia.from_com(1.0, (0.0, 0.0, -0.5), 0.02 * np.eye(3)))
    dynamics = kt.JointDynamics(damping=500.0, friction=1.0)
    builder.joint("hinge", "revolute", "base", "rod", axis=(0.0, 1.0, 0.0), lower=0.2, upper=1.5, dynamics=dynamics)
    robot = kt.Robot(builder.build(passive=True))
    contact = RigidContact((), stops=True)
    path = robot.rollout([1.0], [0.5], None, 2e-3, 2000, contact=contact)
    assert (np.abs(path.v[1:]) < np.abs(path.v[0])).all()
    speed = -(9.81 * 0.5 * np.sin(path.q[-1, 0]) - 1.0) / 500.0  # where weight and damping balance
    close(path.v[-1, 0], speed, 1e-3)
    with pytest.raises(kt.ArgumentError, match="integrator is 'rk4'; rigid contact makes its own steps"):
        robot.rollout([1.0], [0.5], None, 2e-3, 10, "rk4", contact=contact)
    with pytest.warns(kt.DivergenceWarning):
        robot.rollout([1.0], [0.5], None, 2e-3, 2000)


def test_an_arm_collapses_onto_its_stops():
    """Six joints, some at lower and some at upper limits; at rest the stops carry what gravity asks for."""
    robot = kt.load("arm6")
    contact = RigidContact((), stops=True)
    rng = np.random.default_rng(1)
    q0 = robot.random(rng, 9)

    @kt.compile
    def damped(robot, q, v):
        return -5.0 * (robot.mass_matrix(q) @ v)

    path = robot.rollout(q0, np.zeros(6), damped, 1e-3, 6000, contact=contact, record=("q", "v", "stop_efforts"))
    over = np.maximum(robot.limits.lower - path.q, path.q - robot.limits.upper)
    assert over.max() < 1e-3
    efforts = path["stop_efforts"]
    assert efforts.min() >= 0.0 and (efforts[:, -1] > 0.1).any()
    resting = np.abs(path.v[:, -1]).max(axis=1) < 5e-3
    assert resting.sum() > 5
    for q, effort in zip(path.q[resting, -1], efforts[resting, -1], strict=True):
        middle = 0.5 * (robot.limits.lower + robot.limits.upper)
        away = np.where(q > middle, -1.0, 1.0)
        close(away * effort, robot.gravity_forces(q), 2e-2)


def test_a_four_bar_meets_a_wall():
    """Its loop stays closed, the wall is not passed, and no energy comes of it."""
    robot = four_bar()
    q, v, _, _ = along(four_bar_at, 0.4, 2.0)
    loop, tip = kt.Loop("coupler_end", "rocker_end"), robot.frame("coupler_end")
    system = robot.constrained(loop)

    @kt.compile
    def damped(robot, q, v):
        return -0.02 * v

    without = tip.pose(system.rollout(q, v, damped, 1e-3, 8000).q)[:, :3, 3]
    normal = without[0] - without[np.argmax(np.linalg.norm(without - without[0], axis=1))]
    heights = without @ normal / np.linalg.norm(normal)
    wall = Ground(normal, 0.5 * (heights[0] + heights.min()))  # half way to where it would go
    contact = RigidContact(Touch("coupler_end"), wall, friction=0.3, held=loop)
    path = robot.rollout(q, v, damped, 1e-3, 8000, contact=contact, record=("q", "v", *ALL))
    errors = np.abs(system.position_error(path.q)).max(axis=1)
    assert errors.max() < 1e-4  # of the order of dt² and without drift, for eight seconds
    assert np.abs(np.einsum("nij,nj->ni", system.jacobian(path.q[:-1]), path.v[1:])).max() < 1e-9
    assert (path["contact_forces"] != 0.0).any()
    assert path["contact_gaps"].min() > -1e-4
    energy = robot.kinetic_energy(path.q, path.v) + robot.potential_energy(path.q)
    assert energy[-1] < energy[0] and np.diff(energy).max() < 1e-3 * abs(energy[0]) + 1e-3


def test_a_follower_touches_and_its_leader_feels_it():
    """A mimic joint couples two branches: what stops the one stops the other, as constraints say."""
    builder = kt.ModelBuilder("two branches")
    builder.link("base")
    rod = kt.Inertia.from_com(1.0, (0.0, 0.0, -0.3), 0.02 * np.eye(3))
    for side, y in (("left", 0.2), ("right", -0.2)):
        builder.link(f"{side} upper", rod)
        builder.link(f"{side} lower", rod)
        builder.joint(f"{side} hip", "revolute", "base", f"{side} upper", axis=(0.0, 1.0, 0.0), xyz=(0.0, y, 0.0))
        mimic = kt.Mimic("left knee", -1.0) if side == "right" else None
        place = {"axis": (0.0, 1.0, 0.0), "xyz": (0.0, 0.0, -0.6), "mimic": mimic}
        builder.joint(f"{side} knee", "revolute", f"{side} upper", f"{side} lower", **place)
    builder.frame("tip", "right lower", xyz=(0.0, 0.0, -0.6))
    robot = kt.Robot(builder.build())
    q, v = np.array([0.3, 0.5, -0.4]), np.array([1.0, -2.0, 0.5])
    tip = robot.frame("tip")
    moving = tip.jacobian(q)[:3] @ v
    wall = Ground(-moving, float(-moving @ tip.pose(q)[:3, 3]) / float(np.linalg.norm(moving)))
    tips = [Touch("tip", friction=50.0 + k) for k in range(4)]
    contact = RigidContact(tips, wall, sweeps=60)
    path = robot.rollout(q, v, None, 1e-7, 1, contact=contact, record=("q", "v", *ALL))
    after, _ = robot.constrained(kt.Contact("tip")).impact(q, v)
    assert np.abs(after - v).max() > 1.0
    close(path.v[-1], after, 1e-5)


@pytest.mark.sweep
def test_what_is_held_beside_a_contact_carries_its_share():
    """A quadruped with one foot bolted to the ground, the others free to lift: forces on all add up to the weight."""
    robot = kt.load("quadruped", base="floating")
    feet = [name for name in robot.frame_names if name.endswith("foot")]
    q = robot.neutral()
    for k, name in enumerate(robot.joint_names, start=7):
        q[k] = {"haa": 0.0, "hfe": 0.6, "kfe": -1.2}[name[-3:]]
    q[2] -= RigidContact(feet).gaps(robot, q).min()
    target = q[7:].copy()

    @kt.compile
    def pd(robot, q, v):
        return np.concatenate([np.zeros(6), 200.0 * (target - q[7:]) - 6.0 * v[6:]])

    place = robot.frame(feet[0]).pose(q)[:3, 3]
    contact = RigidContact(feet[1:], held=kt.Contact(feet[0], at=place))
    path = robot.rollout(q, np.zeros(robot.nv), pd, 2e-3, 3000, contact=contact, record=("q", "v", *ALL))
    close(robot.frame(feet[0]).pose(path.q)[:, :3, 3], np.broadcast_to(place, (3001, 3)), 1e-6)
    usual = robot.rollout(q, np.zeros(robot.nv), pd, 2e-3, 3000, contact=RigidContact(feet), record=("q", "v", *ALL))
    close(path.q[-1], usual.q[-1], 1e-5)
    close(path["contact_forces"][-1], usual["contact_forces"][-1, 1:], 1e-3)
