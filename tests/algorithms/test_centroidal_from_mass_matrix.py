"""A_G and Ȧ_G v from H and C v alone, equal to those of the recursions."""

from hypothesis import given

from kinetree.algorithms.centroidal_from_mass_matrix import FromMassMatrix
from peers import close
from states import State, states


@given(states(base="floating"))
def test_both_ways_agree_in_every_convention(s: State):
    robot, q, v = s.robot.eager, s.q, s.v
    terms = FromMassMatrix.of(robot.model, q, robot.mass_matrix(q))
    close(terms.mass, robot.mass, 1e-12)
    base = robot.frame(robot.body_names[0]).pose(q)
    close(terms.R_b @ terms.center, robot.center_of_mass(q) - base[:3, 3], 1e-11)
    close(terms.composite_inertia, robot.floating_base_blocks(q, v).M_b, 0.0)
    close(terms.momentum_matrix, robot.centroidal_momentum_matrix(q), 1e-11)
    Cv = robot.coriolis_matrix(q, v) @ v
    close(terms.momentum_bias(Cv), robot.centroidal_momentum_bias(q, v), 1e-10)
