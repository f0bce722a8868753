"""Wrenches at frames as forces on bodies."""

import numpy as np
import pinocchio as pin
from hypothesis import given

import kinetree as kt
from peers import REFERENCES, close
from states import State, linear_first, states
from textbook import G


def test_real_robots(case):
    robot, peer, q, v, a = case.robot, case.peer, case.q, case.v, case.a
    model, data, T = peer.model, peer.data(), peer.G
    names = case.some_frames()
    if robot.nv == 0:
        assert robot.inverse_dynamics(q, v, a, {names[0]: np.ones(6)}).shape == (0,)
        return
    wrenches, pushed = {}, np.zeros(robot.nv)
    pin.computeJointJacobians(model, data, peer.q(q))
    pin.updateFramePlacements(model, data)
    for name, (reference, theirs) in zip(names, REFERENCES.items(), strict=False):
        w = 10 * case.rng.normal(size=6)
        wrenches[name] = kt.Wrench(w, reference)
        pushed += (pin.getFrameJacobian(model, data, peer.frame_id(name), theirs) @ T).T @ w
    tau = T.T @ pin.rnea(model, data, peer.q(q), T @ v, T @ a) - pushed
    close(robot.inverse_dynamics(q, v, a, wrenches), tau)
    close(robot.bias_forces(q, v, wrenches), robot.bias_forces(q, v) - pushed)


@given(states())
def test_a_wrench_is_the_same_in_every_reference(s: State):
    robot, q, v, a = s.robot, s.q, s.v, s.a
    tool = robot.frame("tool")
    w, order = s.rng.normal(size=6), robot.model.spatial_order
    T = tool.pose(q)
    R, p = T[:3, :3], T[:3, 3]
    f, n = np.split(linear_first(w, order), 2)
    local = linear_first(np.concatenate([R.T @ f, R.T @ n]), order)
    world = linear_first(np.concatenate([f, n + np.cross(p, f)]), order)
    tau = robot.inverse_dynamics(q, v, a, {"tool": w})
    close(robot.inverse_dynamics(q, v, a) - tool.jacobian(q).T @ w, tau, 1e-11)
    close(robot.inverse_dynamics(q, v, a, {"tool": kt.Wrench(local, "local")}), tau, 1e-11)
    close(robot.inverse_dynamics(q, v, a, {"tool": kt.Wrench(world, "world")}), tau, 1e-11)


def test_a_body_pressed_on_the_ground_by_its_weight_needs_no_effort():
    robot = kt.load("arm6", base="floating")
    q = robot.random(np.random.default_rng(0))
    at_com = robot.center_of_mass(q) - robot.frame("base_link").pose(q)[:3, 3]
    weight = np.array([0, 0, robot.mass * G])
    support = {"base_link": np.concatenate([weight, np.cross(at_com, weight)])}
    tau = robot.inverse_dynamics(q, np.zeros(robot.nv), np.zeros(robot.nv), support)
    close(tau[:6], np.zeros(6), 1e-10)
