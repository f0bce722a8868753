"""Analytic derivatives: against Pinocchio's, against difference quotients, and against those of the traced graph."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinetree as kt
from peers import close
from states import state_of

STEP = 1e-6


@st.composite
def moving(draw):
    """A random tree in one of all conventions, with motors."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    options = {
        "base": draw(st.sampled_from(["fixed", "floating"])),
        "spatial_order": draw(st.sampled_from(["linear-first", "angular-first"])),
        "base_velocity": draw(st.sampled_from(["body", "mixed"])),
        "joint_dynamics": draw(st.booleans()),
    }
    return state_of(kt.Robot(kt.random_model(rng, draw(st.integers(1, 6)), **options)).eager, rng)


def quotients(s, function, third):
    """Central differences by q, v and the third argument."""
    n = s.robot.nv
    columns = ([], [], [])
    for unit in STEP * np.eye(n):
        ahead, behind = s.robot.integrate(s.q, unit), s.robot.integrate(s.q, -unit)
        columns[0].append(function(ahead, s.v, third) - function(behind, s.v, third))
        columns[1].append(function(s.q, s.v + unit, third) - function(s.q, s.v - unit, third))
        columns[2].append(function(s.q, s.v, third + unit) - function(s.q, s.v, third - unit))
    return [np.array(column).reshape(n, n).T / (2 * STEP) for column in columns]


def near(x, reference):
    close(x, reference, 3e-7)


@given(moving())
@settings(max_examples=40)
def test_inverse_dynamics(s):
    by_q, by_v, by_a = quotients(s, s.robot.inverse_dynamics, s.a)
    dq, dv = s.robot.inverse_dynamics_derivatives(s.q, s.v, s.a)
    near(dq, by_q)
    near(dv, by_v)
    near(s.robot.mass_matrix(s.q), by_a)


@given(moving(), st.sampled_from(["world-aligned", "local", "world"]))
@settings(max_examples=40)
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
@settings(max_examples=40)
def test_forward_dynamics(s):
    tau = s.robot.inverse_dynamics(s.q, s.v, s.a)
    for got, expected in zip(
        s.robot.forward_dynamics_derivatives(s.q, s.v, tau), quotients(s, s.robot.forward_dynamics, tau), strict=True
    ):
        near(got, expected)


def test_real_robots_beside_pinocchio(case):
    robot, peer, q, v = case.robot, case.peer, case.q, case.v
    if robot.model.has_mimics or not robot.nv:
        return  # Pinocchio's joints are independent there; random trees cover mimics
    a = case.rng.normal(size=robot.nv)
    data, q_pin, G = peer.data(), peer.q(q), peer.G
    dq, dv, M = pin.computeRNEADerivatives(peer.model, data, q_pin, G @ v, G @ a)
    ours = robot.eager.inverse_dynamics_derivatives(q, v, a)
    close(ours[0], G.T @ dq @ G)
    close(ours[1], G.T @ dv @ G)
    if np.linalg.cond(M) > 1e8:
        return
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
