"""The inverse mass matrix, forward dynamics by factors, and mass matrices that have no inverse."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given

import kinetree as kt
from kinetree.algorithms import factorization
from peers import close, urdf_files
from states import State, states


def test_real_robots(case):
    robot, peer, q, v = case.robot, case.peer, case.q, case.v
    if np.any(np.diag(robot.mass_matrix(q)) == 0.0):
        with pytest.raises(kt.SingularMassMatrixError, match=r"joint '.+' can move without moving any mass"):
            robot.inverse_mass_matrix(q)
        return
    data, G, q_pin = peer.data(), peer.G, peer.q(q)
    M = G.T @ pin.crba(peer.model, data, q_pin) @ G
    close(robot.inverse_mass_matrix(q) @ M, np.eye(robot.nv), 1e-7)  # a product with M⁻¹: its condition number enters
    h = G.T @ pin.nonLinearEffects(peer.model, data, q_pin, G @ v)
    tau = case.a
    a = factorization.forward_dynamics(robot.model, q, v, tau)
    close(M @ a + h, tau)


@given(states())
def test_the_inverse_mass_matrix_is_one(s: State):
    inverse = s.robot.inverse_mass_matrix(s.q)
    assert np.array_equal(inverse, inverse.T)
    close(inverse @ s.robot.mass_matrix(s.q), np.eye(s.robot.nv), 1e-8)


def test_a_singular_mass_matrix_names_the_joint():
    icub = kt.load(urdf_files()["icub_description/icub.urdf"])
    q, zero = icub.neutral(), np.zeros(icub.nv)
    for call in (lambda: icub.forward_dynamics(q, zero, zero), lambda: icub.inverse_mass_matrix(q)):
        with pytest.raises(kt.SingularMassMatrixError, match="joint 'neck_roll'"):
            call()
    elsewhere = icub.random(np.random.default_rng(0))
    assert np.isfinite(icub.forward_dynamics(elsewhere, zero, zero)).all()
