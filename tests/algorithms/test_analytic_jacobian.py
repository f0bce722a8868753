"""Analytic Jacobians for every parameterisation of a pose, and their rates."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from kinetree import rotations as rot
from kinetree.spatial.parameterization import POSITIONS, ROTATIONS
from peers import close
from states import State, linear_first, rate_along, states


def aligned(chi, reference, rotation):
    """χ with the sign or the turns that are nearest to those of a reference."""
    rest = chi[3:].copy()
    if rotation == "quaternion":
        rest *= np.sign(rest @ reference[3:])
    elif rotation in rot.SEQUENCES:
        rest -= np.round((rest - reference[3:]) / (2 * np.pi)) * 2 * np.pi
    return np.concatenate([chi[:3], rest])


@given(states(), st.sampled_from(list(POSITIONS)), st.sampled_from(list(ROTATIONS)))
def test_random_trees(s: State, position, rotation):
    """By the algorithm as it is written: χ from the pose, J_A v = χ̇ by differences, E J_A = J_0, J̇_A by differences."""
    tool = s.robot.eager.frame("tool")
    chi = tool.pose_parameters(s.q, position, rotation)
    T = tool.pose(s.q)
    close(POSITIONS[position].value(chi[:3]), T[:3, 3], 1e-12)
    close(ROTATIONS[rotation].value(chi[3:]), T[:3, :3], 1e-12)
    half_turn = {"rotation-vector": np.linalg.norm(chi[3:]), "angle-axis": chi[3]}.get(rotation, 0.0) > 3.0
    assume(not half_turn and not (rotation == "quaternion" and chi[6] < 0.01))  # where χ may jump
    assume(not POSITIONS[position].is_singular(chi[:3]) and not ROTATIONS[rotation].is_singular(chi[3:]))
    J_A = tool.analytic_jacobian(s.q, position, rotation)
    size = 1.0 + np.abs(J_A).max(initial=0.0) * (1.0 + np.abs(s.v).max(initial=0.0))
    assume(size < 50.0)  # not too near a singularity for difference quotients
    E = np.zeros((6, len(chi)))
    E[:3, :3], E[3:, 3:] = POSITIONS[position].E(chi[:3]), ROTATIONS[rotation].E(chi[3:])
    J_0 = np.array([linear_first(column, s.robot.model.spatial_order) for column in tool.jacobian(s.q).T]).T
    close(E @ J_A, J_0.reshape(6, -1), 1e-11 * size**2)
    differences = rate_along(s, lambda q, v: aligned(tool.pose_parameters(q, position, rotation), chi, rotation))
    close(J_A @ s.v, differences, 1e-6 * size**2)
    dJ_A = tool.analytic_jacobian_rate(s.q, s.v, position, rotation)
    close(dJ_A, rate_along(s, lambda q, v: tool.analytic_jacobian(q, position, rotation)), 1e-6 * size**3)
