"""Inverse dynamics, bias and gravity forces."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given

from peers import close, pin_from_tree
from states import State, states
from textbook import CART_POLE, PLANAR, G, cart_pole, planar_2r

pytestmark = pytest.mark.all_robots


def test_real_robots(case):
    robot, peer, q, v, a = case.robot, case.peer, case.q, case.v, case.a
    data, T = peer.data(), peer.G
    q_pin = peer.q(q)
    close(robot.inverse_dynamics(q, v, a), T.T @ pin.rnea(peer.model, data, q_pin, T @ v, T @ a))
    close(robot.bias_forces(q, v), T.T @ pin.nonLinearEffects(peer.model, data, q_pin, T @ v))
    close(robot.gravity_forces(q), T.T @ pin.computeGeneralizedGravity(peer.model, data, q_pin))


@given(states(spatial_order="linear-first", base_velocity="body"))
def test_random_trees(s: State):
    peer = pin_from_tree(s.robot.model)
    T = peer.T(s.q)
    tau = T.T @ pin.rnea(peer.model, peer.data(), peer.q(s.q), T @ s.v, T @ s.a + peer.T_rate(s.q, s.v) @ s.v)
    close(s.robot.inverse_dynamics(s.q, s.v, s.a), tau, 1e-11)


@given(states())
def test_inverse_dynamics_is_M_a_plus_bias(s: State):
    tau = s.robot.mass_matrix(s.q) @ s.a + s.robot.bias_forces(s.q, s.v)
    close(s.robot.inverse_dynamics(s.q, s.v, s.a), tau, 1e-11)
    close(s.robot.gravity_forces(s.q), s.robot.bias_forces(s.q, 0 * s.v), 1e-13)


def test_planar_two_link_arm():
    """C v and G as printed in Siciliano et al. 2009, section 7.3.2 (without motors)."""
    m1, m2, l1, c1, c2 = (PLANAR[key] for key in ("m1", "m2", "l1", "c1", "c2"))
    robot = planar_2r(**PLANAR)
    q, v = np.array([0.4, -1.1]), np.array([1.7, -0.6])
    h = -m2 * l1 * c2 * np.sin(q[1])
    g1 = (m1 * c1 + m2 * l1) * G * np.cos(q[0]) + m2 * c2 * G * np.cos(q.sum())
    gravity = np.array([g1, m2 * c2 * G * np.cos(q.sum())])
    close(robot.gravity_forces(q), gravity, 1e-13)
    coriolis = np.array([2 * h * v[0] * v[1] + h * v[1] ** 2, -h * v[0] ** 2])
    close(robot.bias_forces(q, v), coriolis + gravity, 1e-13)


def test_cart_pole():
    """Bias = [-mp l θ̇² sin θ, -mp g l sin θ], θ = 0 upright."""
    mp, length, theta, speed = CART_POLE["mp"], CART_POLE["length"], 0.7, 1.9
    bias = [-mp * length * speed**2 * np.sin(theta), -mp * G * length * np.sin(theta)]
    close(cart_pole(**CART_POLE).bias_forces([0.2, theta], [0.5, speed]), bias, 1e-13)
