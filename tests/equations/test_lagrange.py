"""Equations of motion from the Lagrangian alone, against the recursions, closed forms and springs made by hand."""

import pickle
import warnings

import numpy as np
import pytest

import kinetree as kt
from peers import close
from textbook import CART_POLE, PLANAR, G, cart_pole, planar_2r

WAYS = [
    {"base": "fixed"},
    {"base": "floating"},
    {"base": "floating", "base_velocity": "mixed"},
    {"base": "floating", "spatial_order": "angular-first"},
]


def state(robot, seed):
    rng = np.random.default_rng(seed)
    return robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)


@pytest.mark.parametrize("options", WAYS, ids=lambda options: " ".join(options.values()))
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.sampled(20)
def test_random_trees_of_every_joint(seed, options):
    robot = kt.Robot(kt.random_model(seed, 5, joint_dynamics=True, **options))
    q, v, a = state(robot, seed)
    by_energies = kt.Lagrange(robot)
    tau = by_energies.inverse_dynamics(q, v, a)
    close(tau, robot.inverse_dynamics(q, v, a), 1e-11)
    close(by_energies.momentum(q, v), robot.mass_matrix(q) @ v, 1e-11)
    close(by_energies.forward_dynamics(q, v, tau), a, 1e-9)


@pytest.mark.parametrize("kind", ["spherical", "planar", "universal", "free", "helical"])
@pytest.mark.sampled(3)
def test_every_kind_of_joint_alone(kind):
    robot = kt.Robot(kt.random_model(7, 2, (kind,), joint_dynamics=True))
    q, v, a = state(robot, 3)
    close(kt.Lagrange(robot).inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a), 1e-11)


def test_a_batch_and_the_textbook_path_agree():
    robot = kt.load("arm6")
    springs = (kt.Spring("tool0", (0.4, 0.1, 0.3), 120.0, 0.2),)
    rng = np.random.default_rng(0)
    q, v, a = robot.random(rng, size=5), rng.normal(size=(5, 6)), rng.normal(size=(5, 6))
    whole = kt.Lagrange(robot, springs).inverse_dynamics(q, v, a)
    one = kt.Lagrange(robot.eager, springs)
    for k in range(5):
        close(whole[k], one.inverse_dynamics(q[k], v[k], a[k]), 1e-11)


# -- closed forms ------------------------------------------------------------------------------------------------------


def test_double_pendulum():
    """m1, m2 at the ends of massless rods l1, l2, angles from the downward vertical, the second relative to the first;
    θ2 = q1 + q2 is absolute in the textbook's two equations."""
    m1, m2, l1, l2 = 1.3, 0.7, 0.9, 0.6
    builder = kt.ModelBuilder("double pendulum")
    builder.link("ceiling")
    builder.link("one", kt.Inertia.from_com(m1, (0, 0, -l1), np.zeros((3, 3))))
    builder.link("two", kt.Inertia.from_com(m2, (0, 0, -l2), np.zeros((3, 3))))
    builder.joint("q1", "revolute", "ceiling", "one", axis=(0, -1, 0))
    builder.joint("q2", "revolute", "one", "two", axis=(0, -1, 0), xyz=(0, 0, -l1))
    q, v, a = np.array([0.4, -1.1]), np.array([0.8, 1.7]), np.array([-2.0, 3.0])
    (t1, t2), (w1, w2), (a1, a2) = np.cumsum(q), np.cumsum(v), np.cumsum(a)
    c, s = np.cos(t1 - t2), np.sin(t1 - t2)
    of_t1 = (m1 + m2) * l1**2 * a1 + m2 * l1 * l2 * (a2 * c + w2**2 * s) + (m1 + m2) * G * l1 * np.sin(t1)
    of_t2 = m2 * l2**2 * a2 + m2 * l1 * l2 * (a1 * c - w1**2 * s) + m2 * G * l2 * np.sin(t2)
    close(kt.Lagrange(kt.Robot(builder.build())).inverse_dynamics(q, v, a), [of_t1 + of_t2, of_t2], 1e-13)


def test_mass_on_a_spring():
    m, k, rest = 2.0, 50.0, 0.3
    builder = kt.ModelBuilder("mass on a spring")
    builder.link("ceiling")
    builder.link("mass", kt.Inertia.from_com(m, (0, 0, 0), np.zeros((3, 3))))
    builder.joint("fall", "prismatic", "ceiling", "mass", axis=(0, 0, -1))
    hung = kt.Lagrange(kt.Robot(builder.build()), kt.Spring("ceiling", "mass", k, rest))
    x, a = 0.47, 1.9
    close(hung.potential_energy([x]), 0.5 * k * (x - rest) ** 2 - m * G * x, 1e-13)
    close(hung.inverse_dynamics([x], [0.4], [a]), [m * a - m * G + k * (x - rest)], 1e-13)
    assert abs(hung.forward_dynamics([rest + m * G / k], [0.0], [0.0])[0]) < 1e-12  # where it comes to rest


def test_spring_across_a_hinge():
    """A spring from a point at height h above the hinge to the end of a rod r: d² = r² + h² - 2 r h cos q."""
    rod, h, k, rest = 0.6, 0.8, 90.0, 0.5
    builder = kt.ModelBuilder("lamp")
    builder.link("stand")
    builder.link("rod", kt.Inertia.from_com(1.1, (0, 0, rod / 2), np.zeros((3, 3))))
    builder.joint("hinge", "revolute", "stand", "rod", axis=(0, 1, 0))
    builder.frame("tip", "rod", xyz=(0, 0, rod))
    q = np.array([0.7])
    d = np.sqrt(rod**2 + h**2 - 2 * rod * h * np.cos(q))
    force = -k * (d - rest) * rod * h * np.sin(q) / d
    close(kt.Lagrange(kt.Robot(builder.build()), kt.Spring((0, 0, h), "tip", k, rest)).spring_forces(q), force, 1e-13)


# -- springs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rest", [0.0, 0.4])
@pytest.mark.parametrize("options", WAYS, ids=lambda options: " ".join(options.values()))
@pytest.mark.sampled(4)
def test_springs_are_forces_along_the_line_between_their_ends(options, rest):
    robot = kt.load("quadruped", **options)
    one, other = robot.frame_names[-1], robot.frame_names[len(robot.frame_names) // 2]
    q, v, a = state(robot, 1)
    spring, ground = kt.Spring(one, other, 300.0, rest), (0.1, -0.2, 0.3)
    sprung = kt.Lagrange(robot, (spring, kt.Spring(ground, one, 70.0, rest)))
    frames = [robot.frame(name) for name in (one, other)]
    (p, J), (p_other, J_other) = [(frame.pose(q)[:3, 3], linear(robot, frame.jacobian(q))) for frame in frames]

    def pull(start, end, stiffness):
        d = np.linalg.norm(end - start)
        return stiffness * (d - rest) * (end - start) / d

    between, to_ground = pull(p, p_other, 300.0), pull(p, np.array(ground), 70.0)
    by_hand = J.T @ (between + to_ground) - J_other.T @ between
    close(sprung.spring_forces(q), by_hand, 1e-11)
    close(sprung.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a) - by_hand, 1e-11)


def linear(robot, J):
    return J[3:] if robot.model.spatial_order == "angular-first" else J[:3]


def test_energy_is_kept_along_a_motion():
    robot = planar_2r(**PLANAR)
    sprung = kt.Lagrange(robot, kt.Spring("two", (0.5, 0.0, 1.0), 40.0, 0.3))
    q, v, dt = np.array([0.3, 0.5]), np.array([1.0, -0.4]), 1e-3
    start = robot.kinetic_energy(q, v) + sprung.potential_energy(q)
    plain = robot.kinetic_energy(q, v) + robot.potential_energy(q)
    for _ in range(300):  # the midpoint rule
        q_half, v_half = q + dt / 2 * v, v + dt / 2 * sprung.forward_dynamics(q, v, np.zeros(2))
        q, v = q + dt * v_half, v + dt * sprung.forward_dynamics(q_half, v_half, np.zeros(2))
    assert abs(robot.kinetic_energy(q, v) + sprung.potential_energy(q) - start) < 1e-4
    assert abs(robot.kinetic_energy(q, v) + robot.potential_energy(q) - plain) > 0.1  # what the spring took


def test_ends_that_meet_have_no_force_and_no_nan():
    robot = cart_pole(**CART_POLE)
    sprung = kt.Lagrange(robot, kt.Spring("cart", (0.0, 0.0, 0.0), 10.0, 0.5))
    assert np.array_equal(sprung.spring_forces([0.0, 0.3]), [0.0, 0.0])
    close(sprung.potential_energy([0.0, 0.3]) - robot.potential_energy([0.0, 0.3]), 0.5 * 10.0 * 0.25, 1e-14)
    close(sprung.spring_forces([1e-9, 0.3])[0], 10.0 * (0.5 - 1e-9), 1e-9)


# -- what it is --------------------------------------------------------------------------------------------------------


def test_it_is_picklable_and_part_of_larger_laws():
    robot = kt.load("planar2")
    sprung = kt.Lagrange(robot, kt.Spring(robot.frame_names[-1], (1.0, 0.0, 1.0), 40.0, 0.3))
    copy = pickle.loads(pickle.dumps(sprung))
    q, v = np.array([0.3, 0.5]), np.array([1.0, -0.4])
    assert copy == sprung
    assert np.array_equal(copy.lagrangian(q, v), sprung.lagrangian(q, v))
    close(sprung.lagrangian(q, v), robot.kinetic_energy(q, v) - sprung.potential_energy(q), 1e-13)
    free = kt.compile(lambda robot, q, v: sprung.forward_dynamics(q, v, np.zeros(2)))
    close(free(robot, q, v), sprung.forward_dynamics(q, v, np.zeros(2)), 1e-12)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda r: kt.Spring("tool0", (0, 0), 1.0), "b has shape (2,); expected (3,)"),
        (lambda r: kt.Spring("tool0", (0, 0, np.inf), 1.0), "expected the name of a frame or three finite numbers"),
        (lambda r: kt.Spring("tool0", "base", -1.0), "stiffness is -1; expected zero or more, and finite"),
        (lambda r: kt.Spring("tool0", "base", 1.0, np.nan), "rest_length is nan; expected zero or more, and finite"),
        (lambda r: kt.Lagrange(r, kt.Spring("tool", (0, 0, 0), 1.0)), "frame 'tool' does not exist; did you mean"),
        (lambda r: kt.Lagrange(r, [3]), "springs has 3; expected a kinetree.Spring"),
        (lambda r: kt.Lagrange(r, 3), "springs is 3; expected springs, each a kinetree.Spring"),
        (lambda r: kt.Lagrange(r.model), "expected a kinetree.Robot"),
    ],
)
def test_mistakes_get_one_sentence(make, sentence):
    robot = kt.load("arm6")
    with warnings.catch_warnings(), pytest.raises(kt.KinetreeError) as error:
        make(robot)
    assert sentence in str(error.value)
