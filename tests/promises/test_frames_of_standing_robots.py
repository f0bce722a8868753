"""Control of a frame of a robot that stands on contacts: the command is met by motors alone, where it can be.

Covers: control/on_contacts.py.
"""

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import CartesianImpedance, HybridMotionForce, OperationalSpace

FEET = ("front_left_foot", "front_right_foot", "hind_left_foot", "hind_right_foot")


@pytest.fixture(scope="module")
def dog():
    return kt.load("quadruped", base="floating").eager


def standing(robot, stance, rng):
    q = robot.integrate(robot.neutral(), 0.3 * rng.normal(size=robot.nv))
    return q, stance.projector(q) @ (0.3 * rng.normal(size=robot.nv))


@pytest.mark.parametrize("posture", [False, True])
def test_a_frame_accelerates_as_commanded_and_the_base_has_no_effort(dog, posture):
    """The trunk on four feet, and a lifted foot on three, to 1e-9 in constrained forward dynamics."""
    rng = np.random.default_rng(0)
    trunk = dog.frame_names[0]
    rest = {"posture": dog.neutral(), "posture_stiffness": 10.0} if posture else {}
    for feet, frame, task in ((FEET, trunk, "pose"), (FEET[:3], FEET[3], "position"), (FEET, trunk, ("z", "rx"))):
        stance = dog.constrained([kt.Contact(foot) for foot in feet])
        controller = OperationalSpace(stance, frame, 50.0, 9.0, task=task, **rest)
        moving, rows = dog.frame(frame), controller.task.rows
        for _ in range(3):
            q, v = standing(dog, stance, rng)
            pose = moving.pose(q)
            pose[:3, 3] += 0.03
            w, a = (np.zeros(6), rng.normal(size=6))
            point = controller.task.references(dog)["velocity"] == (3,)
            reference = (pose[:3, 3], w[:3], a[:3]) if point else (pose, w, a)
            tau = controller(q, v, reference)
            np.testing.assert_array_equal(tau[:6], 0.0)
            got, _ = stance.forward_dynamics(q, v, tau)
            wanted = a + 50.0 * np.array([0.03] * 3 + [0.0] * 3) - 9.0 * moving.velocity(q, v)
            acceleration = moving.acceleration(q, v, got)[list(rows)]
            np.testing.assert_allclose(acceleration, wanted[list(rows)], atol=1e-9 * (1.0 + np.abs(wanted).max()))
            drift = stance.jacobian(q) @ got + stance.bias(q, v)
            np.testing.assert_allclose(drift, 0.0, atol=1e-8)


def test_a_foot_presses_as_commanded(dog):
    """Hybrid: the lifted foot moves in x and y, and is at rest in z while the world pushes it with the wanted force."""
    rng, stance = np.random.default_rng(1), dog.constrained([kt.Contact(foot) for foot in FEET[:3]])
    controller = HybridMotionForce(stance, FEET[3], 50.0, motion_directions=("x", "y"))
    foot = dog.frame(FEET[3])
    f = np.array([0.0, 0.0, 12.0, 0.0, 0.0, 0.0])
    for _ in range(3):
        q, v = standing(dog, stance, rng)
        a = rng.normal(size=6)
        tau = controller(q, v, (foot.pose(q), foot.velocity(q, v), a, f))
        np.testing.assert_array_equal(tau[:6], 0.0)
        got, _ = stance.forward_dynamics(q, v, tau, {FEET[3]: f})
        reached = foot.acceleration(q, v, got)
        np.testing.assert_allclose(reached[:2], a[:2], atol=1e-8)
        np.testing.assert_allclose(reached[2], 0.0, atol=1e-8)


def test_a_pushed_trunk_gives_way_as_its_impedance_says(dog):
    """ẇ - ẇ* = Λ_c⁻¹ (K e + D ė + f) with Λ_c of the robot on its feet."""
    rng, stance = np.random.default_rng(2), dog.constrained([kt.Contact(foot) for foot in FEET])
    trunk = dog.frame(dog.frame_names[0])
    controller = CartesianImpedance(stance, trunk.name, 300.0, 20.0, regularization=0.0)  # legs are nearly straight
    for _ in range(3):
        q, v = standing(dog, stance, rng)
        f, rate, a = rng.normal(size=(3, 6))
        tau = controller(q, v, (trunk.pose(q), rate, a))
        got, _ = stance.forward_dynamics(q, v, tau, {trunk.name: f})
        w = trunk.acceleration(q, v, got)
        JN = trunk.jacobian(q) @ stance.projector(q)
        A = JN @ np.linalg.solve(dog.mass_matrix(q), JN.T)
        given = A @ (20.0 * (rate - trunk.velocity(q, v)) + f)
        np.testing.assert_allclose(w - a, given, atol=1e-8 * (1.0 + np.abs(given).max()))


def test_a_robot_that_floats_freely_is_refused_with_a_sentence():
    flyer = kt.load("quadruped", base="floating")
    for kind in (OperationalSpace, HybridMotionForce):
        with pytest.raises(kt.ArgumentError, match=r"the floating base of 'quadruped' has none; robot.constrained\("):
            kind(flyer, FEET[0], 10.0)
    with pytest.raises(kt.ArgumentError, match=r"robot.constrained\("):
        CartesianImpedance(flyer, FEET[0], 10.0, 1.0)


@pytest.mark.sweep
def test_compiled_as_well():
    dog = kt.load("quadruped", base="floating")
    rng, stance = np.random.default_rng(4), dog.constrained([kt.Contact(foot) for foot in FEET[:3]])
    controller = OperationalSpace(stance, FEET[3], 50.0, task="position")
    textbook = OperationalSpace(dog.eager.constrained(stance.constraints), FEET[3], 50.0, task="position")
    q, v = standing(dog, stance, rng)
    point = dog.frame(FEET[3]).pose(q)[:3, 3] + 0.02
    np.testing.assert_allclose(controller(q, v, point), textbook(q, v, point), atol=1e-8)


def test_a_frame_that_contacts_hold_asks_for_next_to_nothing(dog):
    """What is left of its Jacobian is rounding: torques are those without an error."""
    arm = kt.load("arm7").eager
    bent = np.array([0.4, 0.5, -0.3, 1.2, 0.2, 0.7, 0.1])
    standing_still = dog.integrate(dog.neutral(), 0.1 * np.random.default_rng(1).normal(size=dog.nv))
    feet = [kt.Contact(foot) for foot in FEET]
    for robot, q, contacts, frame in (
        (arm, bent, kt.Contact("tool0"), "tool0"),
        (arm, bent, kt.Contact("tool0", "surface"), "tool0"),
        (dog, standing_still, feet, FEET[0]),
    ):
        stance, still = robot.constrained(contacts), np.zeros(robot.nv)
        there = robot.frame(frame).pose(q)
        moved = there.copy()
        moved[2, 3] += 0.05
        for task in ("position", ("z",)):
            controller = OperationalSpace(stance, frame, 100.0, task=task)
            tau = controller(q, still, moved[:3, 3])
            np.testing.assert_allclose(tau, controller(q, still, there[:3, 3]), atol=1e-5)
    hybrid = HybridMotionForce(arm.constrained(kt.Contact("tool0", "surface")), "tool0", 100.0)
    there = arm.frame("tool0").pose(bent)
    moved = there.copy()
    moved[0, 3] += 0.05
    np.testing.assert_allclose(hybrid(bent, np.zeros(7), (moved,)), hybrid(bent, np.zeros(7), (there,)), atol=1e-5)
