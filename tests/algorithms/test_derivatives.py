"""Analytic derivatives: against Pinocchio's, against difference quotients, and against those of the traced graph."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from peers import close
from slopes import moving, near, quotients
from states import state_of


@given(moving())
def test_inverse_dynamics(s):
    by_q, by_v, by_a = quotients(s, s.robot.inverse_dynamics, s.a)
    dq, dv = s.robot.inverse_dynamics_derivatives(s.q, s.v, s.a)
    near(dq, by_q)
    near(dv, by_v)
    near(s.robot.mass_matrix(s.q), by_a)


@given(moving())
def test_gravity(s):
    near(s.robot.gravity_forces_derivative(s.q), quotients(s, lambda q, v, a: s.robot.gravity_forces(q), s.a)[0])


def test_gravity_of_a_pendulum_and_by_second_derivatives():
    """m g l cos q of a pendulum that hangs along x; of joint angles it is the Hessian of the potential energy."""
    builder = kt.ModelBuilder("pendulum")
    builder.link("stand")
    builder.link("rod", kt.Inertia.from_com(2.0, (0.5, 0, 0), np.zeros((3, 3))))
    builder.joint("hinge", "revolute", "stand", "rod", axis=(0, -1, 0))
    angle = np.array([0.3])
    close(kt.Robot(builder.build()).gravity_forces_derivative(angle), [[-2.0 * 9.81 * 0.5 * np.sin(0.3)]])
    arm = kt.load("arm6")
    q = arm.random(4)
    close(arm.gravity_forces_derivative(q), kt.hessian(arm.potential_energy)(q), 1e-11)


@given(moving(), st.sampled_from(["world-aligned", "local", "world"]))
@pytest.mark.sweep
def test_wrenches_are_held_in_their_reference(s, reference):
    w = {"tool": kt.Wrench(s.rng.normal(size=6), reference), "link1": kt.Wrench(s.rng.normal(size=6), reference)}
    by_q, by_v, _ = quotients(s, lambda q, v, a: s.robot.inverse_dynamics(q, v, a, w), s.a)
    dq, dv = s.robot.inverse_dynamics_derivatives(s.q, s.v, s.a, w)
    near(dq, by_q)
    near(dv, by_v)
    tau = s.robot.inverse_dynamics(s.q, s.v, s.a, w)
    got = s.robot.forward_dynamics_derivatives(s.q, s.v, tau, w)
    expected = quotients(s, lambda q, v, tau: s.robot.forward_dynamics(q, v, tau, w), tau)
    for mine, theirs in zip(got, expected, strict=True):
        near(mine, theirs)


@given(moving())
@pytest.mark.sweep
def test_forward_dynamics(s):
    tau = s.robot.inverse_dynamics(s.q, s.v, s.a)
    for got, expected in zip(
        s.robot.forward_dynamics_derivatives(s.q, s.v, tau), quotients(s, s.robot.forward_dynamics, tau), strict=True
    ):
        near(got, expected)


def test_real_robots_beside_pinocchio(case):
    """Of a joint that follows another, q_pin = G q + offset and τ = Gᵀ τ_pin."""
    robot, peer, q, v = case.robot, case.peer, case.q, case.v
    if not robot.nv:
        pytest.skip("nothing moves")
    a = case.rng.normal(size=robot.nv)
    data, q_pin, G = peer.data(), peer.q(q), peer.G
    gravity = pin.computeGeneralizedGravityDerivatives(peer.model, peer.data(), q_pin)
    close(robot.eager.gravity_forces_derivative(q), G.T @ gravity @ G)
    dq, dv, M = pin.computeRNEADerivatives(peer.model, data, q_pin, G @ v, G @ a)
    ours = robot.eager.inverse_dynamics_derivatives(q, v, a)
    close(ours[0], G.T @ dq @ G)
    close(ours[1], G.T @ dv @ G)
    if np.linalg.cond(M) > 1e8 or robot.model.has_mimics:
        return  # Pinocchio's joints move independently; random trees cover mimics
    tau = robot.inverse_dynamics(q, v, a)
    theirs = pin.computeABADerivatives(peer.model, data, q_pin, G @ v, G @ tau)  # views into data
    for got, expected in zip(robot.eager.forward_dynamics_derivatives(q, v, tau), theirs, strict=True):
        close(got, G.T @ expected @ G, 1e-7)


@pytest.mark.parametrize("name", ["arm6", "quadruped"])
def test_the_same_as_of_the_traced_graph(name):
    robot = kt.load(name, base="floating" if name == "quadruped" else "fixed")
    s = state_of(robot, np.random.default_rng(1))
    law = kt.compile(lambda robot, q, v, a: robot.inverse_dynamics(q, v, a))
    dq, dv = robot.inverse_dynamics_derivatives(s.q, s.v, s.a)
    close(dq, kt.jacobian(law, wrt="q")(robot, s.q, s.v, s.a), 1e-11)
    close(dv, kt.jacobian(law, wrt="v")(robot, s.q, s.v, s.a), 1e-11)


@pytest.mark.parametrize("base_velocity", ["body", "mixed"])
def test_compiled_in_batches_and_inside_laws(base_velocity):
    rng = np.random.default_rng(3)
    model = kt.random_model(rng, 4, base="floating", base_velocity=base_velocity, joint_dynamics=True)
    s = state_of(kt.Robot(model), rng)
    for name in ("inverse_dynamics_derivatives", "forward_dynamics_derivatives"):
        single = getattr(s.robot, name)(s.q, s.v, s.a)
        assert type(single) is tuple
        for got, expected in zip(single, getattr(s.robot.eager, name)(s.q, s.v, s.a), strict=True):
            close(got, expected, 1e-10)
        batch = getattr(s.robot, name)(*(np.tile(array, (2, 5, 1)) for array in (s.q, s.v, s.a)))
        for got, expected in zip(batch, single, strict=True):
            assert np.array_equal(got[1, 3], expected)
        law = kt.compile(lambda robot, q, v, a, name=name: getattr(robot, name)(q, v, a)[1])
        close(law(s.robot, s.q, s.v, s.a), single[1], 1e-10)


def test_a_singular_mass_matrix_and_a_wrong_shape():
    builder = kt.ModelBuilder("nothing")
    builder.link("a")
    builder.link("b")
    builder.joint("hinge", "revolute", "a", "b")
    robot = kt.Robot(builder.build())
    with pytest.raises(kt.SingularMassMatrixError, match="joint 'hinge' can move without moving any mass"):
        robot.forward_dynamics_derivatives([0.0], [0.0], [0.0])
    with pytest.raises(kt.ArgumentError, match=r"v has shape \(2,\); expected"):
        robot.inverse_dynamics_derivatives([0.0], [0.0, 1.0], [0.0])
