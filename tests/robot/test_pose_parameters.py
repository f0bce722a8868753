"""Pose parameters and analytic Jacobians of frames, compiled: for one state, for batches and in laws.

Covers: positions.py.
"""

import numpy as np
import pytest

import kinetree as kt
from kinetree import positions as pos
from kinetree import rotations as rot
from kinetree.spatial.parameterization import ROTATIONS
from natively import native_only, python_calls
from peers import close

COMBINED = [("cartesian", "quaternion"), ("cylindrical", "ZYX"), ("spherical", "rotation-vector")]
COMBINED += [("spherical", "angle-axis"), ("cartesian", "matrix"), ("cylindrical", "zyz")]


@pytest.mark.parametrize("position,rotation", COMBINED)
@pytest.mark.sampled(4)
@pytest.mark.sweep
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
    sentence = r"'pointer' has no analytic_jacobian at this q: its parameters have no rates there \(ZYX:"
    for frame in (pointer, pointer.robot.eager.frame("pointer")):
        with pytest.raises(kt.ArgumentError, match=sentence):
            frame.analytic_jacobian(straight_up, rotation="ZYX")
        with pytest.raises(kt.ArgumentError, match=r"no analytic_jacobian_rate at this q.*, in state \[1, 0\] of"):
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


@native_only
def test_calls_are_native_and_derivatives_are_those_of_the_method():
    robot = kt.load("arm6")
    tool, q = robot.frame("tool0"), np.full(6, 0.3)
    J_A = tool.analytic_jacobian(q, rotation="ZYX")
    for rotation in ("ZYX", "quaternion"):  # results of different shapes
        tool.analytic_jacobian(q, rotation=rotation)
        with python_calls() as entered:
            result = tool.analytic_jacobian(q, rotation=rotation)
        assert not entered and result.shape == (6 if rotation == "ZYX" else 7, 6)
    assert np.array_equal(tool.analytic_jacobian(q, rotation="ZYX"), J_A)
    close(tool.analytic_jacobian([q, q], rotation="ZYX")[1], J_A, 0.0)
    close(kt.jacobian(tool.pose_parameters)(q), tool.analytic_jacobian(q), 1e-12)
    with pytest.raises(kt.ArgumentError, match="q has shape"):
        tool.analytic_jacobian(q[:3], rotation="ZYX")
