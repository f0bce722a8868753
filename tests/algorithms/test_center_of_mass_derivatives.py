"""Derivatives of the centre of mass: beside Pinocchio's, difference quotients and the traced graph."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, given

import kinetree as kt
from peers import close
from slopes import moving, near, quotients
from states import state_of


@given(moving())
def test_random_trees(s):
    assume(s.robot.mass > 0)
    J = s.robot.center_of_mass_jacobian(s.q)
    by_q, by_v = s.robot.center_of_mass_velocity_derivatives(s.q, s.v)
    near(by_q, quotients(s, lambda q, v, a: s.robot.center_of_mass_velocity(q, v), s.a)[0])
    close(by_v, J, 1e-12)
    slopes = s.robot.center_of_mass_acceleration_derivatives(s.q, s.v, s.a)
    for got, expected in zip(slopes, quotients(s, s.robot.center_of_mass_acceleration, s.a), strict=True):
        near(got, expected)
    close(slopes[2], J, 1e-12)


def test_real_robots_beside_pinocchio(case):
    """Also by centroidal momentum and its rate, whose linear parts are m ċ and m c̈."""
    robot, peer, q, v, a, G = case.robot.eager, case.peer, case.q, case.v, case.a, case.peer.G
    if not robot.mass:
        pytest.skip("no mass moves")
    data, q_pin = peer.data(), peer.q(q)
    pin.computeForwardKinematicsDerivatives(peer.model, data, q_pin, G @ v, G @ a)
    pin.centerOfMass(peer.model, data, q_pin, G @ v)
    by_q, by_v = robot.center_of_mass_velocity_derivatives(q, v)
    theirs = pin.getCenterOfMassVelocityDerivatives(peer.model, data) @ G
    if np.isfinite(theirs).all():  # it divides by the mass of every subtree
        close(by_q, theirs)
    h_q, *slopes = pin.computeCentroidalDynamicsDerivatives(peer.model, peer.data(), q_pin, G @ v, G @ a)
    close(by_q, h_q[:3] @ G / robot.mass)
    close(by_v, slopes[-1][:3] @ G / robot.mass)
    for got, expected in zip(robot.center_of_mass_acceleration_derivatives(q, v, a), slopes, strict=True):
        close(got, expected[:3] @ G / robot.mass)


def test_compiled_and_as_of_the_traced_graph():
    robot = kt.load("quadruped", base="floating", base_velocity="mixed")
    s = state_of(robot, np.random.default_rng(2))
    law = kt.compile(lambda robot, q, v: robot.center_of_mass_velocity(q, v))
    single = robot.center_of_mass_velocity_derivatives(s.q, s.v)
    close(single[0], kt.jacobian(law, wrt="q")(robot, s.q, s.v), 1e-11)
    batch = robot.center_of_mass_velocity_derivatives(np.tile(s.q, (9, 1)), s.v)
    assert np.array_equal(batch[0][8], single[0])
    slopes = robot.center_of_mass_acceleration_derivatives(s.q, s.v, s.a)
    textbook = robot.eager.center_of_mass_acceleration_derivatives(s.q, s.v, s.a)
    for got, expected in zip(slopes, textbook, strict=True):
        close(got, expected, 1e-11)


def test_nothing_that_weighs():
    builder = kt.ModelBuilder("nothing")
    builder.link("a")
    builder.link("b")
    builder.joint("hinge", "revolute", "a", "b")
    with pytest.raises(kt.ArgumentError, match="has no moving mass"):
        kt.Robot(builder.build()).center_of_mass_velocity_derivatives([0.0], [0.0])
