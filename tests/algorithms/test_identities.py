"""Identities on random trees of every joint type, in every convention."""

import numpy as np
import pinocchio as pin
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kinetree as kt
from kinetree.algorithms import aba, factorization
from kinetree.model.joints import Free
from peers import REFERENCES, close, pin_from_tree
from states import State, state_of, states

MOVING = ("revolute", "continuous", "prismatic", "fixed", "free")
H = 1e-6


def difference_quotient(function, robot, q, v, h=H):
    """d/dt of function(q(t)) along v, by central differences."""
    return (function(robot.integrate(q, h * v)) - function(robot.integrate(q, -h * v))) / (2 * h)


def rotation_rate(R_dot, R):
    """ω in world axes from Ṙ = [ω]× R."""
    W = R_dot @ R.T
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2


@given(states())
def test_energy_is_half_v_M_v_and_M_is_positive_definite(s: State):
    M = s.robot.mass_matrix(s.q)
    assert np.array_equal(M, M.T)
    close(0.5 * s.v @ M @ s.v, s.robot.kinetic_energy(s.q, s.v), 1e-11)
    assert np.all(np.linalg.eigvalsh(M) > 0)


@given(states())
def test_inverse_dynamics_is_M_a_plus_bias(s: State):
    tau = s.robot.mass_matrix(s.q) @ s.a + s.robot.bias_forces(s.q, s.v)
    close(s.robot.inverse_dynamics(s.q, s.v, s.a), tau, 1e-11)
    close(s.robot.gravity_forces(s.q), s.robot.bias_forces(s.q, 0 * s.v), 1e-13)


@given(states())
def test_forward_dynamics_undoes_inverse_dynamics(s: State):
    w = {"tool": s.rng.normal(size=6)}
    tau = s.robot.inverse_dynamics(s.q, s.v, s.a, w)
    close(s.robot.forward_dynamics(s.q, s.v, tau, w), s.a, 1e-8)
    close(s.robot.inverse_mass_matrix(s.q) @ s.robot.mass_matrix(s.q), np.eye(s.robot.nv), 1e-8)


@given(states(joints=MOVING))
def test_articulated_body_algorithm_equals_factorization_and_shares_its_pivots(s: State):
    by_recursion, D = aba.forward_dynamics(s.robot.model, s.q, s.v, s.a)
    by_factors, d = factorization.forward_dynamics(s.robot.model, s.q, s.v, s.a)
    close(by_recursion, by_factors, 1e-8)
    close(D, d, 1e-8)


@given(states())
def test_power_balance(s: State):
    """d/dt (T + U) = vᵀ τ + wᵀ V: the energy changes by the power of the efforts and of the wrench on the tool."""
    robot, q, v, a = s.robot, s.q, s.v, s.a
    w = s.rng.normal(size=6)
    tau = robot.inverse_dynamics(q, v, a, {"tool": w})

    def energy(h):
        there, speed = robot.integrate(q, h * v), v + h * a
        return robot.kinetic_energy(there, speed) + robot.potential_energy(there)

    power = (energy(H) - energy(-H)) / (2 * H)
    close(power, v @ tau + w @ robot.frame("tool").velocity(q, v), 1e-5)


@given(states())
def test_jacobian_is_the_derivative_of_the_pose(s: State):
    robot, q, v = s.robot, s.q, s.v
    tool, order = robot.frame("tool"), robot.model.spatial_order
    T, T_dot = tool.pose(q), difference_quotient(tool.pose, robot, q, v)
    moving = np.concatenate([T_dot[:3, 3], rotation_rate(T_dot[:3, :3], T[:3, :3])])
    close(linear_first(tool.velocity(q, v), order), moving, 1e-7)
    for reference in REFERENCES:
        close(tool.jacobian(q, reference) @ v, tool.velocity(q, v, reference), 1e-11)


@given(states())
def test_acceleration_is_the_derivative_of_velocity(s: State):
    """d/dt of the point's velocity is the classical acceleration; of the local and world twists, the spatial one."""
    robot, q, v, a = s.robot, s.q, s.v, s.a
    tool = robot.frame("tool")

    def rate(reference):
        ahead = tool.velocity(robot.integrate(q, H * v), v + H * a, reference)
        behind = tool.velocity(robot.integrate(q, -H * v), v - H * a, reference)
        return (ahead - behind) / (2 * H)

    close(tool.acceleration(q, v, a), rate("world-aligned"), 1e-6)
    close(tool.acceleration(q, v, a, "local", kind="spatial"), rate("local"), 1e-6)
    close(tool.acceleration(q, v, a, "world", kind="spatial"), rate("world"), 1e-6)


@given(states())
def test_jacobian_rate(s: State):
    robot, q, v, a = s.robot, s.q, s.v, s.a
    tool = robot.frame("tool")
    for reference in REFERENCES:
        dJ = tool.jacobian_rate(q, v, reference)
        close(dJ, difference_quotient(lambda x, r=reference: tool.jacobian(x, r), robot, q, v), 1e-6)
        kind = "classical" if reference == "world-aligned" else "spatial"
        close(dJ @ v, tool.bias_acceleration(q, v, reference, kind), 1e-10)
        full = tool.acceleration(q, v, a, reference, kind)
        close(tool.jacobian(q, reference) @ a + dJ @ v, full, 1e-10)


@given(states())
def test_center_of_mass(s: State):
    assume(s.robot.mass > 0)
    robot, q, v, a = s.robot, s.q, s.v, s.a
    close(robot.center_of_mass_velocity(q, v), difference_quotient(robot.center_of_mass, robot, q, v), 1e-7)
    close(robot.center_of_mass_jacobian(q) @ v, robot.center_of_mass_velocity(q, v), 1e-11)
    ahead = robot.center_of_mass_velocity(robot.integrate(q, H * v), v + H * a)
    behind = robot.center_of_mass_velocity(robot.integrate(q, -H * v), v - H * a)
    close(robot.center_of_mass_acceleration(q, v, a), (ahead - behind) / (2 * H), 1e-6)
    close(robot.potential_energy(q), -robot.mass * robot.gravity @ robot.center_of_mass(q), 1e-11)


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


@given(states())
def test_integrate_and_difference_undo_each_other(s: State):
    robot, q = s.robot, s.q
    dv = s.rng.uniform(-1.5, 1.5, size=robot.nv)
    close(robot.difference(q, robot.integrate(q, dv)), dv, 1e-10)
    close(robot.integrate(q, 0 * dv), q, 1e-12)
    other = robot.random(s.rng)
    reached = robot.integrate(q, robot.difference(q, other))
    close(robot.poses(reached), robot.poses(other), 1e-10)
    close(robot.difference(q, q), 0 * dv, 1e-12)


@given(states(spatial_order="linear-first", base_velocity="body"))
def test_random_trees_agree_with_pinocchio(s: State):
    robot, q, v, a = s.robot, s.q, s.v, s.a
    peer = pin_from_tree(robot.model)
    model, data, G = peer.model, peer.data(), peer.G
    q_pin = peer.q(q)
    close(robot.inverse_dynamics(q, v, a), G.T @ pin.rnea(model, data, q_pin, G @ v, G @ a), 1e-11)
    close(robot.mass_matrix(q), G.T @ pin.crba(model, data, q_pin) @ G, 1e-11)
    if robot.nv == 0:
        return
    pin.computeJointJacobians(model, data, q_pin)
    pin.computeJointJacobiansTimeVariation(model, data, q_pin, G @ v)
    pin.updateFramePlacements(model, data)
    k = peer.frame_id("tool")
    for reference, theirs in REFERENCES.items():
        J = pin.getFrameJacobian(model, data, k, theirs).reshape(6, -1) @ G  # it returns (6,) for one joint
        close(robot.frame("tool").jacobian(q, reference), J, 1e-11)
        rate = pin.getFrameJacobianTimeVariation(model, data, k, theirs).reshape(6, -1) @ G
        close(robot.frame("tool").jacobian_rate(q, v, reference), rate, 1e-10)


@settings(max_examples=30)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from(["body", "mixed"]), st.sampled_from(["linear-first", "angular-first"])
)
def test_both_base_velocities_and_both_orders_agree(seed, base_velocity, spatial_order):
    """v' = T v, a' = T a + Ṫ v, with T made here from the rotation of every free body."""
    options = {"bodies": 7, "joints": ("revolute", "prismatic", "free", "mimic"), "base": "floating"}
    body = state_of(kt.Robot(kt.random_model(seed, **options)), np.random.default_rng(seed + 1))
    other = kt.Robot(kt.random_model(seed, **options, base_velocity=base_velocity, spatial_order=spatial_order))
    robot, q, v, a = body.robot, body.q, body.v, body.a
    T, bias = np.eye(robot.nv), np.zeros(robot.nv)
    swap = np.kron([[0, 1], [1, 0]], np.eye(3)) if spatial_order == "angular-first" else np.eye(6)
    for joint in robot.model.owners:
        if isinstance(joint, Free):
            R = pin.Quaternion(q[joint.q_slice][3:]).toRotationMatrix() if base_velocity == "mixed" else np.eye(3)
            linear, omega = np.split(v[joint.v_slice], 2)
            T[joint.v_slice, joint.v_slice] = swap @ np.kron(np.eye(2), R)
            if base_velocity == "mixed":
                bias[joint.v_slice] = swap @ np.concatenate([R @ np.cross(omega, linear), np.zeros(3)])
    v_, a_ = T @ v, T @ a + bias
    rows = np.kron([[0, 1], [1, 0]], np.eye(3)) if spatial_order == "angular-first" else np.eye(6)
    w = body.rng.normal(size=6)
    tau = robot.inverse_dynamics(q, v, a, {"tool": w})
    close(T.T @ other.inverse_dynamics(q, v_, a_, {"tool": rows @ w}), tau, 1e-10)
    close(T.T @ other.mass_matrix(q) @ T, robot.mass_matrix(q), 1e-10)
    close(T.T @ other.gravity_forces(q), robot.gravity_forces(q), 1e-10)
    close(other.forward_dynamics(q, v_, other.inverse_dynamics(q, v_, a_)), a_, 1e-8)
    close(other.kinetic_energy(q, v_), robot.kinetic_energy(q, v), 1e-10)
    close(other.center_of_mass_jacobian(q) @ T, robot.center_of_mass_jacobian(q), 1e-10)
    close(other.center_of_mass_acceleration(q, v_, a_), robot.center_of_mass_acceleration(q, v, a), 1e-10)
    mine, theirs = robot.frame("tool"), other.frame("tool")
    for reference in REFERENCES:
        close(theirs.jacobian(q, reference) @ T, rows @ mine.jacobian(q, reference), 1e-10)
        close(theirs.velocity(q, v_, reference), rows @ mine.velocity(q, v, reference), 1e-10)
        for kind in ("classical", "spatial"):
            expected = rows @ mine.acceleration(q, v, a, reference, kind)
            close(theirs.acceleration(q, v_, a_, reference, kind), expected, 1e-10)
    close(other.poses(q), robot.poses(q), 1e-12)
    dv = 1e-7 * body.rng.normal(size=robot.nv)  # the two ways to integrate agree to first order
    close(other.integrate(q, T @ dv), robot.integrate(q, dv), 1e-12)


def linear_first(six, order):
    return np.roll(six, 3) if order == "angular-first" else six
