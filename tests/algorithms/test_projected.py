"""Sums over bodies give what the recursions give."""

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
