"""Compliant contact: a smooth law of force, with every integrator; what it gives and where its limits are."""

import numpy as np
import pytest

import kinetree as kt
from contact_bodies import ball, bottom, box, energy, incline, placed
from kinetree.simulation import CompliantContact, Ground, Touch
from peers import close

G = 9.81


def test_the_law_of_force():
    """By hand, at one state: spring, dissipation, friction, at a point off the origin of its frame."""
    robot = box()
    contact = CompliantContact(Touch("body", (0.2, 0.1, -0.1)), stiffness=1e4, dissipation=1.5, slip_speed=0.05)
    q = placed(robot, (0.3, -0.2, 0.095))
    v = np.array([0.3, 0.1, -0.2, 0.4, -0.3, 0.2])
    u = v[:3] + np.cross(v[3:], [0.2, 0.1, -0.1])
    normal = 1e4 * 0.005 * (1.0 - 1.5 * u[2])
    expected = [*(-0.7 * normal * u[:2] / np.sqrt(u[:2] @ u[:2] + 0.05**2)), normal]
    close(contact.forces(robot, q, v), np.array([expected]), 1e-12)
    close(contact.gaps(robot, q), np.array([-0.005]), 1e-15)
    a = contact.dynamics(robot).acceleration(q, v, np.zeros(6))
    wrench = np.concatenate([expected, np.cross([0.2, 0.1, -0.1], expected)])
    close(a, robot.forward_dynamics(q, v, np.zeros(6), wrenches={"body": wrench}), 1e-12)


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "rk4"])
def test_rollouts_record_its_forces_and_gaps(integrator):
    """Those of the states at which steps begin."""
    robot = ball()
    contact = CompliantContact("body")
    path = robot.rollout(
        placed(robot, (0.0, 0.0, 0.1002)),
        np.array([0.3, 0.0, -0.5, 0.0, 0.2, 0.0]),
        None,
        1e-4,
        20,
        integrator,
        contact=contact,
        record=("q", "v", "contact_forces", "contact_gaps"),
    )
    assert path["contact_forces"][-1, 0, 2] > 1.0 and path["contact_forces"][0, 0, 2] == 0.0
    close(path["contact_forces"], contact.forces(robot, path.q[:-1], path.v[:-1]), 1e-12)
    close(path["contact_gaps"], contact.gaps(robot, path.q[:-1]), 1e-15)
    assert path.names["contact_forces"] == ("body.x", "body.y", "body.z") and path.units["contact_gaps"] == ("m",)


def test_it_never_pulls_and_ends_where_contact_ends():
    robot = ball()
    contact = CompliantContact("body", dissipation=5.0)
    assert contact.forces(robot, placed(robot, (0.0, 0.0, 0.099)), np.array([0, 0, 10.0, 0, 0, 0]))[0, 2] == 0.0
    close(contact.forces(robot, placed(robot, (0.0, 0.0, 0.101)), np.ones(6)), np.zeros((1, 3)), 0.0)


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "rk4"])
def test_a_ball_without_dissipation_keeps_its_energy(integrator):
    robot = ball()
    contact = CompliantContact("body", dissipation=0.0)
    path = robot.rollout(placed(robot, (0.0, 0.0, 0.4)), np.zeros(6), None, 2e-5, 50_000, integrator, contact=contact)
    depth = np.minimum(path.q[:, 2] - 0.1, 0.0)
    total = energy(robot, path) + 0.5 * contact.stiffness * depth**2
    assert depth.min() < -1e-2
    assert np.ptp(total) < (1e-2 if integrator == "semi-implicit-euler" else 1e-5)


def test_dissipation_takes_what_hunt_and_crossley_say():
    """About 1 - 2/3 d v of a slow impact's speed is left."""
    robot, speed, d = ball(gravity=(0.0, 0.0, 0.0)), 0.1, 0.5
    contact = CompliantContact("body", dissipation=d)
    v = np.array([0.0, 0.0, -speed, 0.0, 0.0, 0.0])
    path = robot.rollout(placed(robot, (0.0, 0.0, 0.1)), v, None, 1e-5, 5000, "rk4", contact=contact)
    close(path.v[-1, 2] / speed, 1.0 - 2.0 / 3.0 * d * speed, 2e-3)


def test_a_block_slips_as_coulomb_says_and_creeps_as_documented():
    robot, mu, s = box(), np.tan(np.radians(30.0)), 0.01
    for degrees in (20.0, 40.0):
        angle = np.radians(degrees)
        contact = CompliantContact(bottom(), Ground(incline(angle)), friction=mu, stiffness=1e5, slip_speed=s)
        depth = robot.mass * G * np.cos(angle) / (4.0 * contact.stiffness)
        q = placed(robot, (0.1 - depth) * np.array(incline(angle)), angle)
        path = robot.rollout(q, np.zeros(6), None, 1e-4, 10_000, contact=contact)
        downhill = np.array([np.cos(angle), 0.0, -np.sin(angle)])
        speed = (path.q[-1, :3] - path.q[-101, :3]) @ downhill / 1e-2
        if degrees > 30.0:
            assert abs(speed / (G * (np.sin(angle) - mu * np.cos(angle)) * 0.995) - 1.0) < 0.02
        else:
            share = np.tan(angle) / mu
            assert abs(speed / (s * share / np.sqrt(1.0 - share**2)) - 1.0) < 0.02


def test_the_longest_step_is_where_it_gets_unstable():
    robot = ball()
    contact = CompliantContact("body", friction=0.0, dissipation=0.0)
    longest = contact.longest_step(robot, placed(robot, (0.0, 0.0, 0.1)))
    close(longest, 2.0 * np.sqrt(robot.mass / contact.stiffness), 1e-9)
    sunk = robot.mass * G / contact.stiffness
    q = placed(robot, (0.0, 0.0, 0.1 - 1.01 * sunk))
    for share, stays in ((0.95, True), (1.05, False)):
        path = robot.rollout(q, np.zeros(6), None, share * longest, 300, contact=contact)
        assert (np.abs(path.q[:, 2] - 0.1 + sunk).max() < 0.5 * sunk) == stays


def test_it_can_be_differentiated():
    robot = ball()
    contact = CompliantContact("body")

    @kt.compile
    def a(robot, q, v):
        return contact.dynamics(robot).acceleration(q, v, np.zeros(6))

    q, v = placed(robot, (0.0, 0.0, 0.097), 0.3), np.array([0.1, -0.05, -0.1, 0.3, 0.2, -0.1])
    slope, h = kt.jacobian(a, wrt="q")(robot, q, v), 1e-7
    for k, e in enumerate(np.eye(6)):
        ahead, behind = (a(robot, robot.integrate(q, sign * h * e), v) for sign in (1.0, -1.0))
        close(slope[:, k], (ahead - behind) / (2 * h), 1e-5)
    far = placed(robot, (0.0, 0.0, 0.5))
    assert np.isfinite(kt.jacobian(a, wrt="q")(robot, far, np.zeros(6))).all()
