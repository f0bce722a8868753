"""Frame Jacobians and their rates."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, given

from kinetree.model.joints import Universal
from peers import REFERENCES, close, pin_from_tree
from states import State, rate_along, states


@pytest.fixture
def moving(case):
    """The Pinocchio data of a robot in motion; its functions crash for robots without joints."""
    peer, data, q_pin = case.peer, case.peer.data(), case.peer.q(case.q)
    if case.robot.nv:
        pin.computeJointJacobians(peer.model, data, q_pin)
        pin.computeJointJacobiansTimeVariation(peer.model, data, q_pin, peer.G @ case.v)
        pin.updateFramePlacements(peer.model, data)
    return data


def test_all_frames_of_real_robots(case, moving):
    """Each frame in one reference, in turn."""
    robot, peer, q = case.robot, case.peer, case.q
    for k, name in enumerate(robot.frame_names):
        reference, theirs = list(REFERENCES.items())[k % 3]
        J = robot.frame(name).jacobian(q, reference)
        if robot.nv == 0:
            assert J.shape == (6, 0)
            continue
        close(J, pin.getFrameJacobian(peer.model, moving, peer.frame_id(name), theirs).reshape(6, -1) @ peer.G)


def test_rates_of_some_frames_of_real_robots(case, moving):
    robot, peer, q, v = case.robot, case.peer, case.q, case.v
    for name in case.some_frames() if robot.nv else ():
        frame, k = robot.frame(name), peer.frame_id(name)
        for reference, theirs in REFERENCES.items():
            close(frame.jacobian(q, reference), pin.getFrameJacobian(peer.model, moving, k, theirs) @ peer.G)
            rate = pin.getFrameJacobianTimeVariation(peer.model, moving, k, theirs) @ peer.G
            close(frame.jacobian_rate(q, v, reference), rate)


@given(states(spatial_order="linear-first", base_velocity="body"))
def test_random_trees(s: State):
    robot, q, v = s.robot, s.q, s.v
    assume(robot.nv)
    peer = pin_from_tree(robot.model)
    model, data, T = peer.model, peer.data(), peer.T(q)
    pin.forwardKinematics(model, data, peer.q(q), T @ v, peer.T_rate(q, v) @ v)
    pin.computeJointJacobians(model, data, peer.q(q))
    pin.computeJointJacobiansTimeVariation(model, data, peer.q(q), T @ v)
    pin.updateFramePlacements(model, data)
    k = peer.frame_id("tool")
    for reference, theirs in REFERENCES.items():
        J = pin.getFrameJacobian(model, data, k, theirs).reshape(6, -1)  # it returns (6,) for one joint
        close(robot.frame("tool").jacobian(q, reference), J @ T, 1e-11)
        rate = robot.frame("tool").jacobian_rate(q, v, reference)
        accelerate = pin.getFrameClassicalAcceleration if reference == "world-aligned" else pin.getFrameAcceleration
        close(rate @ v, accelerate(model, data, k, theirs).vector, 1e-10)
        if any(isinstance(joint, Universal) for joint in robot.model.joints):
            continue  # there, Pinocchio's J̇ lacks the change of S: J a + J̇ v is not its own acceleration
        theirs = pin.getFrameJacobianTimeVariation(model, data, k, theirs).reshape(6, -1)
        close(rate, theirs @ T + J @ peer.T_rate(q, v), 1e-10)


@given(states())
def test_jacobian_times_v_is_the_velocity(s: State):
    tool = s.robot.frame("tool")
    for reference in REFERENCES:
        close(tool.jacobian(s.q, reference) @ s.v, tool.velocity(s.q, s.v, reference), 1e-11)


@given(states())
def test_rate(s: State):
    robot, q, v, a = s.robot, s.q, s.v, s.a
    tool = robot.frame("tool")
    for reference in REFERENCES:
        dJ = tool.jacobian_rate(q, v, reference)
        close(dJ, rate_along(s, lambda q, v, r=reference: tool.jacobian(q, r)), 1e-6)
        kind = "classical" if reference == "world-aligned" else "spatial"
        close(dJ @ v, tool.bias_acceleration(q, v, reference, kind), 1e-10)
        full = tool.acceleration(q, v, a, reference, kind)
        close(tool.jacobian(q, reference) @ a + dJ @ v, full, 1e-10)


def test_columns_of_joints_that_do_not_carry_the_frame_are_zero(case):
    robot, name = case.robot, case.robot.frame_names[-1]
    J = robot.frame(name).jacobian(case.q)
    carriers = {robot.model.joints[i].iv + k for i in support(robot, name) for k in range(robot.model.joints[i].nv)}
    others = [k for k in range(robot.nv) if k not in carriers]
    assert np.all(J[:, others] == 0.0)


def support(robot, name):
    return robot.model.support(robot.model.frame(name).body)
