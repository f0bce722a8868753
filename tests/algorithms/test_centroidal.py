"""Centroidal momentum, its matrix and its rate: beside Pinocchio, by sums over bodies, and as derivatives."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, given

import kinetree as kt
from peers import close, pin_from_tree
from states import State, linear_first, rate_along, state_of, states


def test_real_robots_beside_pinocchio(case):
    robot, peer, q, v, a = case.robot, case.peer, case.q, case.v, case.a
    if robot.mass == 0.0:
        with pytest.raises(kt.ArgumentError, match="no moving mass"):
            robot.centroidal_momentum(q, v)
        return
    data, G, q_pin = peer.data(), peer.G, peer.q(q)
    close(robot.centroidal_momentum(q, v), pin.computeCentroidalMomentum(peer.model, data, q_pin, G @ v).vector)
    pin.computeCentroidalMomentumTimeVariation(peer.model, data, q_pin, G @ v, G @ a)
    close(robot.centroidal_momentum_rate(q, v, a), data.dhg.vector)
    pin.dccrba(peer.model, data, q_pin, G @ v)
    close(robot.centroidal_momentum_matrix(q), data.Ag.reshape(6, -1) @ G)
    close(robot.centroidal_momentum_bias(q, v), data.dAg.reshape(6, -1) @ G @ v)


@given(states(base_velocity="body", spatial_order="linear-first"))
def test_random_trees_beside_pinocchio(s: State):
    """Every kind of joint, on both bases."""
    assume(s.robot.mass > 0)
    peer, robot = pin_from_tree(s.robot.model), s.robot.eager
    data, T, q_pin = peer.data(), peer.T(s.q), peer.q(s.q)
    v_pin, a_pin = T @ s.v, T @ s.a + peer.T_rate(s.q, s.v) @ s.v
    close(robot.centroidal_momentum(s.q, s.v), pin.computeCentroidalMomentum(peer.model, data, q_pin, v_pin).vector)
    pin.computeCentroidalMomentumTimeVariation(peer.model, data, q_pin, v_pin, a_pin)
    close(robot.centroidal_momentum_rate(s.q, s.v, s.a), data.dhg.vector)
    close(robot.centroidal_momentum_matrix(s.q), pin.ccrba(peer.model, data, q_pin, v_pin).reshape(6, -1) @ T)


@given(states())
def test_they_belong_together_in_every_convention(s: State):
    """h = A v, ḣ = A a + Ȧ v, ḣ the slope of h along the motion."""
    assume(s.robot.mass > 0)
    robot, q, v, a = s.robot.eager, s.q, s.v, s.a
    A, h = robot.centroidal_momentum_matrix(q), robot.centroidal_momentum(q, v)
    close(A @ v, h, 1e-11)
    rate = robot.centroidal_momentum_rate(q, v, a)
    close(A @ a + robot.centroidal_momentum_bias(q, v), rate, 1e-11)
    close(rate, rate_along(s, robot.centroidal_momentum), 1e-6)


@given(states())
def test_momentum_is_the_sum_over_bodies(s: State):
    """Σ m_i ċ_i and Σ (c_i - c) × m_i ċ_i + I_i ω_i, from poses and velocities of the links alone."""
    assume(s.robot.mass > 0)
    robot, model, order = s.robot.eager, s.robot.model, s.robot.model.spatial_order
    linear, angular, c = np.zeros(3), np.zeros(3), robot.center_of_mass(s.q)
    for i in model.moving:
        frame, I = robot.frame(model.names[i]), model.inertias[i]  # noqa: E741
        R, p = frame.pose(s.q)[:3, :3], frame.pose(s.q)[:3, 3]
        x, w = np.split(linear_first(frame.velocity(s.q, s.v), order), 2)
        r = R @ I.com
        momentum = I.mass * (x + np.cross(w, r))
        linear += momentum
        angular += np.cross(p + r - c, momentum) + R @ I.about_com @ R.T @ w
    close(linear_first(robot.centroidal_momentum(s.q, s.v), order), np.concatenate([linear, angular]), 1e-11)


def test_links_bolted_to_the_world_do_not_count():
    """A heavy pedestal, kept as a body of its own, has no momentum and does not move the centre of mass."""
    builder = kt.ModelBuilder("on a pedestal")
    heavy, light = (kt.Inertia.from_com(m, (0.1, 0.2, 0.3), np.eye(3)) for m in (100.0, 1.0))
    for name, inertia in {"floor": None, "pedestal": heavy, "arm": light}.items():
        builder.link(name, inertia)
    builder.joint("bolts", "fixed", "floor", "pedestal")
    builder.joint("hinge", "revolute", "pedestal", "arm", axis=(0, 0, 1))
    kept, merged = (kt.Robot(builder.build(keep_fixed=keep)) for keep in (["bolts"], []))
    assert len(kept.body_names) == 2
    q, v = np.array([0.3]), np.array([1.2])
    for name in ("centroidal_momentum", "centroidal_momentum_bias"):
        close(getattr(kept, name)(q, v), getattr(merged, name)(q, v), 1e-14)
    close(kept.centroidal_momentum_matrix(q), merged.centroidal_momentum_matrix(q), 1e-14)
    assert np.allclose(kept.centroidal_momentum(q, v)[:3], kept.center_of_mass_velocity(q, v))


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_compiled_and_in_batches(base):
    rng = np.random.default_rng(5)
    s = state_of(kt.Robot(kt.random_model(rng, 5, base=base)), rng)
    for name, inputs in {"momentum": (s.q, s.v), "momentum_matrix": (s.q,), "momentum_rate": (s.q, s.v, s.a)}.items():
        call = getattr(s.robot, f"centroidal_{name}")
        close(call(*inputs), getattr(s.robot.eager, f"centroidal_{name}")(*inputs), 1e-12)
        assert np.array_equal(call(*(np.tile(x, (11, 1)) for x in inputs))[10], call(*inputs))
