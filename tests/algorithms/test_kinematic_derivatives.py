"""Derivatives of frame velocities and accelerations: beside Pinocchio's, difference quotients and the traced graph."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from peers import REFERENCES, close
from slopes import moving, near, quotients
from states import state_of

KINDS = ("classical", "spatial")


@given(moving(), st.sampled_from(list(REFERENCES)))
def test_velocity(s, reference):
    for frame in (s.robot.frame("tool"), s.robot.frame("link1")):
        expected = quotients(s, lambda q, v, a, frame=frame: frame.velocity(q, v, reference), s.a)
        by_q, by_v = frame.velocity_derivatives(s.q, s.v, reference)
        near(by_q, expected[0])
        close(by_v, frame.jacobian(s.q, reference), 1e-12)


@given(moving(), st.sampled_from(list(REFERENCES)), st.sampled_from(KINDS))
def test_acceleration(s, reference, kind):
    frame = s.robot.frame("tool")
    expected = quotients(s, lambda q, v, a: frame.acceleration(q, v, a, reference, kind), s.a)
    slopes = frame.acceleration_derivatives(s.q, s.v, s.a, reference, kind)
    for got, quotient in zip(slopes, expected, strict=True):
        near(got, quotient)
    close(slopes[2], frame.jacobian(s.q, reference), 1e-12)


def test_real_robots_beside_pinocchio(case):
    """World-aligned, its spatial derivatives are those of a point that stays where it is, and its derivatives of points
    are those of one that moves with the body, like ours."""
    robot, peer, q, v, a, G = case.robot.eager, case.peer, case.q, case.v, case.a, case.peer.G
    data = peer.data()
    pin.computeForwardKinematicsDerivatives(peer.model, data, peer.q(q), G @ v, G @ a)
    for name in case.some_frames(2):
        frame, index = robot.frame(name), peer.frame_id(name)
        for reference in ("local", "world"):
            theirs = pin.getFrameVelocityDerivatives(peer.model, data, index, REFERENCES[reference])
            for got, expected in zip(frame.velocity_derivatives(q, v, reference), theirs, strict=True):
                close(got, expected @ G)
            theirs = pin.getFrameAccelerationDerivatives(peer.model, data, index, REFERENCES[reference])[1:]
            for got, expected in zip(
                frame.acceleration_derivatives(q, v, a, reference, "spatial"), theirs, strict=True
            ):
                close(got, expected @ G)
        where = peer.model.frames[index]
        point = (peer.model, data, where.parentJoint, where.placement, REFERENCES["world-aligned"])
        theirs = pin.getPointVelocityDerivatives(*point)
        for got, expected in zip(frame.velocity_derivatives(q, v), theirs, strict=True):
            close(got[:3], expected @ G)
        theirs = pin.getPointClassicAccelerationDerivatives(*point)
        turning = pin.getFrameAccelerationDerivatives(peer.model, data, index, REFERENCES["world-aligned"])[1:]
        slopes = frame.acceleration_derivatives(q, v, a)
        for got, linear, angular in zip(slopes, theirs[-3:], turning, strict=True):
            close(got[:3], linear @ G)
            close(got[3:], angular[3:] @ G)


def test_the_same_as_of_the_traced_graph():
    robot = kt.load("arm6", base="floating")
    s = state_of(robot, np.random.default_rng(1))
    for reference in REFERENCES:
        frame = robot.frame("tool0")
        law = kt.compile(lambda robot, q, v, a, r=reference: robot.frame("tool0").acceleration(q, v, a, r))
        expected = kt.jacobian(law, wrt=("q", "v", "a"))(robot, s.q, s.v, s.a)
        for got, slope in zip(frame.acceleration_derivatives(s.q, s.v, s.a, reference), expected, strict=True):
            close(got, slope, 1e-11)


def test_compiled_in_batches_and_inside_laws():
    rng = np.random.default_rng(3)
    model = kt.random_model(rng, 4, base="floating", base_velocity="mixed")
    s = state_of(kt.Robot(model), rng)
    for name, state in (("velocity_derivatives", (s.q, s.v)), ("acceleration_derivatives", (s.q, s.v, s.a))):
        single = getattr(s.robot.frame("tool"), name)(*state, "local")
        for got, expected in zip(single, getattr(s.robot.eager.frame("tool"), name)(*state, "local"), strict=True):
            close(got, expected, 1e-11)
        batch = getattr(s.robot.frame("tool"), name)(*(np.tile(array, (2, 5, 1)) for array in state), "local")
        for got, expected in zip(batch, single, strict=True):
            assert np.array_equal(got[1, 3], expected)
    law = kt.compile(lambda robot, q, v: robot.frame("tool").velocity_derivatives(q, v)[0])
    close(law(s.robot, s.q, s.v), s.robot.frame("tool").velocity_derivatives(s.q, s.v)[0], 1e-12)
    s.robot.frame("tool").prepare("acceleration_derivatives", reference="world", kind="spatial")


def test_a_frame_that_is_bolted_to_the_world():
    arm = kt.load("arm6")
    for slope in arm.frame("base_link").acceleration_derivatives(arm.random(0), np.ones(6), np.ones(6)):
        assert slope.shape == (6, 6) and not slope.any()


def test_wrong_options():
    arm = kt.load("arm6")
    with pytest.raises(kt.ArgumentError, match="reference is 'body'; expected"):
        arm.frame("tool0").velocity_derivatives(np.zeros(6), np.zeros(6), "body")
    with pytest.raises(kt.ArgumentError, match="kind is 'both'; expected"):
        arm.frame("tool0").acceleration_derivatives(*np.zeros((3, 6)), kind="both")
