"""A reference that gives way: against the differential equation it solves, and as a reference of a controller."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.control import Admittance, OperationalSpace
from kinetree.trajectories import pose_line

M, D, K = np.array([2.0, 2, 2, 0.1, 0.1, 0.1]), np.array([30.0, 30, 30, 1, 1, 1]), np.array([80.0, 80, 80, 3, 3, 3])


def pushed(dt, seconds, force):
    admittance = Admittance(M, D, K, dt)
    state = admittance.start
    for _ in range(round(seconds / dt)):
        state, *reference = admittance(state, force, np.eye(4))
    return state, reference


def test_it_is_a_mass_on_a_spring_and_a_damper():
    """One direction in closed form, with the error of the implicit Euler method: halved with the step."""
    force = np.array([4.0, 0, 0, 0, 0, 0])
    roots = np.roots([2.0, 30.0, 80.0])
    weights = np.linalg.solve(np.vander(roots, 2, increasing=True).T, [-4.0 / 80.0, 0.0])
    exact = 4.0 / 80.0 + (weights * np.exp(0.2 * roots)).sum()
    errors = [abs(pushed(dt, 0.2, force)[0][0, 0] - exact) for dt in (1e-3, 5e-4)]
    assert errors[0] < 2e-4 and 1.8 < errors[0] / errors[1] < 2.2


def test_it_rests_where_the_spring_carries_the_force():
    force = np.array([4.0, -3.0, 1.0, 0.0, 0.3, 0.0])
    state, (pose, rate, a) = pushed(1e-2, 10.0, force)
    np.testing.assert_allclose(state[0], force / K, atol=1e-9)
    np.testing.assert_allclose(pose[:3, 3], force[:3] / 80.0, atol=1e-9)
    c, s = np.cos(0.1), np.sin(0.1)
    np.testing.assert_allclose(pose[:3, :3], [[c, 0, s], [0, 1, 0], [-s, 0, c]], atol=1e-9)
    np.testing.assert_allclose([rate, a], 0.0, atol=1e-8)


def test_stable_for_long_steps():
    stiff = Admittance(1.0, 1.0, 1e6, 0.1)
    state = stiff.start + 0.1
    for _ in range(200):
        state, *_ = stiff(state, np.zeros(6), np.eye(4))
    assert np.abs(state).max() < 1e-3


def test_velocity_and_acceleration_are_those_of_the_pose():
    """By differences of what comes out, with a target that moves and turns."""
    dt, rng = 1e-5, np.random.default_rng(0)
    admittance, force = Admittance(M, D, K, dt), np.array([4.0, 2, 1, 0.5, -0.8, 0.6])
    A, B = np.eye(4), np.eye(4)
    B[:3, :3] = kt.rotations.matrix_from_rotation_vector(np.array([0.4, -0.8, 0.5]))
    B[:3, 3] = rng.normal(size=3)
    motion = pose_line(A, B, 1.0)
    state, found = np.stack([0.3 * rng.normal(size=6), rng.normal(size=6)]), []
    for k in range(1, 4):
        state, *reference = admittance(state, force, motion(0.4 + k * dt))
        found.append(reference)
    (T0, w0, _), (_, w1, a1), (T2, w2, _) = found
    np.testing.assert_allclose((T2 - T0)[:3, 3] / (2 * dt), w1[:3], atol=1e-4)
    turn = kt.rotations.rotation_vector_from_matrix(T2[:3, :3] @ T0[:3, :3].T) / (2 * dt)
    np.testing.assert_allclose(turn, w1[3:], atol=1e-3)
    np.testing.assert_allclose((w2 - w0) / (2 * dt), a1, atol=2e-2)


def test_its_reference_leads_a_controller():
    """A force on the tool moves a stiff arm as the admittance says."""
    arm = kt.load("arm7")
    tool, q, v, dt = arm.frame("tool0"), np.array([0.4, 0.5, -0.3, 1.2, 0.2, 0.7, 0.1]), np.zeros(7), 1e-3
    admittance = Admittance(M, D, K, dt)
    controller = OperationalSpace(arm, "tool0", 400.0, posture=q, posture_stiffness=20.0)
    start, state, force = tool.pose(q), admittance.start, np.array([0.0, 4.0, 0, 0, 0, 0])
    for _ in range(2000):
        state, *reference = admittance(state, force, start)
        v = v + dt * arm.forward_dynamics(q, v, controller(q, v, *reference))
        q = q + dt * v
    np.testing.assert_allclose(tool.pose(q)[:3, 3] - start[:3, 3], state[0, :3], atol=1e-4)
    assert state[0, 1] > 0.04


def test_gains_of_any_form_and_batches():
    force, target = np.arange(6.0), np.eye(4)
    by_vector = Admittance(M, D, K, 0.01)
    by_matrix = Admittance(np.diag(M), np.diag(D), np.diag(K), 0.01)
    pair = (controller(np.ones((2, 6)), force, target) for controller in (by_vector, by_matrix))
    for ours, theirs in zip(*pair, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-13)
    states, poses, *_ = by_vector(np.ones((5, 2, 6)), force, target, stiffness=np.linspace(0, 1, 5)[:, None] * K)
    assert states.shape == (5, 2, 6) and poses.shape == (5, 4, 4)
    other = Admittance(M, D, K, 0.01, spatial_order="angular-first")
    state, pose, rate, a = by_vector(by_vector.start, force, target)
    state_2, pose_2, rate_2, a_2 = other(other.start, force[[3, 4, 5, 0, 1, 2]], target)
    np.testing.assert_array_equal(state, state_2)
    np.testing.assert_array_equal(pose, pose_2)
    np.testing.assert_array_equal(np.array([rate, a])[:, [3, 4, 5, 0, 1, 2]], [rate_2, a_2])


def test_what_is_wrong_is_said():
    with pytest.raises(kt.ArgumentError, match="mass has a direction without inertia"):
        Admittance([1.0, 1, 1, 1, 1, 0], D, K, 0.01)
    with pytest.raises(kt.ArgumentError, match="dt is 0"):
        Admittance(M, D, K, 0.0)
