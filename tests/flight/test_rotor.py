import numpy as np
import pytest

from flying import one_body
from kinetree import flight
from kinetree.flight.part import Airflow


def felt(velocity=(0, 0, 0), height=100.0, density=1.225):
    return Airflow(np.array(velocity, dtype=float), np.zeros(3), density, height)


def test_thrust_and_torque_by_the_square_of_the_speed():
    rotor = flight.Rotor("part", thrust=2e-6, torque=3e-8, direction=-1)
    force = rotor.force(felt(), np.array([500.0]))
    assert np.allclose(force.force, [0, 0, 0.5]) and np.allclose(force.moment, [0, 0, 0.0075])
    thin = rotor.force(felt(density=1.225 / 2), np.array([500.0]))
    assert np.allclose(thin.force, [0, 0, 0.25])


def test_hub_force_brakes_and_lift_grows_in_forward_flight():
    rotor = flight.Rotor("part", 2e-6, 3e-8, hub_force=1e-4, inflow=2e-4, translational_lift=3e-3, flapping=1e-5)
    force = rotor.force(felt((4.0, 3.0, 0.0)), np.array([500.0]))
    assert np.allclose(force.force, [-0.2, -0.15, 0.5 + 3e-3 * 25.0])
    assert np.allclose(force.moment, [-1e-5 * 500 * 3.0, 1e-5 * 500 * 4.0, -3e-8 * 500**2])
    climbing = rotor.force(felt((0.0, 0.0, 2.0)), np.array([500.0]))
    assert climbing.force[2] == pytest.approx(0.5 - 2e-4 * 500 * 2.0)


def test_ground_effect_of_cheeseman_and_bennett():
    rotor = flight.Rotor("part", 2e-6, 3e-8, ground_radius=0.4)
    far, near = (rotor.force(felt(height=h), np.array([500.0])).force[2] for h in (1e6, 0.4))
    assert near / far == pytest.approx(16.0 / 15.0, rel=1e-6)
    assert flight.ground_effect(0.0, 0.4) == flight.ground_effect(0.2, 0.4) == pytest.approx(4.0 / 3.0)


def test_a_rotor_on_a_body_carries_its_weight():
    robot = one_body(mass=2.0)
    rotor = flight.Rotor("part", 2e-6, 0.0)
    speed = np.sqrt(2.0 * 9.81 / 2e-6)
    tau = flight.Aircraft(rotor).efforts(robot, robot.neutral(), np.zeros(6), 0.0, [speed])
    assert np.allclose(robot.forward_dynamics(robot.neutral(), np.zeros(6), tau), 0.0, atol=1e-12)
