"""Newton and Euler in three dimensions: the torques of RNEA, and the loads in between by statics and by Pinocchio."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given

import kinetree as kt
from kinetree.algorithms import newton_euler
from peers import close
from states import State, states


@given(states())
def test_the_torques_are_those_of_rnea(s: State):
    tau = newton_euler.inverse_dynamics(s.robot.model, s.q, s.v, s.a)
    close(tau, s.robot.eager.inverse_dynamics(s.q, s.v, s.a), 1e-11)


def test_real_robots_beside_pinocchio(case):
    """Its rnea leaves the load of every joint in data.f."""
    robot, peer, q, v = case.robot, case.peer, case.q, case.v
    if robot.model.has_mimics:
        pytest.skip("joints that follow others move independently in Pinocchio")
    a = case.rng.normal(size=robot.nv)
    data = peer.data()
    pin.rnea(peer.model, data, peer.q(q), peer.G @ v, peer.G @ a)
    loads = robot.eager.joint_reactions(q, v, a)
    for i, _ in robot.model.root_to_tips():
        joint = robot.model.joints[i]
        name = "root_joint" if joint is robot.model.floating_base else joint.name
        close(loads[i - 1], data.f[peer.model.getJointId(name)].vector)


@given(states())
def test_wrenches_are_carried_down_to_the_base(s: State):
    """Of a robot that stands still without gravity on one leg, the first load is the wrench, moved there."""
    model = kt.random_model(s.rng, 4, ("revolute", "prismatic"), branching=0.0, gravity=(0, 0, 0))
    robot = kt.Robot(model).eager
    q, w = robot.random(s.rng), s.rng.normal(size=6)
    loads = robot.static_reactions(q, {"tool": w})
    T, tool = robot.poses(q)[0], robot.frame("tool").pose(q)[:3, 3]
    R = T[:3, :3]
    close(loads[0][:3], -R.T @ w[:3])
    close(loads[0][3:], -R.T @ (w[3:] + np.cross(tool - T[:3, 3], w[:3])))


def test_what_a_wall_mount_carries():
    """A 2 kg shelf whose centre of mass is 0.3 m from the wall, on a kept fixed joint, and a lamp at its end."""
    builder = kt.ModelBuilder("shelf")
    builder.link("wall")
    builder.link("shelf", kt.Inertia.from_com(2.0, (0.3, 0, 0), 0.01 * np.eye(3)))
    builder.joint("mount", "fixed", "wall", "shelf")
    builder.frame("end", "shelf", xyz=(0.6, 0, 0))
    robot = kt.Robot(builder.build(keep_fixed=["mount"]))
    close(robot.static_reactions([]), [[0, 0, 2 * 9.81, 0, -0.3 * 2 * 9.81, 0]])
    lamp = {"end": [0, 0, -5.0, 0, 0, 0]}
    close(robot.static_reactions([], lamp), [[0, 0, 2 * 9.81 + 5, 0, -0.3 * 2 * 9.81 - 0.6 * 5, 0]])


@pytest.mark.parametrize("order", ["linear-first", "angular-first"])
def test_compiled_in_batches_and_in_both_orders(order):
    robot = kt.load("arm6", spatial_order=order)
    rng = np.random.default_rng(0)
    q, v, a = robot.random(rng, 9), rng.normal(size=(9, 6)), rng.normal(size=(9, 6))
    loads = robot.joint_reactions(q, v, a)
    assert loads.shape == (9, 6, 6)
    close(loads[4], robot.eager.joint_reactions(q[4], v[4], a[4]), 1e-12)
    swapped = np.roll(loads, 3, axis=-1) if order == "angular-first" else loads
    close(swapped, kt.load("arm6").joint_reactions(q, v, a), 1e-12)
