"""Λ, μ, p, J̄ and N of frames: their definitions, by Pinocchio and NumPy, and where a robot is singular."""

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from kinetree.algorithms.operational_space import TaskInertia
from peers import close, pin_from_tree

REFERENCES = {"world-aligned": pin.LOCAL_WORLD_ALIGNED, "local": pin.LOCAL, "world": pin.WORLD}


@pytest.fixture(scope="module", params=["linear-first", "angular-first"])
def arm(request):
    return kt.load("arm7", spatial_order=request.param)


@pytest.mark.parametrize("reference", REFERENCES)
def test_definitions_with_pinocchio_and_numpy(arm, reference):
    peer = pin_from_tree(arm.model)
    model, data, tool = peer.model, peer.data(), arm.frame("tool0")
    order = [3, 4, 5, 0, 1, 2] if arm.model.spatial_order == "angular-first" else list(range(6))
    rng = np.random.default_rng(0)
    for q in arm.random(rng, 5):
        v = rng.normal(size=7)
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        J = pin.computeFrameJacobian(model, data, q, peer.frame_id("tool0"), REFERENCES[reference])[order]
        pin.computeJointJacobiansTimeVariation(model, data, q, v)
        pin.updateFramePlacements(model, data)
        drift = pin.getFrameJacobianTimeVariation(model, data, peer.frame_id("tool0"), REFERENCES[reference])[order] @ v
        g, h = pin.computeGeneralizedGravity(model, data, q).copy(), pin.nonLinearEffects(model, data, q, v).copy()
        Lambda = np.linalg.inv(J @ np.linalg.solve(M, J.T))
        inverse = np.linalg.solve(M, J.T) @ Lambda
        close(tool.operational_space_inertia(q, reference), Lambda, 1e-9)
        close(tool.operational_space_bias(q, v, reference), Lambda @ (J @ np.linalg.solve(M, h - g) - drift), 1e-9)
        close(tool.operational_space_gravity(q, reference), Lambda @ J @ np.linalg.solve(M, g), 1e-9)
        close(tool.consistent_inverse(q, reference), inverse, 1e-9)
        close(tool.null_space_projector(q, reference), np.eye(7) - inverse @ J, 1e-9)


def test_they_are_the_equation_of_motion_of_a_frame(arm):
    """Λ ẇ + μ + p = F, where τ = Jᵀ F is all there is; and torques in the null space do not move the frame."""
    rng, tool = np.random.default_rng(1), arm.frame("tool0")
    q, v, F = arm.random(rng), rng.normal(size=7), rng.normal(size=6)
    w = tool.acceleration(q, v, arm.forward_dynamics(q, v, tool.jacobian(q).T @ F))
    left = tool.operational_space_inertia(q) @ w
    np.testing.assert_allclose(
        left + tool.operational_space_bias(q, v) + tool.operational_space_gravity(q), F, atol=1e-9
    )
    tau, N = rng.normal(size=7), tool.null_space_projector(q)
    still, pushed = (arm.forward_dynamics(q, v, x) for x in (np.zeros(7), N.T @ tau))
    np.testing.assert_allclose(tool.acceleration(q, v, still), tool.acceleration(q, v, pushed), atol=1e-9)
    assert np.abs(still - pushed).max() > 0.1
    np.testing.assert_allclose(tool.jacobian(q) @ tool.consistent_inverse(q), np.eye(6), atol=1e-9)


def test_with_two_joints_there_is_a_generalised_inverse():
    robot = kt.load("planar2")
    q, tip = np.array([0.4, -0.9]), robot.frame("tip")
    J = tip.jacobian(q)
    A = J @ robot.inverse_mass_matrix(q) @ J.T
    Lambda = tip.operational_space_inertia(q)
    np.testing.assert_allclose(A @ Lambda @ A, A, atol=1e-8)
    assert np.isfinite(Lambda).all() and np.abs(Lambda).max() < 1e3
    np.testing.assert_allclose(tip.null_space_projector(q), 0.0, atol=1e-6)


def test_the_textbook_agrees(arm):
    q, v = np.full(7, 0.4), np.linspace(-1.0, 1.0, 7)
    tool, textbook = arm.frame("tool0"), arm.eager.frame("tool0")
    for name in (
        "operational_space_inertia",
        "operational_space_gravity",
        "consistent_inverse",
        "null_space_projector",
    ):
        close(getattr(tool, name)(q, "local"), getattr(textbook, name)(q, "local"), 1e-11)
    close(tool.operational_space_bias(q, v), textbook.operational_space_bias(q, v), 1e-11)


def test_a_batch_and_what_is_refused():
    arm = kt.load("arm7")
    tool, q = arm.frame("tool0"), arm.random(0, 6)
    Lambda = tool.operational_space_inertia(q)
    assert Lambda.shape == (6, 6, 6)
    np.testing.assert_array_equal(Lambda, Lambda.swapaxes(-1, -2))
    for k in range(6):
        np.testing.assert_array_equal(tool.operational_space_inertia(q[k]), Lambda[k])
    with pytest.raises(kt.ArgumentError, match="reference is 'nowhere'"):
        tool.operational_space_inertia(q, "nowhere")


def test_inertia_for_controllers_is_exact_or_bounded():
    """Exact down to the regularization; on the way to a singular pose it stays bounded, continuous and positive."""
    robot = kt.load("planar2")
    tip = robot.frame("tip")

    def felt(angle, regularization):
        q = np.array([0.3, angle])
        J = tip.jacobian(q)[[0, 2]]
        return J, robot.mass_matrix(q), TaskInertia(robot.mass_matrix(q), J, 2, regularization)

    J, M, inertia = felt(1.0, 1e-4)
    np.testing.assert_allclose(inertia.force(np.eye(2)), np.linalg.inv(J @ np.linalg.solve(M, J.T)), rtol=1e-12)
    sizes = {}
    for regularization in (0.0, 1e-4):
        angles = np.geomspace(1e-1, 1e-6, 400)
        forces = np.array([np.linalg.norm(felt(a, regularization)[2].force(np.array([1.0, 0.2]))) for a in angles])
        sizes[regularization] = forces.max()
        if regularization:
            assert np.abs(np.diff(forces)).max() < 0.1 * forces.max()
    assert sizes[0.0] > 1e3 * sizes[1e-4]
    J, M, inertia = felt(0.0, 1e-4)
    damped = inertia.force(np.eye(2))
    assert (np.linalg.eigvalsh(0.5 * (damped + damped.T)) > 0.0).all()
    torque = J.T @ inertia.force(np.array([1.0, 1.0]))
    assert np.isfinite(torque).all() and np.abs(torque).max() < 1e3
