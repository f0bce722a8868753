"""Sums over bodies give what the recursions give."""

import pinocchio as pin
from hypothesis import given

from kinetree.algorithms import projected, rnea
from peers import close
from states import State, states


@given(states())
def test_three_mass_matrices(s: State):
    M = s.robot.eager.mass_matrix(s.q)
    close(projected.mass_matrix(s.robot.model, s.q), M, 1e-12)
    close(rnea.mass_matrix(s.robot.model, s.q), M, 1e-12)


@given(states())
def test_bias_and_gravity(s: State):
    G = s.robot.eager.gravity_forces(s.q)
    close(projected.gravity_forces(s.robot.model, s.q), G, 1e-12)
    b = s.robot.eager.bias_forces(s.q, s.v) - G
    close(projected.coriolis_forces(s.robot.model, s.q, s.v), b, 1e-11)


def test_real_robots_beside_pinocchio(case):
    """Sums over bodies, and columns of the recursion."""
    model, q, v, peer, G = case.robot.model, case.q, case.v, case.peer, case.peer.G
    M = G.T @ pin.crba(peer.model, peer.data(), peer.q(q)) @ G
    close(projected.mass_matrix(model, q), M)
    close(rnea.mass_matrix(model, q), M)
    gravity = G.T @ pin.computeGeneralizedGravity(peer.model, peer.data(), peer.q(q))
    close(projected.gravity_forces(model, q), gravity)
    bias = G.T @ pin.nonLinearEffects(peer.model, peer.data(), peer.q(q), G @ v)
    close(projected.coriolis_forces(model, q, v), bias - gravity)
