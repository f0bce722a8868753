"""Linear in the parameters: the product with φ, columns by changing one parameter, and Pinocchio's regressors.

Covers: robot/parameters.py.
"""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given

import kinetree as kt
from kinetree.algorithms.joint_forces import passive_forces, spring_energy
from kinetree.algorithms.regressor import body_regressor
from kinetree.spatial import Motion
from peers import close
from states import State, state_of, states


def test_real_robots_beside_pinocchio(case):
    robot, peer, q, v = case.robot, case.peer, case.q, case.v
    if robot.model.has_mimics:
        pytest.skip("joints that follow others move independently in Pinocchio")
    a = case.rng.normal(size=robot.nv)
    data = peer.data()
    theirs = peer.G.T @ pin.computeJointTorqueRegressor(peer.model, data, peer.q(q), peer.G @ v, peer.G @ a)
    ours = robot.eager.regressor(q, v, a)
    energies = (
        (
            robot.eager.kinetic_energy_regressor(q, v),
            pin.computeKineticEnergyRegressor(peer.model, data, peer.q(q), peer.G @ v),
        ),
        (robot.eager.potential_energy_regressor(q), pin.computePotentialEnergyRegressor(peer.model, data, peer.q(q))),
    )
    energies = tuple((mine, np.array(other)) for mine, other in energies)
    for i, _ in robot.model.root_to_tips():
        joint = robot.model.joints[i]
        k = peer.model.getJointId("root_joint" if joint is robot.model.floating_base else joint.name) - 1
        close(ours[:, 10 * (i - 1) : 10 * i], theirs[:, 10 * k : 10 * k + 10])
        for mine, other in energies:
            close(mine[10 * (i - 1) : 10 * i], other[10 * k : 10 * k + 10])


@given(states())
def test_the_products_with_the_parameters(s: State):
    rng = s.rng
    model = kt.random_model(rng, 5, base="floating", joint_dynamics=True)
    for robot in (s.robot.eager, kt.Robot(model).eager):
        s = state_of(robot, rng)
        phi, still = robot.parameters, np.zeros(robot.nv)
        assert len(phi) == len(robot.parameter_names)
        springs = passive_forces(robot.model, s.q, still)
        close(robot.regressor(s.q, s.v, s.a) @ phi + springs, robot.inverse_dynamics(s.q, s.v, s.a), 1e-11)
        close(robot.kinetic_energy_regressor(s.q, s.v) @ phi, robot.kinetic_energy(s.q, s.v), 1e-11)
        energy = robot.potential_energy_regressor(s.q) @ phi + spring_energy(robot.model, s.q)
        close(energy, robot.potential_energy(s.q), 1e-11)


def test_bodies_at_frames_beside_pinocchio(case):
    robot, peer, q, v = case.robot, case.peer, case.q, case.v
    a = case.rng.normal(size=robot.nv)
    model, data = peer.model, peer.data()
    pin.rnea(model, data, peer.q(q), peer.G @ v, peer.G @ a)
    for name in case.rng.choice(robot.frame_names, 3):
        index = next((k for k, frame in enumerate(model.frames) if frame.name == name and frame.type == pin.BODY), None)
        if index is not None and model.frames[index].parentJoint > 0:
            theirs = pin.frameBodyRegressor(model, data, index).copy()
            close(robot.eager.frame(name).body_regressor(q, v, a), theirs)


def test_the_force_of_a_payload():
    """A load in the hand takes what its regressor says, and the joints feel it."""
    robot, rng = kt.load("arm6"), np.random.default_rng(3)
    load = kt.Inertia.from_com(2.0, (0.05, -0.02, 0.1), np.diag([0.02, 0.03, 0.04]))
    q, v, a = robot.random(rng), rng.normal(size=6), rng.normal(size=6)
    hand = robot.frame("tool0")
    force = hand.body_regressor(q, v, a) @ load.parameters()
    more = kt.edit.attach(robot, "tool0", load).inverse_dynamics(q, v, a) - robot.inverse_dynamics(q, v, a)
    close(hand.jacobian(q, reference="local").T @ force, more, 1e-11)


def test_a_body_beside_pinocchio():
    rng = np.random.default_rng(0)
    V, A = rng.normal(size=6), rng.normal(size=6)
    ours = np.array([f.vector() for f in body_regressor(Motion.from_vector(V), Motion.from_vector(A))]).T
    close(ours, pin.bodyRegressor(pin.Motion(V), pin.Motion(A)), 1e-13)


def test_parameters_have_names():
    robot = kt.load("puma560")
    names, phi = robot.parameter_names, robot.parameters
    assert names[10] == "link2_axis.mass" and phi[10] == 17.4
    assert names[60] == "joint1.armature" and np.isclose(phi[60], 62.6111**2 * 200e-6)
    assert names[-1] == "joint6.friction"
    assert len(kt.load("puma560", passive=False).parameters) == 66
    assert len(kt.load("arm6").parameters) == 60


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_compiled_and_in_batches(base):
    rng = np.random.default_rng(1)
    s = state_of(kt.Robot(kt.random_model(rng, 4, base=base, joint_dynamics=True)), rng)
    Y = s.robot.regressor(s.q, s.v, s.a)
    close(Y, s.robot.eager.regressor(s.q, s.v, s.a), 1e-12)
    assert np.array_equal(s.robot.regressor(*(np.tile(x, (3, 1)) for x in (s.q, s.v, s.a)))[2], Y)
