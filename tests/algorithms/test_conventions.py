"""The same robot in every convention of base velocities and 6-vectors."""

import numpy as np
import pinocchio as pin
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.model.joints import Free
from peers import REFERENCES, close
from states import state_of


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
