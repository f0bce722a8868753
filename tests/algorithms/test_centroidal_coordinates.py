"""Centroidal and diagonalized coordinates: what the new equation of motion looks like, and that it is the old one."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinetree as kt
from kinetree.model.random import EVERY_JOINT
from peers import close, pin_from_urdf, urdf
from states import State, linear_first, rate_along, state_of, states

KINDS = ["centroidal_coordinates", "diagonalized_coordinates"]
each_kind = pytest.mark.parametrize("kind", KINDS)
FLOATING = states(base="floating")


def by_definition(robot, q, v, x):
    """M, C and G by T⁻ᵀ M T⁻¹ and the like, from the robot's own matrices and T alone."""
    back = np.linalg.inv(x.T)
    M, C, G = robot.mass_matrix(q), robot.coriolis_matrix(q, v), robot.gravity_forces(q)
    return back.T @ M @ back, back.T @ (C - M @ back @ x.T_rate) @ back, back.T @ G


@each_kind
@given(s=FLOATING)
def test_the_equation_is_the_old_one(kind, s: State):
    robot, q, v = s.robot.eager, s.q, s.v
    x = getattr(robot, kind)(q, v)
    close(x.T_inverse, np.linalg.inv(x.T), 1e-11)
    for mine, expected in zip((x.M, x.C, x.G), by_definition(robot, q, v, x), strict=True):
        close(mine, expected, 1e-9)


@each_kind
@given(s=FLOATING)
def test_velocities_are_what_they_are_called(kind, s: State):
    robot, q, v, order = s.robot.eager, s.q, s.v, s.robot.model.spatial_order
    x = getattr(robot, kind)(q, v)
    base = linear_first(robot.frame(robot.body_names[0]).velocity(q, v), order)
    turning = base[3:] if kind == "centroidal_coordinates" else robot.average_angular_velocity(q, v)
    close(x.nu[x.linear], robot.center_of_mass_velocity(q, v), 1e-11)
    close(x.nu[x.angular], turning, 1e-9)
    close(x.nu[x.joints], v[6:], 0.0)
    close(x.T[6:], np.eye(robot.nv)[6:], 0.0)


@each_kind
@given(s=FLOATING)
@pytest.mark.sampled(2)
def test_rates_are_slopes(kind, s: State):
    """Ṫ by differences; and Ṁ - 2C is skew-symmetric with Ṁ by differences."""
    robot, q, v = s.robot.eager, s.q, s.v
    x = getattr(robot, kind)(q, v)
    close(x.T_rate, rate_along(s, lambda q, v: getattr(robot, kind)(q, v).T), 1e-6)
    M_rate = rate_along(s, lambda q, v: getattr(robot, kind)(q, v).M)
    close(M_rate, x.C + x.C.T, 1e-5)


@given(FLOATING)
def test_inertia_is_block_diagonal(s: State):
    """diag(m 1, M̄) and diag(m 1, L, M̄_j), with M̄_j = M_j - M_jb M_b⁻¹ M_bj: also of T⁻ᵀ M T⁻¹, to round-off."""
    robot, q, v = s.robot.eager, s.q, s.v
    L, M = robot.locked_inertia(q), robot.mass_matrix(q)
    for kind in KINDS:
        x = getattr(robot, kind)(q, v)
        for matrix, tolerance in ((x.M, 0.0), (by_definition(robot, q, v, x)[0], 1e-9)):
            close(matrix[x.linear, x.linear], robot.mass * np.eye(3), max(tolerance, 1e-14))
            close(np.delete(matrix, x.linear, axis=1)[x.linear], np.zeros((3, robot.nv - 3)), tolerance)
            close(matrix[x.angular, x.angular], L, max(tolerance, 1e-11))
            if kind == "diagonalized_coordinates":
                close(matrix[x.angular, x.joints], np.zeros((3, robot.nv - 6)), tolerance)
        assert np.array_equal(x.M, x.M.T)
    close(x.joint_inertia, M[6:, 6:] - M[6:, :6] @ np.linalg.solve(M[:6, :6], M[:6, 6:]), 1e-9)


@given(FLOATING)
def test_gravity_is_constant_and_coriolis_forces_leave_the_center_alone(s: State):
    robot, q, v = s.robot.eager, s.q, s.v
    weight = np.zeros(robot.nv)
    for kind in KINDS:
        x = getattr(robot, kind)(q, v)
        weight[x.linear] = -robot.mass * robot.gravity
        assert np.array_equal(x.G, weight)
        C = by_definition(robot, q, v, x)[1]
        for matrix, tolerance in ((x.C, 0.0), (C, 1e-9)):
            close(matrix[x.linear], np.zeros((3, robot.nv)), tolerance)
            close(matrix[:, x.linear], np.zeros((robot.nv, 3)), tolerance)
    turning = robot.locked_inertia_rate(q, v) @ robot.average_angular_velocity(q, v)
    close((x.C @ x.nu)[x.angular], turning, 1e-9)  # L̇ ω̄, not ω̄ × L ω̄
    close(x.C[x.angular, x.joints], -x.C[x.joints, x.angular].T, 0.0)


@each_kind
@given(s=FLOATING)
def test_rows_of_the_base_are_newton_and_euler(kind, s: State):
    """Forces at two frames: M ν̇ + C ν + G has Σ f and, diagonalized or not, Σ (x - c) × f; the joints have τ + Jᵀ f."""
    robot, q, v, rng = s.robot.eager, s.q, s.v, s.rng
    order = robot.model.spatial_order
    frames = [str(name) for name in rng.choice(robot.frame_names, 2, replace=False)]
    pushes = {name: rng.normal(size=6) for name in frames}
    tau = np.concatenate([np.zeros(6), rng.normal(size=robot.nv - 6)])
    a = robot.forward_dynamics(q, v, tau, pushes)
    x = getattr(robot, kind)(q, v)
    total = x.M @ x.acceleration(a) + x.C @ x.nu + x.G
    force, moment, c = np.zeros(3), np.zeros(3), robot.center_of_mass(q)
    through = np.zeros(robot.nv)
    for name, six in pushes.items():
        f, n = np.split(linear_first(six, order), 2)
        force += f
        moment += np.cross(robot.frame(name).pose(q)[:3, 3] - c, f) + n
        through += x.jacobian(robot.frame(name).jacobian(q)).T @ six
    close(total[x.linear], force, 1e-8)
    close(total[x.angular], moment, 1e-8)
    close(total, x.force(tau) + through, 1e-8)
    close(x.force(tau), tau, 0.0)  # what motors do is the same in all of these


def test_rotors_springs_and_friction_stay_with_the_joints():
    """Rotors are part of M, the rest is subtracted from the torques, in all of these coordinates."""
    robot = kt.Robot(kt.random_model(4, 6, base="floating", joint_dynamics=True)).eager
    s = state_of(robot, np.random.default_rng(4))
    passive = robot.inverse_dynamics(s.q, s.v, 0.0 * s.a) - robot.bias_forces(s.q, s.v)
    assert np.abs(passive).max() > 0.1 and np.abs(robot.model.armature).max() > 0.1
    for kind in KINDS:
        x = getattr(robot, kind)(s.q, s.v)
        tau = robot.inverse_dynamics(s.q, s.v, s.a)
        close(x.M @ x.acceleration(s.a) + x.h + passive, x.force(tau), 1e-9)


@given(st.integers(0, 2**32 - 1))
def test_all_base_velocities_lead_to_the_same(seed):
    """M, C and G do not depend on how the robot was loaded, but for the order of linear and angular."""
    joints = [kind for kind in EVERY_JOINT if kind != "free"]  # whose velocities are loaded as the base's
    found = []
    for frame in ("body", "mixed"):
        for order in ("linear-first", "angular-first"):
            options = {"base": "floating", "base_velocity": frame, "spatial_order": order}
            robot = kt.Robot(kt.random_model(seed, 6, joints, **options)).eager
            rng = np.random.default_rng(seed)
            q, v_w = robot.random(rng), rng.normal(size=robot.nv)  # world axes, linear first
            R = robot.frame(robot.body_names[0]).pose(q)[:3, :3]
            parts = [v_w[:3], v_w[3:6]] if frame == "mixed" else [R.T @ v_w[:3], R.T @ v_w[3:6]]
            v = np.concatenate([*(parts if order == "linear-first" else parts[::-1]), v_w[6:]])
            for kind in KINDS:
                x = getattr(robot, kind)(q, v)
                at = np.r_[x.linear, x.angular, np.arange(6, robot.nv)]
                found.append((x.M[np.ix_(at, at)], x.C[np.ix_(at, at)], x.G[at], x.nu[at]))
    for k, others in enumerate(found):
        for mine, first in zip(others, found[k % 2], strict=True):
            close(mine, first, 1e-9)


@pytest.mark.parametrize(
    "name", ["anymal_c_simple_description/anymal.urdf", "g1_29dof_rev_1_0.urdf", "talos_full_v2.urdf"]
)
def test_from_what_pinocchio_computes(name):
    """T from its A_G and centroidal inertia, Ṫ by differences of these, M and C from its own: all in its hands."""
    path = urdf(name)
    robot = kt.load(path, "floating").eager
    peer = pin_from_urdf(robot, path, floating=True)
    s = state_of(robot, np.random.default_rng(0))
    model, G, v = peer.model, peer.G, peer.G @ s.v

    def T_at(q):
        data = peer.data()
        pin.ccrba(model, data, q, v)
        rows = np.vstack([data.Ag[:3] / data.Ig.mass, np.linalg.solve(data.Ig.inertia, data.Ag[3:])])
        return np.vstack([rows @ G, np.eye(robot.nv)[6:]]), data.Ig

    q, data, h = peer.q(s.q), peer.data(), 1e-6
    T, Ig = T_at(q)
    T_rate = (T_at(pin.integrate(model, q, h * v))[0] - T_at(pin.integrate(model, q, -h * v))[0]) / (2 * h)
    M = pin.crba(model, data, q)
    M = G.T @ (np.triu(M) + np.triu(M, 1).T) @ G
    C = G.T @ pin.computeCoriolisMatrix(model, data, q, v) @ G
    back = np.linalg.inv(T)
    x = robot.diagonalized_coordinates(s.q, s.v)
    close(x.T, T, 1e-9)
    close(x.M, back.T @ M @ back, 1e-9)
    close(x.M[3:6, 3:6], Ig.inertia, 1e-9)
    close(x.T_rate, T_rate, 1e-6)
    close(x.C, back.T @ (C - M @ back @ T_rate) @ back, 1e-6)


def test_a_single_body_has_its_own():
    builder = kt.ModelBuilder("box")
    builder.link("box", kt.solids.box((0.1, 0.2, 0.3), mass=2.0).shifted((0.1, 0.0, 0.2)))
    s = state_of(kt.Robot(builder.build("floating")), np.random.default_rng(0))
    first, second = (getattr(s.robot, kind)(s.q, s.v) for kind in KINDS)
    close(first.M, second.M, 1e-14)
    close(first.C, second.C, 1e-14)
    omega, L = first.nu[3:], s.robot.locked_inertia(s.q)
    close(first.h, [0.0, 0.0, 2.0 * 9.81, *np.cross(omega, L @ omega)], 1e-12)


def test_mass_on_a_line():
    builder = kt.ModelBuilder("two beads")
    for k in range(2):
        builder.link(f"bead{k}", kt.Inertia.from_com(1.0, (0.0, 0.0, 0.0), np.zeros((3, 3))))
    builder.joint("rod", "prismatic", "bead0", "bead1", xyz=(0.3, 0.4, 1.0), axis=(1, 2, 3))
    robot = kt.Robot(builder.build("floating"))
    assert np.isfinite(robot.centroidal_coordinates(robot.neutral(), np.ones(7)).C).all()
    assert np.isnan(robot.diagonalized_coordinates(robot.neutral(), np.ones(7)).T[3:6, 6:]).all()


@each_kind
def test_a_fixed_base_has_none(kind):
    arm = kt.load("arm6")
    words = kind.replace("_", " ")
    with pytest.raises(kt.ArgumentError, match=f"'arm6' has a fixed base, so it has no {words}"):
        getattr(arm, kind)(arm.neutral(), np.zeros(6))
