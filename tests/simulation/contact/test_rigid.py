"""Rigid contact against closed forms: impact, friction, rolling, tipping, rest.

Covers: simulation/contact/free_bodies.py, simulation/contact/time_stepping.py.
"""

import numpy as np
import pytest

import kinetree as kt
from contact_bodies import ALL, ball, bottom, box, energy, incline, one_body, placed
from kinetree.model.geometry import Cylinder
from kinetree.simulation import Block, Ground, RigidContact, Touch
from peers import close

G = 9.81


def run(robot, q, contact, dt, steps, v=None, law=None):
    v = np.zeros(robot.nv) if v is None else v
    return robot.rollout(q, v, law, dt, steps, contact=contact, record=("q", "v", *ALL))


def peaks(z):
    return [z[k] for k in range(1, len(z) - 1) if z[k - 1] <= z[k] > z[k + 1]]


# -- impact ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("restitution", [1.0, 0.8, 0.5])
def test_a_ball_bounces_to_e_squared_of_its_height(restitution):
    robot = ball()
    path = run(robot, placed(robot, (0.0, 0.0, 1.1)), RigidContact("body", restitution=restitution), 1e-3, 3000)
    heights = [1.0, *peaks(path.q[:, 2] - 0.1)][:4]
    close(np.array(heights), restitution ** (2.0 * np.arange(4)), 2e-3)
    assert path.extras["contact_gaps"].min() > -1e-12


def test_an_elastic_ball_keeps_its_energy():
    """Over a hundred bounces, and each lasts one step: not a trace of drift."""
    robot = ball()
    path = run(robot, placed(robot, (0.0, 0.0, 0.3)), RigidContact("body", restitution=1.0), 1e-3, 60_000)
    heights = peaks(path.q[:, 2] - 0.1)
    assert len(heights) > 100
    close(np.array(heights), np.full(len(heights), 0.2), 2e-5)


def test_without_restitution_it_stays_where_it_lands():
    robot = ball()
    path = run(robot, placed(robot, (0.0, 0.0, 0.6)), RigidContact("body"), 1e-3, 2000)
    landed = int(np.argmax(path.q[:, 2] < 0.1 + 1e-12))
    assert abs(landed * 1e-3 - np.sqrt(2 * 0.5 / G)) < 2e-3
    close(path.q[landed:, 2], np.full(2001 - landed, 0.1), 1e-12)
    forces = path.extras["contact_forces"][landed + 1 :]
    close(forces, np.broadcast_to([[0.0, 0.0, robot.mass * G]], forces.shape), 1e-9)


def test_the_impulse_of_an_impact_is_the_change_of_momentum():
    robot = ball(mass=2.5)
    contact = RigidContact("body", restitution=0.6)
    v = np.array([0.0, 0.0, -3.0, 0.0, 0.0, 0.0])
    path = run(robot, placed(robot, (0.0, 0.0, 0.1 + 1e-6)), contact, 1e-3, 1, v)
    change = path.v[1] - path.v[0]
    close(robot.mass * change[2], (path.extras["contact_forces"][0, 0, 2] - robot.mass * G) * 1e-3, 1e-12)
    close(path.v[1, 2], 0.6 * (3.0 + 0.5e-3 * G) - 0.5e-3 * G, 1e-12)


# -- friction --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("degrees", [5.0, 20.0, 29.5])
@pytest.mark.sampled(3)
def test_a_block_sticks_below_the_angle_of_friction(degrees):
    """μ = tan 30°: it does not creep, in ten seconds, by what could be measured."""
    robot, angle = box(), np.radians(degrees)
    contact = RigidContact(bottom(), Ground(incline(angle)), friction=np.tan(np.radians(30.0)))
    path = run(robot, placed(robot, 0.1 * np.array(incline(angle)), angle), contact, 2e-3, 5000)
    assert np.abs(path.q[-1] - path.q[0]).max() < 1e-6
    assert np.abs(path.q[-1] - path.q[1000]).max() < 1e-12
    total = path.extras["contact_forces"][-1].sum(axis=0)
    close(total, np.array([0.0, 0.0, robot.mass * G]), 1e-9)


@pytest.mark.parametrize("degrees", [31.0, 40.0, 60.0])
@pytest.mark.sampled(3)
def test_above_it_slips_with_g_sin_minus_mu_cos(degrees):
    robot, angle, mu = box(), np.radians(degrees), np.tan(np.radians(30.0))
    contact = RigidContact(bottom(), Ground(incline(angle)), friction=mu)
    path = run(robot, placed(robot, 0.1 * np.array(incline(angle)), angle), contact, 1e-3, 1000)
    a = G * (np.sin(angle) - mu * np.cos(angle))
    close(path.v[-1, 0], a * 1.0, 1e-3)  # x of the box points downhill
    f = path.extras["contact_forces"][-1]
    normal = f @ np.array(incline(angle))
    tangent = np.linalg.norm(f - normal[:, None] * np.array(incline(angle)), axis=1)
    close(tangent, mu * normal, 1e-9)
    close(normal.sum(), robot.mass * G * np.cos(angle), 1e-6)


def test_friction_stops_a_sliding_block():
    robot, mu = box(), 0.4
    v = np.array([2.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    path = run(robot, placed(robot, (0.0, 0.0, 0.1)), RigidContact(bottom(), friction=mu), 1e-3, 1500, v)
    speed = np.linalg.norm(v)
    close(np.linalg.norm(path.q[-1, :2]), speed**2 / (2 * mu * G), 2e-3)
    close(path.q[-1, 0], 2 * path.q[-1, 1], 1e-3)  # straight on
    assert np.abs(path.v[-1]).max() < 1e-12


def test_without_friction_it_slides_on():
    robot = box()
    v = np.array([2.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    path = run(robot, placed(robot, (0.0, 0.0, 0.1)), RigidContact(bottom(), friction=0.0), 1e-3, 1000, v)
    close(path.v[-1], v, 1e-9)
    close(path.extras["contact_forces"][..., :2], np.zeros((1000, 4, 2)), 1e-12)


def test_a_sliding_ball_comes_to_roll():
    """It slips until v = 5/7 v0, and rolls from then on, without loss."""
    robot, mu = ball(), 0.2
    v = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    path = run(robot, placed(robot, (0.0, 0.0, 0.1)), RigidContact("body", friction=mu), 1e-3, 1000, v)
    x = path.q[:, 0]
    close((x[-1] - x[-2]) / 1e-3, 5 / 7, 1e-3)
    rolling = int(np.ceil(2 / 7 / (mu * G) / 1e-3)) + 2
    close(x[-1] - x[rolling], 5 / 7 * (1000 - rolling) * 1e-3, 1e-3)
    close(path.v[rolling:, 4], np.full(1001 - rolling, 5 / 7 / 0.1), 1e-2)
    assert np.abs(path.extras["contact_forces"][rolling:, 0, :2]).max() < 1e-9


def test_a_ball_rolls_down_with_five_sevenths():
    robot, angle = ball(), np.radians(20.0)
    contact = RigidContact("body", Ground(incline(angle)), friction=0.5)
    path = run(robot, placed(robot, 0.1 * np.array(incline(angle))), contact, 1e-3, 1000)
    downhill = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    close((path.q[-1, :3] - path.q[0, :3]) @ downhill, 0.5 * 5 / 7 * G * np.sin(angle), 3e-3)
    assert np.abs(path.extras["contact_gaps"]).max() < 1e-12


@pytest.mark.sweep
def test_a_wheel_rolls_down_with_two_thirds_and_stands_on_its_side():
    """A cylinder by its own shape: rolling along its rims, and upright on either end."""
    robot, angle = one_body(kt.solids.cylinder(0.1, 0.06, mass=1.0), Cylinder(0.1, 0.06)), np.radians(15.0)
    contact = RigidContact("body", Ground(incline(angle)), friction=0.6)
    on_rim = placed(robot, 0.1 * np.array(incline(angle)), np.pi / 2, (1.0, 0.0, 0.0))
    upright = placed(robot, 0.03 * np.array(incline(angle)), angle)
    path = run(robot, np.stack([on_rim, upright]), contact, 1e-3, 1000)
    downhill = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    slipped = (path.q[:, -1, :3] - path.q[:, 0, :3]) @ downhill
    close(slipped[0], 0.5 * 2 / 3 * G * np.sin(angle), 3e-3)
    assert abs(slipped[1]) < 1e-6
    assert path["contact_gaps"][0].min() > -1e-5


@pytest.mark.sweep
def test_a_tall_box_tips_over_its_edge_and_a_low_one_does_not():
    """On a slope that holds it, as soon as the weight is beyond the edge: tan angle = width / height."""
    for height, tips in ((0.42, True), (0.38, False)):
        robot, angle = box((0.2, 0.3, height)), np.arctan(0.5)
        contact = RigidContact(bottom((0.2, 0.3, height)), Ground(incline(angle)), friction=2.0)
        path = run(robot, placed(robot, 0.5 * height * np.array(incline(angle)), angle), contact, 2e-3, 400)
        turned = np.abs(robot.difference(path.q[0], path.q[-1])[3:]).max()
        assert turned > 0.3 if tips else turned < 1e-5


# -- rest, and what must never happen ----------------------------------------------------------------------------


def test_a_dropped_box_comes_to_rest_and_stays_there():
    robot = box()
    path = run(robot, placed(robot, (0.0, 0.0, 0.5), 0.4, (0.6, 0.8, 0.0)), RigidContact("body"), 2e-3, 8000)
    assert np.abs(path.q[-1] - path.q[2000]).max() < 1e-12  # twelve seconds without creep
    close(path.q[-1, 2], 0.1, 1e-12)
    assert path.extras["contact_residual"][-1] < 1e-12
    assert path.extras["contact_gaps"].min() > -1e-4


@pytest.mark.parametrize("seed", range(3))
def test_thrown_boxes_keep_the_laws(seed):
    """Cones, gaps and work, at every step of a tumbling box: complementarity to the residual that is recorded."""
    robot, mu, dt = box(), 0.6, 1e-3
    rng = np.random.default_rng(seed)
    contact = RigidContact("body", friction=mu)
    q0, v0 = robot.integrate(placed(robot, (0.0, 0.0, 0.5)), rng.normal(size=6)), 2.0 * rng.normal(size=6)
    q0[2] += 0.5
    path = run(robot, q0, contact, dt, 2000, v0)
    f, gaps = path.extras["contact_forces"], path.extras["contact_gaps"]
    assert (f[..., 2] > 0.0).any()
    assert f[..., 2].min() >= 0.0
    assert (np.linalg.norm(f[..., :2], axis=-1) <= mu * f[..., 2] * (1 + 1e-12)).all()
    assert gaps.min() > -2e-4
    after = contact.gaps(robot, path.q[1:])
    assert np.abs(after[f[..., 2] > 1e-9]).max() < 2e-4  # what pushes, touches
    change = np.diff(energy(robot, path))
    assert change.max() < 1e-3 and energy(robot, path)[-1] < energy(robot, path)[0]
    assert np.median(path.extras["contact_residual"]) < 1e-12
    assert path.extras["contact_residual"].max() < 0.02


def test_momentum_changes_by_what_is_recorded():
    """To the last digit, also while the body tumbles in axes of its own."""
    robot, dt = box(), 1e-3
    q0 = placed(robot, (0.0, 0.0, 0.25), 0.5, (1.0, 0.0, 0.0))
    path = run(robot, q0, RigidContact("body"), dt, 600, np.array([1.0, 0.0, 0.0, 3.0, 0.0, 1.0]))
    momentum = robot.centroidal_momentum(path.q, path.v)[:, :3]
    weight = np.array([0.0, 0.0, -robot.mass * G])
    assert np.ptp(momentum[:, 2]) > 1.0
    close(np.diff(momentum, axis=0), (path.extras["contact_forces"].sum(axis=1) + weight) * dt, 1e-12)


def test_what_is_inside_comes_out_without_speed():
    robot = ball()
    path = run(robot, placed(robot, (0.0, 0.0, 0.09)), RigidContact("body"), 1e-3, 200)
    depth = 0.1 - path.q[:, 2]
    close(depth, 0.01 * 0.8 ** np.arange(201), 1e-9)
    close(path.v, np.zeros((201, 6)), 1e-12)
    still = run(robot, placed(robot, (0.0, 0.0, 0.09)), RigidContact("body", correction=0.0), 1e-3, 200)
    close(still.q[-1, 2], 0.09, 1e-12)


# -- boxes of the environment ------------------------------------------------------------------------------------


def test_a_ball_lands_on_a_block_and_falls_off_its_edge():
    robot = ball()
    table = Block((1.0, 1.0, 0.5), (0.0, 0.0, 0.25))
    contact = RigidContact("body", [Ground(), table])
    v = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    path = run(robot, placed(robot, (0.0, 0.0, 0.7)), contact, 1e-3, 1500, v)
    z = path.q[:, 2]
    at_rest = (path.q[:, 0] > 0.3) & (path.q[:, 0] < 0.49)
    close(z[at_rest], np.full(at_rest.sum(), 0.6), 1e-9)
    assert path.q[-1, 0] > 0.6
    close(z[-1], 0.1, 1e-9)
    assert path.extras["contact_gaps"].min() > -1e-4


def test_a_wall_stops_a_ball():
    robot = ball()
    wall = Block((0.2, 4.0, 4.0), (1.1, 0.0, 0.0))
    contact = RigidContact("body", [Ground(friction=0.0), wall], restitution=0.5)
    v = np.array([2.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    path = run(robot, placed(robot, (0.0, 0.0, 0.1)), contact, 1e-3, 1000, v)
    assert path.q[:, 0].max() <= 0.9 + 1e-12
    close(path.v[-1, 0], -1.0, 1e-9)


def test_a_hand_on_a_table_from_both_sides_of_the_equation():
    """A point of an arm against a tilted plane: forces are those of the constrained robot."""
    robot = kt.load("arm6")
    frame = robot.frame_names[-1]
    q = np.array([0.2, 0.7, -0.9, 0.3, 0.8, 0.1])
    point = robot.frame(frame).pose(q)[:3, 3]
    normal = np.array([0.2, -0.1, 1.0]) / np.linalg.norm([0.2, -0.1, 1.0])
    contact = RigidContact(Touch(frame), Ground(normal, height=float(normal @ point)), friction=5.0, sweeps=60)
    J = robot.frame(frame).jacobian(q)[:3]
    tau = robot.gravity_forces(q) - J.T @ (30.0 * normal)
    path = robot.rollout(q, np.zeros(6), tau[None], 1e-3, 1, contact=contact, record=("q", "v", *ALL))
    _, force = robot.constrained(kt.Contact(frame)).forward_dynamics(q, np.zeros(6), tau)
    close(path.extras["contact_forces"][0, 0], force, 1e-7)
    close(path.v[1], np.zeros(6), 1e-8)
