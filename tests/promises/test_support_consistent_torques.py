"""Torques of a robot on contacts are those of the printed formula, however many contacts there are and whatever they
repeat: least squares of minimum norm."""

import numpy as np
import pytest

import kinetree as kt
from extended_precision import Decomposed, agree
from kinetree.control import CentroidalMomentum, SupportConsistent
from support_formula import printed, printed_in_40_digits

FEET = ("front_left_foot", "front_right_foot", "hind_left_foot", "hind_right_foot")
STANCES = {
    "one point": [kt.Contact(FEET[0])],
    "two points": [kt.Contact(FEET[0]), kt.Contact(FEET[3])],
    "three points": [kt.Contact(foot) for foot in FEET[:3]],
    "four points": [kt.Contact(foot) for foot in FEET],
    "one surface": [kt.Contact(FEET[0], "surface")],
    "one point twice": [kt.Contact(FEET[0]), kt.Contact(FEET[0])],
    "two points twice": [kt.Contact(foot) for foot in (FEET[0], FEET[1]) * 2],
    "a point and a surface of one foot": [kt.Contact(FEET[0]), kt.Contact(FEET[0], "surface")],
    "four surfaces": [kt.Contact(foot, "surface") for foot in FEET],
    "points and a loop": [kt.Contact(FEET[0]), kt.Loop(FEET[1], FEET[2])],
}


@pytest.fixture(scope="module")
def dog():
    return kt.load("quadruped", base="floating")


def state(robot, rng):
    return robot.random(rng), *rng.normal(size=(3, robot.nv))


@pytest.mark.parametrize("name", STANCES)
@pytest.mark.sampled(4)
def test_every_stance_has_the_torques_of_the_printed_formula(dog, name):
    stance, rng = dog.eager.constrained(STANCES[name]), np.random.default_rng(0)
    for k in range(4):
        q, v, a, tau_0 = state(dog, rng)
        expected, N, _ = printed(stance, q, v, a, tau_0)
        if k == 0 and name != "four surfaces":
            np.testing.assert_allclose(printed_in_40_digits(stance, q, v, a, tau_0), expected, atol=1e-8)
        got, _ = stance.nearest_torques(q, v, a, tau_0)
        np.testing.assert_allclose(got[6:], expected, atol=1e-7)
        least, _ = stance.inverse_dynamics(q, v, a)
        np.testing.assert_allclose(least[6:], printed(stance, q, v, a, np.zeros(18))[0], atol=1e-7)
        np.testing.assert_allclose(stance.projector(q), N, atol=1e-7)
        residual = N.T @ (dog.inverse_dynamics(q, v, a) - np.concatenate([np.zeros(6), got[6:]]))
        np.testing.assert_allclose(got[:6], residual[:6], atol=1e-7)


@pytest.mark.parametrize("name", STANCES)
def test_the_inertia_of_constraints_is_a_pseudo_inverse(dog, name):
    """Beside 40 digits: symmetric, positive semidefinite, of minimum norm."""
    stance, rng = dog.eager.constrained(STANCES[name]), np.random.default_rng(5)
    q = dog.random(rng)
    exact = Decomposed(stance.jacobian(q), dog.mass_matrix(q))
    Lambda = stance.constraint_inertia(q)
    np.testing.assert_array_equal(Lambda, Lambda.T)
    assert exact.is_clear and exact.rank == np.linalg.matrix_rank(stance.jacobian(q), 1e-9)
    assert agree(Lambda, exact.inertia(), 100 * exact.accuracy)
    assert np.linalg.eigvalsh(Lambda)[0] > -1e-12 * np.linalg.eigvalsh(Lambda)[-1]


@pytest.mark.sweep
def test_constraints_that_repeat_each_other_in_machine_code(dog):
    for name in ("one point twice", "two points"):
        stance, q = dog.constrained(STANCES[name]), dog.random(np.random.default_rng(6), 3)
        textbook = dog.eager.constrained(STANCES[name])
        for quantity in ("projector", "constraint_inertia"):
            for state, got in zip(q, getattr(stance, quantity)(q), strict=True):
                np.testing.assert_allclose(got, getattr(textbook, quantity)(state), atol=1e-8)


@pytest.mark.parametrize("name", ["one point", "two points", pytest.param("two points twice", marks=pytest.mark.long)])
def test_controllers_have_them_too(dog, name):
    stance, rng = dog.constrained(STANCES[name]), np.random.default_rng(1)
    controller = SupportConsistent(stance, 30.0, 7.0)
    q, v, a, tau_0 = state(dog, rng)
    goal = dog.integrate(q, 0.1 * rng.normal(size=18))
    command = a + 30.0 * dog.difference(q, goal) - 7.0 * v
    got = controller(q, v, goal, a_des=a, tau_0=tau_0)
    np.testing.assert_array_equal(got[:6], 0.0)
    np.testing.assert_allclose(got[6:], printed(stance, q, v, command, tau_0)[0], atol=1e-7)


@pytest.mark.parametrize("name", ["one point", "two points", "three points", "one surface"])
def test_momentum_that_contacts_can_give_is_given(dog, name):
    """ḣ of random contact forces, through constrained forward dynamics, also where most other ḣ are impossible."""
    stance, rng = dog.eager.constrained(STANCES[name]), np.random.default_rng(2)
    controller = CentroidalMomentum(stance, 0.0, 0.0, angular_gain=0.0, posture=dog.neutral(), posture_stiffness=10.0)
    for _ in range(3):
        q = dog.random(rng)
        v = stance.projector(q) @ (0.3 * rng.normal(size=18))
        tau = np.concatenate([np.zeros(6), 5.0 * rng.normal(size=12)])
        wanted = dog.centroidal_momentum_rate(q, v, stance.forward_dynamics(q, v, tau)[0])
        linear, angular = wanted[:3] / dog.mass, wanted[3:]
        got = controller(q, v, dog.center_of_mass(q), acceleration=linear, angular_momentum_rate=angular)
        a, _ = stance.forward_dynamics(q, v, got)
        np.testing.assert_allclose(dog.centroidal_momentum_rate(q, v, a), wanted, atol=1e-8 * np.abs(wanted).max())


def test_random_trees_with_some_motors():
    """Fixed and floating bases, every joint, any of them without a motor."""
    rng, seen = np.random.default_rng(3), 0
    for k in range(25):
        robot = kt.Robot(kt.random_model(rng, int(rng.integers(2, 7)), base="floating" if k % 2 else "fixed")).eager
        frames = [frame.name for frame in robot.model.frames if frame.body]
        if robot.nv == 0 or not frames:
            continue
        motors = [name for name in robot.joint_names if rng.random() < 0.7]
        kinds = ("point", "surface")
        contacts = [kt.Contact(str(rng.choice(frames)), str(rng.choice(kinds))) for _ in range(rng.integers(1, 3))]
        stance = robot.constrained(contacts, actuated=motors)
        q, v, a, tau_0 = state(robot, rng)
        J, M = stance.jacobian(q), robot.mass_matrix(q)
        weighted = np.linalg.svd(np.linalg.solve(np.linalg.cholesky(M), J.T), compute_uv=False)
        U = [i for i in range(robot.nv) if i not in stance.equations.actuated]
        plain = np.linalg.svd(J[:, U], compute_uv=False) if U else np.ones(1)
        clear = all(not np.any((s > 1e-13 * s[0]) & (s < 1e-3 * s[0])) for s in (weighted, plain) if s.size and s[0])
        expected, _, s = printed(stance, q, v, a, tau_0)
        if not clear or np.any((s > 1e-12) & (s < 1e-3)) or not stance.equations.actuated:
            continue
        seen += 1
        got = stance.nearest_torques(q, v, a, tau_0)[0][list(stance.equations.actuated)]
        np.testing.assert_allclose(got, expected, atol=1e-6 * max(1.0, np.abs(expected).max()))
    assert seen > 8
