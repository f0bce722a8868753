"""The inverse mass matrix, forward dynamics by factors, and mass matrices that have no inverse."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given

import kinetree as kt
from kinetree.algorithms import factorization
from linkages import gimbal
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
    robot = gimbal()
    q, zero = robot.neutral(), np.zeros(3)
    for call in (lambda: robot.forward_dynamics(q, zero, zero), lambda: robot.inverse_mass_matrix(q)):
        with pytest.raises(kt.SingularMassMatrixError, match="joint 'yaw'"):
            call()
    assert np.isfinite(robot.forward_dynamics(robot.random(0), zero, zero)).all()


def test_a_nearly_singular_mass_matrix_is_divided_by():
    """At rest, iCub's neck has two axes in line but for the digits of its file, which leave a pivot of 1e-11."""
    icub = kt.load(urdf_files()["icub_description/icub.urdf"])
    q, v, tau = icub.neutral(), np.zeros(icub.nv), np.linspace(-1.0, 1.0, icub.nv)
    a = icub.forward_dynamics(q, v, tau)
    by_factors = icub.inverse_mass_matrix(q) @ (tau - icub.bias_forces(q, v))
    close(by_factors / np.abs(a).max(), a / np.abs(a).max(), 0.05)
