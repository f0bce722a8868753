"""Derivatives of centroidal momentum and its rate: beside Pinocchio, and by difference quotients in all conventions."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, given

import kinetree as kt
from peers import close, pin_from_tree
from states import State, rate_along, state_of, states

STEP = 1e-6


def in_pinocchio(peer, q, v, a):
    slopes = pin.computeCentroidalDynamicsDerivatives(peer.model, peer.data(), q, v, a)
    return [x.reshape(6, -1) for x in slopes]


def test_real_robots_beside_pinocchio(case):
    robot, peer, q, v, a = case.robot, case.peer, case.q, case.v, case.a
    if robot.mass == 0.0:
        pytest.skip("no mass moves")
    G, q_pin = peer.G, peer.q(q)
    ours = robot.centroidal_dynamics_derivatives(q, v, a)
    for mine, theirs in zip(ours, in_pinocchio(peer, q_pin, G @ v, G @ a), strict=True):
        close(mine, theirs @ G)
    data = peer.data()
    pin.dccrba(peer.model, data, q_pin, G @ v)
    close(robot.centroidal_momentum_matrix_rate(q, v), data.dAg.reshape(6, -1) @ G)


@given(
    states(("revolute", "prismatic", "helical", "spherical", "free", "mimic"), base="floating", base_velocity="body")
)
def test_random_trees_beside_pinocchio(s: State):
    """Of joints whose velocities are the same there."""
    robot, peer = s.robot.eager, pin_from_tree(s.robot.model)
    assume(robot.model.spatial_order == "linear-first")
    T = peer.T(s.q)
    theirs = in_pinocchio(peer, peer.q(s.q), T @ s.v, T @ s.a)
    for mine, other in zip(robot.centroidal_dynamics_derivatives(s.q, s.v, s.a), theirs, strict=True):
        close(mine, other @ T)


@given(states())
def test_difference_quotients(s: State):
    """Every kind of joint, every convention."""
    assume(s.robot.mass > 0)
    robot, q, v, a = s.robot.eager, s.q, s.v, s.a
    h_q, f_q, f_v, f_a = [], [], [], []
    for step in STEP * np.eye(robot.nv):
        ahead, behind = robot.integrate(q, step), robot.integrate(q, -step)
        h_q.append(robot.centroidal_momentum(ahead, v) - robot.centroidal_momentum(behind, v))
        f_q.append(robot.centroidal_momentum_rate(ahead, v, a) - robot.centroidal_momentum_rate(behind, v, a))
        f_v.append(robot.centroidal_momentum_rate(q, v + step, a) - robot.centroidal_momentum_rate(q, v - step, a))
        f_a.append(robot.centroidal_momentum_rate(q, v, a + step) - robot.centroidal_momentum_rate(q, v, a - step))
    slopes = robot.centroidal_dynamics_derivatives(q, v, a)
    for slope, quotient in zip(slopes, (h_q, f_q, f_v, f_a), strict=True):
        close(slope, np.array(quotient).T / (2 * STEP), 3e-7)
    close(slopes[-1], robot.centroidal_momentum_matrix(q), 1e-12)


@given(states())
def test_the_rate_of_the_matrix(s: State):
    assume(s.robot.mass > 0)
    robot = s.robot.eager
    rate = robot.centroidal_momentum_matrix_rate(s.q, s.v)
    close(rate, rate_along(s, lambda q, v: robot.centroidal_momentum_matrix(q)), 1e-6)
    close(rate @ s.v, robot.centroidal_momentum_bias(s.q, s.v), 1e-11)


def test_compiled_and_in_batches():
    rng = np.random.default_rng(5)
    s = state_of(kt.Robot(kt.random_model(rng, 4, base="floating", base_velocity="mixed")), rng)
    slopes = s.robot.centroidal_dynamics_derivatives(s.q, s.v, s.a)
    batch = s.robot.centroidal_dynamics_derivatives(*(np.tile(x, (11, 1)) for x in (s.q, s.v, s.a)))
    for mine, rows, eager in zip(
        slopes, batch, s.robot.eager.centroidal_dynamics_derivatives(s.q, s.v, s.a), strict=True
    ):
        close(mine, eager, 1e-12)
        assert np.array_equal(rows[10], mine)
