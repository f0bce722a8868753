"""Analytic Jacobians for every parameterisation of a pose, and their rates."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import kinetree as kt
from kinetree import positions as pos
from kinetree import rotations as rot
from kinetree.spatial.parameterization import POSITIONS, ROTATIONS
from peers import close
from states import State, linear_first, rate_along, states

COMBINED = [("cartesian", "quaternion"), ("cylindrical", "ZYX"), ("spherical", "rotation-vector")]
COMBINED += [("spherical", "angle-axis"), ("cartesian", "matrix"), ("cylindrical", "zyz")]


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


@pytest.mark.parametrize("position,rotation", COMBINED)
def test_compiled_for_one_state_for_a_batch_and_in_a_law(position, rotation):
    robot = kt.load("arm6", base="floating")
    rng = np.random.default_rng(2)
    tool, q, v = robot.frame("tool0"), robot.random(rng, size=(3, 2)), rng.normal(size=(2, robot.nv))
    J_A, dJ_A = tool.analytic_jacobian(q, position, rotation), tool.analytic_jacobian_rate(q, v, position, rotation)
    chi = tool.pose_parameters(q, position, rotation)
    n = 3 + ROTATIONS[rotation].size
    assert chi.shape == (3, 2, n) and J_A.shape == dJ_A.shape == (3, 2, n, robot.nv)
    by_hand = robot.eager.frame("tool0")
    close(J_A[1, 0], by_hand.analytic_jacobian(q[1, 0], position, rotation), 1e-12)
    close(dJ_A[2, 1], by_hand.analytic_jacobian_rate(q[2, 1], v[1], position, rotation), 1e-10)
    assert np.array_equal(tool.analytic_jacobian(q[1, 0], position, rotation), J_A[1, 0])
    close(J_A @ v[..., None], kt.jacobian(tool_parameters(position, rotation))(robot, q) @ v[..., None], 1e-9)
    out = np.empty_like(J_A)
    assert tool.analytic_jacobian(q, position, rotation, out=out) is out and np.array_equal(out, J_A)
    velocity = tool.velocity(q, v)
    close(pos.coordinate_rates(chi[..., :3], velocity[..., :3], position), (J_A @ v[..., None])[..., :3, 0], 1e-10)
    close(rot.parameter_rates(chi[..., 3:], velocity[..., 3:], rotation), (J_A @ v[..., None])[..., 3:, 0], 1e-10)


def tool_parameters(position, rotation):
    return kt.compile(lambda robot, q: robot.frame("tool0").pose_parameters(q, position, rotation))


def test_singular_poses_are_refused():
    robot = kt.load("arm6")
    tool = robot.frame("tool0")
    regular = np.array([0.3, -0.6, 1.1, -0.5, 0.4, 0.1])
    R = tool.pose(regular)[:3, :3]
    chi = tool.pose_parameters(regular, rotation="ZYX")
    assert np.isfinite(tool.analytic_jacobian(regular, rotation="ZYX")).all()
    close(rot.matrix_from_euler(chi[3:], "ZYX"), R, 1e-14)

    builder = kt.ModelBuilder("pointer")
    builder.link("stand")
    builder.link("pointer")
    builder.joint("pitch", "revolute", "stand", "pointer", axis=(0, 1, 0), xyz=(0.5, 0.0, 0.0))
    pointer = kt.Robot(builder.build()).frame("pointer")
    straight_up = [-np.pi / 2]
    sentence = r"'pointer' has no analytic_jacobian at this q: its parameters have no rates there \(ZYX: the first and"
    for frame in (pointer, pointer.robot.eager.frame("pointer")):
        with pytest.raises(kt.ArgumentError, match=sentence):
            frame.analytic_jacobian(straight_up, rotation="ZYX")
        with pytest.raises(kt.ArgumentError, match=r"no analytic_jacobian_rate at q\[1, 0\]"):
            frame.analytic_jacobian_rate([[[0.1]], [straight_up]], [1.0], rotation="ZYX")
        assert np.isfinite(frame.analytic_jacobian(straight_up)).all()
        close(frame.pose_parameters(straight_up, rotation="ZYX"), [0.5, 0, 0, 0, -np.pi / 2, 0], 1e-15)
    out = np.full((6, 1), 7.0)
    with pytest.raises(kt.ArgumentError):
        pointer.analytic_jacobian(straight_up, rotation="ZYX", out=out)
    assert np.all(out == 7.0)
    law = kt.compile(lambda robot, q: robot.frame("pointer").analytic_jacobian(q, rotation="ZYX") @ q)
    assert law(pointer.robot, [0.3]).shape == (6,)
    with pytest.raises(kt.ArgumentError, match="have no rates there"):
        law(pointer.robot, straight_up)


def test_names_and_preparation():
    tool = kt.load("arm6").frame("tool0")
    with pytest.raises(kt.UnknownNameError, match="rotation 'ZYY' does not exist"):
        tool.analytic_jacobian(np.zeros(6), rotation="ZYY")
    with pytest.raises(kt.UnknownNameError, match="position 'polar' does not exist"):
        tool.pose_parameters(np.zeros(6), "polar")
    tool.prepare("analytic_jacobian", "pose_parameters", position="cylindrical", rotation="xyz")
    with pytest.raises(kt.UnknownNameError, match="rotation"):
        tool.prepare("analytic_jacobian", rotation="roll")
