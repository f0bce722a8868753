"""Kinetic and potential energy, and where they go."""

import numpy as np
import pinocchio as pin
from hypothesis import assume, given

from peers import close
from states import State, rate_along, states
from textbook import CART_POLE, G, cart_pole


def test_real_robots(case):
    robot, peer, q, v = case.robot, case.peer, case.q, case.v
    data, q_pin = peer.data(), peer.q(q)
    close(robot.kinetic_energy(q, v), pin.computeKineticEnergy(peer.model, data, q_pin, peer.G @ v))
    close(robot.potential_energy(q), pin.computePotentialEnergy(peer.model, data, q_pin))


@given(states())
def test_kinetic_energy_is_half_v_M_v(s: State):
    close(0.5 * s.v @ s.robot.mass_matrix(s.q) @ s.v, s.robot.kinetic_energy(s.q, s.v), 1e-11)


@given(states())
def test_potential_energy_is_that_of_the_center_of_mass(s: State):
    assume(s.robot.mass > 0)
    close(s.robot.potential_energy(s.q), -s.robot.mass * s.robot.gravity @ s.robot.center_of_mass(s.q), 1e-11)


@given(states())
def test_power_balance(s: State):
    """d/dt (T + U) = vᵀ τ + wᵀ V: the energy changes by the power of the efforts and of the wrench on the tool."""
    robot, w = s.robot, s.rng.normal(size=6)
    tau = robot.inverse_dynamics(s.q, s.v, s.a, {"tool": w})
    power = rate_along(s, lambda q, v: robot.kinetic_energy(q, v) + robot.potential_energy(q))
    close(power, s.v @ tau + w @ robot.frame("tool").velocity(s.q, s.v), 1e-5)


def test_cart_pole():
    robot, q, v = cart_pole(**CART_POLE), np.array([0.2, 0.7]), np.array([0.5, 1.9])
    close(robot.kinetic_energy(q, v), 0.5 * v @ robot.mass_matrix(q) @ v, 1e-13)
    close(robot.potential_energy(q), CART_POLE["mp"] * G * CART_POLE["length"] * np.cos(0.7), 1e-13)
