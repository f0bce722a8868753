"""Poses, velocities and accelerations of bodies and frames."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given

from peers import REFERENCES, close
from states import State, linear_first, rate_along, states


def test_poses_of_real_robots(case):
    robot, peer, q = case.robot, case.peer, case.q
    data = peer.data()
    pin.framesForwardKinematics(peer.model, data, peer.q(q))
    poses = robot.poses(q)
    assert poses.shape == (len(robot.body_names), 4, 4)
    for k, name in enumerate(robot.body_names):
        close(poses[k], data.oMf[peer.frame_id(name)].homogeneous)
    for name in robot.frame_names:
        close(robot.frame(name).pose(q), data.oMf[peer.frame_id(name)].homogeneous)


@pytest.fixture
def moving(case):
    """The Pinocchio data of a robot in motion."""
    peer, data = case.peer, case.peer.data()
    pin.forwardKinematics(peer.model, data, peer.q(case.q), peer.G @ case.v, peer.G @ case.a)
    pin.updateFramePlacements(peer.model, data)
    return data


def test_velocities_of_all_frames_of_real_robots(case, moving):
    """Each frame in one reference, in turn."""
    for k, name in enumerate(case.robot.frame_names):
        reference, theirs = list(REFERENCES.items())[k % 3]
        velocity = pin.getFrameVelocity(case.peer.model, moving, case.peer.frame_id(name), theirs).vector
        close(case.robot.frame(name).velocity(case.q, case.v, reference), velocity)


def test_motion_of_some_frames_of_real_robots(case, moving):
    robot, model, q, v, a = case.robot, case.peer.model, case.q, case.v, case.a
    for name in case.some_frames():
        frame, k = robot.frame(name), case.peer.frame_id(name)
        for reference, theirs in REFERENCES.items():
            close(frame.velocity(q, v, reference), pin.getFrameVelocity(model, moving, k, theirs).vector)
            spatial = pin.getFrameAcceleration(model, moving, k, theirs).vector
            close(frame.acceleration(q, v, a, reference, kind="spatial"), spatial)
            classical = pin.getFrameClassicalAcceleration(model, moving, k, theirs).vector
            close(frame.acceleration(q, v, a, reference), classical)


@given(states())
def test_velocity_is_the_derivative_of_the_pose(s: State):
    tool, order = s.robot.frame("tool"), s.robot.model.spatial_order
    T, T_dot = tool.pose(s.q), rate_along(s, lambda q, v: tool.pose(q))
    W = T_dot[:3, :3] @ T[:3, :3].T  # [ω]×
    omega = np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2
    close(linear_first(tool.velocity(s.q, s.v), order), np.concatenate([T_dot[:3, 3], omega]), 1e-7)


@given(states())
def test_acceleration_is_the_derivative_of_velocity(s: State):
    """d/dt of the point's velocity is the classical acceleration; of the local and world twists, the spatial one."""
    tool = s.robot.frame("tool")
    for reference in REFERENCES:
        kind = "classical" if reference == "world-aligned" else "spatial"
        rate = rate_along(s, lambda q, v, r=reference: tool.velocity(q, v, r))
        close(tool.acceleration(s.q, s.v, s.a, reference, kind), rate, 1e-6)
        close(
            tool.bias_acceleration(s.q, s.v, reference, kind), tool.acceleration(s.q, s.v, 0 * s.a, reference, kind), 0
        )
