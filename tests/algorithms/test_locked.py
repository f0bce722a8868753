"""The robot as one body: locked inertia, average and locked velocity, gesticulation."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, given

import kinetree as kt
from peers import close
from states import State, linear_first, rate_along, states


def test_real_robots_beside_pinocchio(case):
    """ccrba leaves the centroidal inertia behind."""
    robot, peer, q, v = case.robot, case.peer, case.q, case.v
    if robot.mass == 0.0:
        pytest.skip("no mass moves")
    data = peer.data()
    pin.ccrba(peer.model, data, peer.q(q), peer.G @ v)
    close(robot.locked_inertia(q), data.Ig.inertia)
    omega = np.linalg.solve(data.Ig.inertia, data.hg.angular)
    if np.linalg.cond(data.Ig.inertia) < 1e6:
        close(robot.average_angular_velocity(q, v), omega)
        close(robot.average_velocity(q, v)[:3], data.hg.linear / robot.mass)


@given(states())
def test_rates_and_what_they_mean(s: State):
    """L̇ is the slope of L; L ω̄ = k_G; k̇_G = L ω̄̇ + ω̄ × L ω̄ + gesticulation, with ω̄̇ by a difference quotient."""
    assume(s.robot.mass > 0)
    robot, q, v, a = s.robot.eager, s.q, s.v, s.a
    order = robot.model.spatial_order
    L, L_rate = robot.locked_inertia(q), robot.locked_inertia_rate(q, v)
    close(L, L.T, 1e-13)
    close(L_rate, rate_along(s, lambda q, v: robot.locked_inertia(q)), 1e-6)
    c_dot, omega = np.split(linear_first(robot.average_velocity(q, v), order), 2)
    close(c_dot, robot.center_of_mass_velocity(q, v), 1e-12)
    close(omega, robot.average_angular_velocity(q, v), 0.0)
    close(L @ omega, linear_first(robot.centroidal_momentum(q, v), order)[3:], 1e-9)
    euler = L @ rate_along(s, robot.average_angular_velocity) + np.cross(omega, L @ omega) + robot.gesticulation(q, v)
    close(euler, linear_first(robot.centroidal_momentum_rate(q, v, a), order)[3:], 1e-5)


@given(states(base="floating"))
def test_both_formulas_of_the_average_velocity(s: State):
    """V_lock = v_b + M_b⁻¹ M_bj v_j by the blocks, and ^G X_b V_lock = [ċ, ω̄]."""
    robot, q, v = s.robot.eager, s.q, s.v
    order = robot.model.spatial_order
    blocks = robot.floating_base_blocks(q, v)
    V = v[:6] + np.linalg.solve(blocks.M_b, blocks.M_bj @ v[6:])
    close(robot.locked_velocity(q, v), V, 1e-9)
    x, w = np.split(linear_first(V, order), 2)
    pose = robot.frame(robot.body_names[0]).pose(q)
    if robot.model.joints[1].frame == "body":
        x, w = pose[:3, :3] @ x, pose[:3, :3] @ w
    average = np.concatenate([x + np.cross(w, robot.center_of_mass(q) - pose[:3, 3]), w])
    close(linear_first(robot.average_velocity(q, v), order), average, 1e-9)


@given(states(base="floating"))
def test_locked_joints_make_one_rigid_body(s: State):
    """Then ω̄ is the angular velocity of the base, V_lock its velocity, and nothing is left to gesticulation."""
    robot, q, order = s.robot.eager, s.q, s.robot.model.spatial_order
    v = np.concatenate([s.v[:6], np.zeros(robot.nv - 6)])
    base = linear_first(robot.frame(robot.body_names[0]).velocity(q, v), order)
    close(robot.average_angular_velocity(q, v), base[3:], 1e-10)
    close(robot.locked_velocity(q, v), v[:6], 1e-10)
    close(robot.gesticulation(q, v), np.zeros(3), 1e-9)


def test_the_sum_of_the_links_is_another_one():
    """L⁻¹ Σ L_i ω_i, as it is sometimes printed, is ω̄ only while no joint moves."""
    robot = kt.load("humanoid", base="floating").eager
    rng = np.random.default_rng(0)
    q, v = robot.random(rng), rng.normal(size=robot.nv)
    c = robot.center_of_mass(q)

    def printed(v):
        total = np.zeros(3)
        for i in robot.model.moving:
            frame, I = robot.frame(robot.model.names[i]), robot.model.inertias[i]  # noqa: E741
            pose = frame.pose(q)
            placed = I.placed(pose[:3, :3], pose[:3, 3] - c)
            total += placed.I @ frame.velocity(q, v)[3:]
        return np.linalg.solve(robot.locked_inertia(q), total)

    still = np.concatenate([v[:6], np.zeros(robot.nv - 6)])
    close(printed(still), robot.average_angular_velocity(q, still), 1e-12)
    assert np.linalg.norm(printed(v) - robot.average_angular_velocity(q, v)) > 0.1


def test_mass_on_a_line_has_no_average_rotation():
    builder = kt.ModelBuilder("two beads")
    for k in range(2):
        builder.link(f"bead{k}", kt.Inertia.from_com(1.0, (0.0, 0.0, 0.0), np.zeros((3, 3))))
    builder.joint("rod", "prismatic", "bead0", "bead1", xyz=(0.3, 0.4, 1.0), axis=(1, 2, 3))
    robot = kt.Robot(builder.build("floating"))
    average = robot.average_velocity(robot.neutral(), np.ones(7))
    assert np.isfinite(average[:3]).all() and np.isnan(average[3:]).all()


def test_a_fixed_base_has_no_locked_velocity():
    arm = kt.load("arm6")
    with pytest.raises(kt.ArgumentError, match="'arm6' has a fixed base, so it has no locked velocity"):
        arm.locked_velocity(arm.neutral(), np.zeros(6))
    with pytest.raises(kt.ArgumentError, match="fixed base"):
        arm.floating_base_blocks(arm.neutral(), np.zeros(6))
    assert arm.locked_inertia(arm.neutral()).shape == (3, 3)
