"""Every quantity on every real robot, fixed and floating, against Pinocchio."""

import warnings
import zlib

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from peers import REFERENCES, close, pin_from_urdf, readable_urdfs, urdf_files


@pytest.fixture(scope="module", params=readable_urdfs())
def path(request):
    return urdf_files()[request.param]


@pytest.fixture(params=["fixed", "floating"])
def case(request, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.ModelWarning)
        robot = kt.load(path, request.param)
    peer = pin_from_urdf(robot, path, request.param == "floating")
    rng = np.random.default_rng(zlib.crc32(path.name.encode()))
    return robot, peer, rng


def some_frames(robot, rng, count=3):
    names = np.array(robot.frame_names)
    return [str(name) for name in rng.permutation(names)[:count]]


def test_the_data_has_69_files_and_68_robots():
    assert len(urdf_files()) == 69
    assert len(readable_urdfs()) == 68


def test_size_and_names(case):
    robot, peer, _ = case
    assert robot.nv == np.linalg.matrix_rank(peer.G) == peer.G.shape[1]
    close(robot.mass, pin.computeTotalMass(peer.model))
    for name in robot.frame_names:
        assert peer.model.existFrame(name, pin.FrameType.BODY)


def test_dynamics(case):
    robot, peer, rng = case
    data, G = peer.data(), peer.G
    q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    q_pin = peer.q(q)
    close(robot.inverse_dynamics(q, v, a), G.T @ pin.rnea(peer.model, data, q_pin, G @ v, G @ a))
    close(robot.mass_matrix(q), G.T @ pin.crba(peer.model, data, q_pin) @ G)
    close(robot.bias_forces(q, v), G.T @ pin.nonLinearEffects(peer.model, data, q_pin, G @ v))
    close(robot.gravity_forces(q), G.T @ pin.computeGeneralizedGravity(peer.model, data, q_pin))
    close(robot.kinetic_energy(q, v), pin.computeKineticEnergy(peer.model, data, q_pin, G @ v))
    close(robot.potential_energy(q), pin.computePotentialEnergy(peer.model, data, q_pin))


def test_forward_dynamics_by_its_residual(case):
    robot, peer, rng = case
    data, G = peer.data(), peer.G
    q, v, tau = robot.random(rng), rng.normal(size=robot.nv), 10 * rng.normal(size=robot.nv)
    if np.any(np.diag(robot.mass_matrix(q)) == 0.0):
        with pytest.raises(kt.SingularMassMatrixError, match=r"joint '.+' can move without moving any mass"):
            robot.forward_dynamics(q, v, tau)
        return
    a = robot.forward_dynamics(q, v, tau)
    q_pin = peer.q(q)
    M = G.T @ pin.crba(peer.model, data, q_pin) @ G
    h = G.T @ pin.nonLinearEffects(peer.model, data, q_pin, G @ v)
    close(M @ a + h, tau)
    close(robot.inverse_mass_matrix(q) @ M, np.eye(robot.nv), 1e-7)  # a product with M⁻¹: its condition number enters


def test_center_of_mass(case):
    robot, peer, rng = case
    data, G = peer.data(), peer.G
    q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    if robot.mass == 0.0:
        with pytest.raises(kt.ArgumentError, match="no moving mass"):
            robot.center_of_mass(q)
        return
    pin.centerOfMass(peer.model, data, peer.q(q), G @ v, G @ a)
    close(robot.center_of_mass(q), data.com[0])
    close(robot.center_of_mass_velocity(q, v), data.vcom[0])
    close(robot.center_of_mass_acceleration(q, v, a), data.acom[0])
    close(robot.center_of_mass_jacobian(q), pin.jacobianCenterOfMass(peer.model, data, peer.q(q)) @ G)


def test_poses(case):
    robot, peer, rng = case
    data, q = peer.data(), robot.random(rng)
    pin.framesForwardKinematics(peer.model, data, peer.q(q))
    poses = robot.poses(q)
    assert poses.shape == (len(robot.body_names), 4, 4)
    for k, name in enumerate(robot.body_names):
        close(poses[k], data.oMf[peer.frame_id(name)].homogeneous)
    for name in robot.frame_names:
        close(robot.frame(name).pose(q), data.oMf[peer.frame_id(name)].homogeneous)


def test_frame_motion(case):
    robot, peer, rng = case
    model, data, G = peer.model, peer.data(), peer.G
    q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    pin.forwardKinematics(model, data, peer.q(q), G @ v, G @ a)
    pin.updateFramePlacements(model, data)
    for name in some_frames(robot, rng):
        frame, k = robot.frame(name), peer.frame_id(name)
        for reference, pin_reference in REFERENCES.items():
            close(frame.velocity(q, v, reference), pin.getFrameVelocity(model, data, k, pin_reference).vector)
            spatial = pin.getFrameAcceleration(model, data, k, pin_reference).vector
            close(frame.acceleration(q, v, a, reference, kind="spatial"), spatial)
            classical = pin.getFrameClassicalAcceleration(model, data, k, pin_reference).vector
            close(frame.acceleration(q, v, a, reference), classical)


def test_frame_jacobians(case):
    robot, peer, rng = case
    model, data, G = peer.model, peer.data(), peer.G
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    if robot.nv == 0:  # Pinocchio crashes here
        assert all(robot.frame(name).jacobian(q).shape == (6, 0) for name in robot.frame_names)
        return
    pin.computeJointJacobians(model, data, peer.q(q))
    pin.computeJointJacobiansTimeVariation(model, data, peer.q(q), G @ v)
    pin.updateFramePlacements(model, data)
    for name in some_frames(robot, rng):
        frame, k = robot.frame(name), peer.frame_id(name)
        for reference, pin_reference in REFERENCES.items():
            close(frame.jacobian(q, reference), pin.getFrameJacobian(model, data, k, pin_reference) @ G)
            rate = pin.getFrameJacobianTimeVariation(model, data, k, pin_reference) @ G
            close(frame.jacobian_rate(q, v, reference), rate)


def test_wrenches(case):
    robot, peer, rng = case
    model, data, G = peer.model, peer.data(), peer.G
    q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    names = some_frames(robot, rng)
    if robot.nv == 0:
        assert robot.inverse_dynamics(q, v, a, {names[0]: np.ones(6)}).shape == (0,)
        return
    wrenches, pushed = {}, np.zeros(robot.nv)
    pin.computeJointJacobians(model, data, peer.q(q))
    pin.updateFramePlacements(model, data)
    for name, (reference, pin_reference) in zip(names, REFERENCES.items(), strict=False):
        w = 10 * rng.normal(size=6)
        wrenches[name] = kt.Wrench(w, reference)
        pushed += (pin.getFrameJacobian(model, data, peer.frame_id(name), pin_reference) @ G).T @ w
    tau = G.T @ pin.rnea(model, data, peer.q(q), G @ v, G @ a) - pushed
    close(robot.inverse_dynamics(q, v, a, wrenches), tau)
    close(robot.bias_forces(q, v, wrenches), robot.bias_forces(q, v) - pushed)


def test_integrate_and_difference(case):
    robot, peer, rng = case
    if any(nq == 2 for *_, nq in peer.position):  # on a circle there, a line here: compare what they do to the pose
        return
    q, dv = robot.random(rng), rng.uniform(-1.0, 1.0, size=robot.nv)  # less than half a turn
    there = robot.integrate(q, dv)
    close(peer.q(there), pin.integrate(peer.model, peer.q(q), peer.G @ dv))
    close(peer.G @ robot.difference(q, there), pin.difference(peer.model, peer.q(q), peer.q(there)))


def test_a_singular_mass_matrix_names_the_joint():
    icub = kt.load(urdf_files()["icub_description/icub.urdf"])
    q, zero = icub.neutral(), np.zeros(icub.nv)
    for call in (lambda: icub.forward_dynamics(q, zero, zero), lambda: icub.inverse_mass_matrix(q)):
        with pytest.raises(kt.SingularMassMatrixError, match="joint 'neck_roll'"):
            call()
    elsewhere = icub.random(np.random.default_rng(0))
    assert np.isfinite(icub.forward_dynamics(elsewhere, zero, zero)).all()
