"""Whole-body control on contacts without friction, with adhesion, and on contacts that slide."""

import math

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import (
    CenterOfMass,
    Force,
    HybridMotionForce,
    LineContact,
    PointContact,
    Pose,
    Posture,
    SlidingContact,
    SurfaceContact,
    WholeBody,
)
from whole_bodies import standing

G = 9.81
NORMAL = np.array([0.2, -0.1, 1.0]) / np.linalg.norm([0.2, -0.1, 1.0])


@pytest.fixture(scope="module")
def wiping():
    """An arm whose tool moves along a tilted table: robot, q, v, a pose to go to, and axes of the table."""
    robot, q = kt.load("arm6").eager, np.array([0.3, -1.2, 1.5, 0.4, 0.8, 0.2])
    J = NORMAL @ robot.frame("tool0").jacobian(q)[:3]
    v = 0.3 * np.random.default_rng(0).normal(size=6)
    v = v - J * (J @ v) / (J @ J)
    x = np.cross([0.0, 1.0, 0.0], NORMAL)
    x /= np.linalg.norm(x)
    axes = np.stack([x, np.cross(NORMAL, x), NORMAL], axis=1)
    pose = robot.frame("tool0").pose(q).copy()
    pose[:3, 3] += 0.02 * axes[:, 0]
    return robot, q, v, pose, axes


def controller_of(robot, contact, **options):
    tasks = [Pose("tool0", weight=10.0), Force("tool0", part="normal", weight=10.0, name="push")]
    return WholeBody(robot, tasks, contact, limits=(), regularization=1e-6, **options)


def test_hybrid_control_of_motion_and_force_is_a_quadratic_program(wiping):
    """On a table without friction its torques are those of τ = Jᵀ (Λ S_M ẇ + S_F F + μ + p)."""
    robot, q, v, pose, axes = wiping
    step = controller_of(robot, PointContact("tool0", friction=0.0, normal=NORMAL)).step(
        q, v, {"tool0": pose, "push": 12.0 * np.ones(1)}
    )
    law = HybridMotionForce(robot, "tool0", 100.0, axes=axes, force_directions=("z",))
    force = np.concatenate([12.0 * NORMAL, np.zeros(3)])
    np.testing.assert_allclose(step.tau, law(q, v, (pose, np.zeros(6), np.zeros(6), force)), atol=1e-8)
    np.testing.assert_allclose(step.force("tool0"), [12.0], atol=1e-9)


def test_a_contact_that_slides_has_kinetic_friction_against_its_velocity(wiping):
    robot, q, v, pose, axes = wiping
    goal = {"tool0": pose, "push": 12.0 * np.ones(1)}
    smooth = controller_of(robot, PointContact("tool0", friction=0.0, normal=NORMAL)).step(q, v, goal)
    controller = controller_of(robot, SlidingContact("tool0", friction=0.4, normal=NORMAL, width=1e-6))
    step = controller.step(q, v, goal)
    slip = robot.frame("tool0").velocity(q, v)[:3]
    expected = 12.0 * (NORMAL - 0.4 * slip / np.linalg.norm(slip))
    np.testing.assert_allclose(axes @ step.force("tool0"), expected, atol=1e-6)
    np.testing.assert_allclose(step.a, smooth.a, atol=1e-9)  # motors take what friction would change
    wrenches = controller.wrenches(q, step.forces)
    np.testing.assert_allclose(step.tau, robot.inverse_dynamics(q, v, step.a, wrenches=wrenches), atol=1e-9)
    assert np.abs(step.tau - smooth.tau).max() > 0.1
    still = controller.step(q, np.zeros(6), goal)
    np.testing.assert_allclose(still.force("tool0"), [0.0, 0.0, 12.0], atol=1e-9)  # at rest its direction is not known
    off = controller.step(q, v, goal, contacts={"tool0": False}, weights={"push": 0.0})
    assert not off.forces.any()


def test_the_same_in_strict_order_and_as_an_equation(wiping):
    robot, q, v, pose, _ = wiping
    goal = {"tool0": pose, "push": 12.0 * np.ones(1)}
    contact = SlidingContact("tool0", friction=0.4, normal=NORMAL)
    weighted = controller_of(robot, contact).step(q, v, goal)
    for options in ({"priority": 1}, {"hard": True}):
        tasks = [Pose("tool0"), Force("tool0", part="normal", name="push", **options)]
        step = WholeBody(robot, tasks, contact, limits=(), regularization=1e-6).step(q, v, goal)
        np.testing.assert_allclose(step.tau, weighted.tau, atol=1e-6)


def test_a_sliding_contact_only_presses(wiping):
    robot, q, v, pose, _ = wiping
    step = controller_of(robot, SlidingContact("tool0", friction=0.4, normal=NORMAL)).step(
        q, v, {"tool0": pose, "push": -5.0 * np.ones(1)}
    )
    np.testing.assert_allclose(step.forces, 0.0, atol=1e-9)


@pytest.mark.parametrize("kind", [PointContact, LineContact, SurfaceContact])
def test_feet_without_friction_carry_what_presses_and_slide(kind):
    """Normal forces and moments about x and y alone, within the sole; nothing holds feet in the ground's directions."""
    stander = standing("humanoid")
    robot, q = stander.robot.eager, stander.q
    feet = ["left_sole", "right_sole"]
    controller = WholeBody(
        robot, [CenterOfMass(), Posture(weight=0.3)], [kind(foot, friction=0.0) for foot in feet], limits=()
    )
    center = robot.center_of_mass(q)
    v = 0.05 * np.random.default_rng(0).normal(size=robot.nv)
    step = controller.step(q, v, {"center_of_mass": center + 0.02 * np.eye(3)[2], "posture": q})
    assert len(step.force(feet[0])) == {PointContact: 1, LineContact: 2, SurfaceContact: 3}[kind]
    wrenches = controller.wrenches(q, step.forces)
    np.testing.assert_allclose(robot.inverse_dynamics(q, v, step.a, wrenches=wrenches), step.tau, atol=1e-7)
    slides = False
    for foot in feet:
        R, wrench = robot.frame(foot).pose(q)[:3, :3], wrenches[foot]
        force, moment = R.T @ wrench[:3], R.T @ wrench[3:]
        np.testing.assert_allclose(force[:2], 0.0, atol=1e-6)
        assert force[2] > 1.0 and abs(moment[2]) < 1e-6
        if kind is SurfaceContact:
            assert abs(moment[0]) <= 0.05 * force[2] + 1e-6 and abs(moment[1]) <= 0.1 * force[2] + 1e-6
        foot_acceleration = R.T @ robot.frame(foot).acceleration(q, v, step.a)[:3]
        assert abs(foot_acceleration[2]) < 1e-6
        slides |= np.abs(foot_acceleration[:2]).max() > 1e-2
    assert slides


def test_a_magnet_carries_its_adhesion_and_no_more():
    """A quadruped below a ceiling: its feet pull with a quarter of its weight each, or it falls."""
    stander = standing("quadruped")
    robot, q, v = stander.robot.eager, stander.q, np.zeros(stander.robot.nv)
    feet = [contact.frame for contact in stander.contacts]
    weight = robot.mass * G

    def hang(adhesion, friction=0.6):
        contacts = [PointContact(foot, friction=friction, normal=(0, 0, -1), adhesion=adhesion) for foot in feet]
        controller = WholeBody(robot, [CenterOfMass(hard=True), Posture(weight=0.1)], contacts, limits=())
        return controller.step(q, v, {"center_of_mass": robot.center_of_mass(q), "posture": q})

    for adhesion in (0.5 * weight, math.inf):
        step = hang(adhesion)
        assert np.isclose(sum(step.force(foot)[2] for foot in feet), -weight)
        for foot in feet:
            x, y, z = step.force(foot)
            assert math.hypot(x, y) <= 0.6 * (z + adhesion) + 1e-6
    for adhesion in (0.0, 0.24 * weight):
        with pytest.raises(kt.InfeasibleError) as caught:
            hang(adhesion)
        assert any("friction cone" in name for name in caught.value.conflicting)
    assert np.isclose(sum(hang(0.5 * weight, friction=0.0).forces), -weight)


@pytest.mark.parametrize(
    "make, sentence",
    [
        (lambda: PointContact("foot", friction=-0.1), "friction of contact 'foot' is -0.1; expected zero or more"),
        (lambda: PointContact("foot", friction=math.inf), "friction of contact 'foot' is inf; expected"),
        (lambda: PointContact("foot", adhesion=-1.0), "adhesion of contact 'foot' is -1; expected zero or more"),
        (
            lambda: SlidingContact("foot", adhesion=1.0),
            "adhesion of contact 'foot' is 1; expected none where it slides",
        ),
        (lambda: SlidingContact("foot", width=0.0), "width of contact 'foot' is 0; expected a positive number"),
        (lambda: SlidingContact("foot", normal=(0, 0, 0)), "normal of contact 'foot' is .*; expected a direction"),
        (lambda: SlidingContact("foot", at=np.eye(4)), "at of contact 'foot' is a pose; expected a point"),
        (lambda: Force("foot", part="tangent"), "part is 'tangent'; expected 'all' or 'normal'"),
    ],
)
def test_what_cannot_be_is_said(make, sentence):
    with pytest.raises(kt.ArgumentError, match=sentence):
        make()


def test_a_contact_needs_a_frame_that_a_joint_moves():
    """Also where a fixed joint at the world is kept as a body."""
    builder = kt.ModelBuilder("post")
    for name in ("ground", "post", "arm"):
        builder.link(name, kt.solids.box((0.1, 0.1, 0.1), mass=1.0))
    builder.joint("bolt", "fixed", "ground", "post")
    builder.joint("hinge", "revolute", "post", "arm", axis=(0, 1, 0))
    robot = kt.Robot(builder.build(keep_fixed=["bolt"]))
    with pytest.raises(kt.ArgumentError, match="no joint moves 'post'"):
        WholeBody(robot, Posture(), PointContact("post"))
    with pytest.raises(kt.ArgumentError, match="no joint moves 'post'"):
        robot.constrained(kt.Contact("post"))


def test_solvers_inside_a_compiled_function_say_that_they_belong_outside():
    robot = kt.load("planar2")
    controller, ik = WholeBody(robot, Posture()), kt.ik.DifferentialIK(robot, kt.ik.Position("tip"), None)
    q, v, point = robot.neutral(), np.zeros(robot.nv), np.array([1.0, 0.0, 0.5])
    inside = [
        lambda robot, q, v: controller(q, v, {"posture": q}),
        lambda robot, q, v: controller.step(q, v, {"posture": np.zeros(2)}).tau,
        lambda robot, q, v: ik(q, point),
        lambda robot, q, v: robot.ik("tip", point, q).q,
        lambda robot, q, v: robot.ik("tip", robot.frame("tip").pose(q)[:3, 3]).q,
        lambda robot, q, v: robot.rollout(q, v, None, 1e-3, 2).q,
    ]
    for function in inside:
        with pytest.raises(kt.ArgumentTypeError, match=r"cannot be part of a compiled function, .*; call it outside"):
            kt.compile(function)(robot, q, v)
    torques = controller(q, v, {"posture": q + 0.1})  # what to do instead
    scaled = kt.compile(lambda robot, q, tau: robot.forward_dynamics(q, np.zeros(2), tau))
    assert scaled(robot, q, torques).shape == (2,)
