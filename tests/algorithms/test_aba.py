"""Forward dynamics: by recursion, and by factorisation for robots with mimic joints.

Covers: spatial/articulated.py.
"""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given

import kinetree as kt
from kinetree.algorithms import aba, factorization
from kinetree.model.random import EVERY_JOINT
from peers import close
from states import State, states
from textbook import G

NO_MIMICS = tuple(kind for kind in EVERY_JOINT if kind != "mimic")


def test_real_robots_by_their_residual(case):
    robot, peer, q, v = case.robot, case.peer, case.q, case.v
    tau = 10 * case.rng.normal(size=robot.nv)
    if np.any(np.diag(robot.mass_matrix(q)) == 0.0):
        with pytest.raises(kt.SingularMassMatrixError, match=r"joint '.+' can move without moving any mass"):
            robot.forward_dynamics(q, v, tau)
        return
    data, T, q_pin = peer.data(), peer.G, peer.q(q)
    M = T.T @ pin.crba(peer.model, data, q_pin) @ T
    h = T.T @ pin.nonLinearEffects(peer.model, data, q_pin, T @ v)
    a = robot.forward_dynamics(q, v, tau)
    close(M @ a + h, tau)
    if not robot.model.has_mimics:  # the robot may prefer the other algorithm
        close(M @ aba.forward_dynamics(robot.model, q, v, tau) + h, tau)


@given(states())
def test_forward_dynamics_undoes_inverse_dynamics(s: State):
    w = {"tool": s.rng.normal(size=6)}
    tau = s.robot.inverse_dynamics(s.q, s.v, s.a, w)
    close(s.robot.forward_dynamics(s.q, s.v, tau, w), s.a, 1e-8)


@given(states(joints=NO_MIMICS))
def test_it_equals_factorization(s: State):
    by_recursion = aba.forward_dynamics(s.robot.model, s.q, s.v, s.a)
    close(by_recursion, factorization.forward_dynamics(s.robot.model, s.q, s.v, s.a), 1e-8)


def test_a_free_body_falls_and_tumbles_as_euler_says():
    """v̇ + ω × v = Rᵀ g, I ω̇ + ω × I ω = 0 for a body whose frame is at its centre of mass."""
    moments = np.array([0.1, 0.2, 0.25])
    builder = kt.ModelBuilder("box")
    builder.link("box", kt.Inertia.from_com(2.0, (0, 0, 0), np.diag(moments)))
    robot = kt.Robot(builder.build("floating"))
    q = robot.random(np.random.default_rng(3))
    velocity, omega = np.array([0.3, -0.2, 0.5]), np.array([1.0, 2.0, -0.5])
    R = robot.poses(q)[0, :3, :3]
    a = robot.forward_dynamics(q, np.concatenate([velocity, omega]), np.zeros(6))
    close(a[:3], R.T @ [0, 0, -G] - np.cross(omega, velocity), 1e-13)
    close(a[3:], -np.cross(omega, moments * omega) / moments, 1e-13)
