"""Contacts and closed loops against Pinocchio, dense equations, and the identities that hold for any constraint."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import kinetree as kt
from constraint_cases import holding_hands, in_pinocchio, is_clear, movable_frames, solvable_contact, some_constraints
from linkages import (
    CRANK,
    MASSES,
    ROD,
    along,
    four_bar,
    four_bar_at,
    gimbal,
    slider_crank,
    slider_crank_at,
    slope_of,
    slope_of_slope,
)
from peers import close, pin_from_tree, pin_from_urdf, urdf
from states import State, states

LEGGED = {
    "anymal_b_simple_description/anymal.urdf": ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"),
    "solo12.urdf": ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"),
    "g1_29dof_rev_1_0.urdf": ("left_ankle_roll_link", "right_ankle_roll_link"),
    "icub_description/icub.urdf": ("l_foot", "r_foot", "l_hand"),
}


# -- against Pinocchio -----------------------------------------------------------------------------------------


def pinocchio_dynamics(peer, constraints, q, v, tau, mu=0.0, iterations=1):
    """a, and the force of each constraint on its first frame, in the axes of that frame."""
    models, datas = in_pinocchio(peer, constraints)
    data = peer.data()
    pin.initConstraintDynamics(peer.model, data, models, datas)
    settings = pin.ProximalSettings(1e-14, mu, iterations)
    T = peer.T(q)
    efforts = np.linalg.lstsq(T.T, tau, rcond=None)[0]
    a = pin.constraintDynamics(peer.model, data, peer.q(q), T @ v, efforts, models, datas, settings)
    own = np.linalg.lstsq(T, a - peer.T_rate(q, v) @ v, rcond=None)[0]
    return own, [each.contact_force.vector.copy() for each in datas]


@pytest.mark.parametrize("kind", ["point", "surface"])
@pytest.mark.parametrize("name", LEGGED)
def test_contacts_of_legged_robots(name, kind):
    robot = kt.load(urdf(name), "floating")
    peer = pin_from_urdf(robot, urdf(name), True)
    feet = LEGGED[name][: 2 if kind == "surface" else None]
    system = robot.constrained([kt.Contact(foot, kind) for foot in feet])
    rng = np.random.default_rng(7)
    for _ in range(3):
        q, tau = robot.random(rng), 10 * rng.normal(size=robot.nv)
        v = system.projector(q) @ rng.normal(size=robot.nv)
        a, f = system.forward_dynamics(q, v, tau)
        expected, forces = pinocchio_dynamics(peer, system.constraints, q, v, tau)
        close(a, expected, 1e-7)
        for foot, rows, force in zip(feet, system.rows, forces, strict=True):
            R = robot.frame(foot).pose(q)[:3, :3]
            aligned = np.concatenate([R @ force[:3], R @ force[3:]])
            close(f[rows], aligned[: rows.stop - rows.start], 1e-6)


def test_four_flat_feet_as_pinocchio_has_them():
    name = "anymal_b_simple_description/anymal.urdf"
    robot = kt.load(urdf(name), "floating")
    system = robot.constrained([kt.Contact(foot, "surface") for foot in LEGGED[name]])
    rng = np.random.default_rng(1)
    q, tau = robot.random(rng), rng.normal(size=robot.nv)
    a, _ = system.forward_dynamics(q, np.zeros(robot.nv), tau)
    peer = pin_from_urdf(robot, urdf(name), True)
    expected, _ = pinocchio_dynamics(peer, system.constraints, q, np.zeros(robot.nv), tau, mu=1e-6, iterations=20)
    close(a, expected, 1e-7)


@given(states(base_velocity="body", spatial_order="linear-first"), st.sampled_from(["point", "surface"]))
def test_random_trees_beside_pinocchio(s: State, kind):
    assume(not s.robot.model.has_mimics)  # there every joint has its own coordinates
    foot = str(s.rng.choice(np.array(movable_frames(s))))
    system = s.robot.constrained(kt.Contact(foot, kind))
    assume(is_clear(system, s.q, full_rank=True))
    v = system.projector(s.q) @ s.v
    expected, _ = pinocchio_dynamics(pin_from_tree(s.robot.model), system.constraints, s.q, v, s.a)
    close(system.forward_dynamics(s.q, v, s.a)[0], expected, 1e-6)


@pytest.mark.parametrize("kind", ["point", "rigid"])
def test_a_humanoid_holds_its_own_hand(kind):
    """A loop through the whole upper body, closed at the configuration at hand."""
    system, peer, q, rng = holding_hands(kind)
    close(system.position_error(q), np.zeros(system.size))
    v, tau = system.projector(q) @ rng.normal(size=system.robot.nv), rng.normal(size=system.robot.nv)
    expected, _ = pinocchio_dynamics(peer, system.constraints, q, v, tau)
    close(system.forward_dynamics(q, v, tau)[0], expected, 1e-7)


def test_real_robots_beside_pinocchio(case):
    """One contact of every robot: accelerations, forces, and the velocities after an impact."""
    system = solvable_contact(case)
    q, peer, G = case.q, case.peer, case.peer.G
    v = system.projector(q) @ case.v
    (frame,), tau = system.constraints[0].frames, case.a
    a, f = system.forward_dynamics(q, v, tau)
    expected, (force,) = pinocchio_dynamics(peer, system.constraints, q, v, tau)
    close(a, expected, 1e-7)  # divided by M and by J M⁻¹ Jᵀ, both of which may be ill-conditioned
    close(f, case.robot.frame(frame).pose(q)[:3, :3] @ force[:3], 1e-7)
    index = peer.frame_id(frame)
    J = pin.computeFrameJacobian(peer.model, peer.data(), peer.q(q), index, pin.LOCAL_WORLD_ALIGNED)[:3] @ G
    M = G.T @ pin.crba(peer.model, peer.data(), peer.q(q)) @ G
    close(system.jacobian(q), J)
    zero = np.zeros((3, 3))
    after = np.linalg.solve(np.block([[M, -J.T], [J, zero]]), np.concatenate([M @ case.v, -0.5 * J @ case.v]))
    close(np.concatenate(system.impact(q, case.v, 0.5)), after, 1e-7)
    close(system.projector(q), np.linalg.solve(np.block([[M, -J.T], [J, zero]]), np.vstack([M, 0 * J]))[: len(M)], 1e-7)


# -- against dense equations -----------------------------------------------------------------------------------


def dense(system, q, v, tau, wrenches=None):
    """a by projection: the least ‖a - a_free‖_M with J a = -J̇ v, in the metric of M."""
    robot = system.robot
    M, J = robot.mass_matrix(q), system.jacobian(q)
    free = robot.forward_dynamics(q, v, tau, wrenches)
    if np.abs(J).max() < 1e-12:  # of points that nothing moves: all of it is rounding
        return free
    L = np.linalg.cholesky(M)
    scaled = np.linalg.solve(L, J.T).T
    return free - np.linalg.solve(L.T, np.linalg.pinv(scaled, rcond=1e-7) @ (J @ free + system.bias(q, v)))


@given(states())
def test_dynamics_of_random_trees(s: State):
    """Redundant constraints included: a is unique, and all that any of them can do is done."""
    system = s.robot.constrained(some_constraints(s))
    assume(is_clear(system, s.q))
    J, M, tau = system.jacobian(s.q), s.robot.mass_matrix(s.q), s.a
    v = system.projector(s.q) @ s.v
    wrenches = {movable_frames(s)[0]: s.rng.normal(size=6)}
    consistent = np.linalg.lstsq(J, system.bias(s.q, v), rcond=1e-9)[0]
    assume(np.abs(J @ consistent - system.bias(s.q, v)).max() < 1e-9)  # otherwise no motion keeps the constraints
    a, f = system.forward_dynamics(s.q, v, tau, wrenches)
    close(a, dense(system, s.q, v, tau, wrenches), 1e-7)
    close(J @ a + system.bias(s.q, v), np.zeros(len(J)), 1e-7)
    bias = s.robot.inverse_dynamics(s.q, v, np.zeros(s.robot.nv), wrenches)
    close(M @ a + bias, tau + J.T @ f, 1e-8)
    assert abs(f @ (J @ v)) <= 1e-8 * max(1.0, np.abs(f).max())  # no power in the constraints


@given(states())
def test_projector(s: State):
    system = s.robot.constrained(some_constraints(s))
    assume(is_clear(system, s.q))
    N, J, M = system.projector(s.q), system.jacobian(s.q), s.robot.mass_matrix(s.q)
    close(N @ N, N, 1e-7)
    close(J @ N, np.zeros_like(J), 1e-7)
    close(M @ N, N.T @ M, 1e-7)
    rank = np.linalg.matrix_rank(J, tol=1e-7 * max(1.0, np.abs(J).max()))
    assert abs(np.trace(N) - (s.robot.nv - rank)) < 1e-5


@given(states())
def test_impact(s: State):
    """Momentum balances, the constrained points come back with -e times their speed, and energy is lost or kept."""
    system = s.robot.constrained(some_constraints(s))
    assume(is_clear(system, s.q))
    J, M = system.jacobian(s.q), s.robot.mass_matrix(s.q)
    for e in (0.0, 0.4, 1.0):
        after, p = system.impact(s.q, s.v, e)
        close(M @ (after - s.v), J.T @ p, 1e-8)
        close(J @ after, -e * J @ s.v, 1e-7)
        lost = s.robot.kinetic_energy(s.q, s.v) - s.robot.kinetic_energy(s.q, after)
        normal = s.v - system.projector(s.q) @ s.v
        close(lost, (1 - e * e) * s.robot.kinetic_energy(s.q, normal), 1e-7)


@given(states())
def test_constraint_inertia(s: State):
    system = s.robot.constrained(some_constraints(s)[:1])
    assume(is_clear(system, s.q, full_rank=True))
    J, M, Lambda = system.jacobian(s.q), s.robot.mass_matrix(s.q), system.constraint_inertia(s.q)
    assert np.array_equal(Lambda, Lambda.T)
    close(Lambda @ J @ np.linalg.solve(M, J.T), np.eye(len(J)), 1e-7)
    close(system.projector(s.q), np.eye(s.robot.nv) - np.linalg.solve(M, J.T @ Lambda @ J), 1e-7)


@given(states())
def test_inverse_dynamics(s: State):
    """Efforts that lead to a, without motors where there are none, and the smallest that do."""
    system = s.robot.constrained(some_constraints(s))
    assume(is_clear(system, s.q))
    v = system.projector(s.q) @ s.v
    tau = s.a.copy()
    motors = list(s.robot.model.actuated)
    idle = [k for k in range(s.robot.nv) if k not in motors]
    tau[idle] = 0.0
    a, _ = system.forward_dynamics(s.q, v, tau)
    least, f = system.inverse_dynamics(s.q, v, a)
    J = system.jacobian(s.q)
    close(least[idle], np.zeros(len(idle)), 1e-6)
    close(s.robot.inverse_dynamics(s.q, v, a), least + J.T @ f, 1e-9)
    close(system.forward_dynamics(s.q, v, least)[0], a, 1e-5)
    assert np.linalg.norm(least) <= np.linalg.norm(tau) + 1e-6
    felt = J[:, idle]
    free = np.linalg.svd(felt.T)[2][np.linalg.matrix_rank(felt, tol=1e-8) :] if idle else np.eye(len(J))
    close(free @ J[:, motors] @ least[motors], np.zeros(len(free)), 1e-5)  # no force that free joints do not feel helps


def test_support_consistent_torques_of_the_lecture_notes():
    """τ = (N' S')⁺ N' w, the same by its pseudo-inverse."""
    robot = kt.load("quadruped", base="floating")
    feet = [name for name in robot.frame_names if name.endswith("foot")]
    system = robot.constrained([kt.Contact(foot) for foot in feet])
    rng = np.random.default_rng(0)
    q, v = robot.random(rng), np.zeros(robot.nv)
    a = system.projector(q) @ rng.normal(size=robot.nv)
    N, w = system.projector(q), robot.inverse_dynamics(q, v, a)
    S = np.eye(robot.nv)[6:]
    expected = np.linalg.pinv(N.T @ S.T, rcond=1e-9) @ N.T @ w
    tau, _ = system.inverse_dynamics(q, v, a)
    close(tau, np.concatenate([np.zeros(6), expected]), 1e-7)


# -- what cannot be solved -------------------------------------------------------------------------------------


def test_two_contacts_in_one_place_share_the_load():
    robot = kt.load("quadruped", base="floating")
    feet = [name for name in robot.frame_names if name.endswith("foot")]
    once = robot.constrained([kt.Contact(foot) for foot in feet])
    twice = robot.constrained([kt.Contact(foot) for foot in [*feet, feet[0]]])
    rng = np.random.default_rng(5)
    q, tau = robot.random(rng), rng.normal(size=robot.nv)
    a, f = once.forward_dynamics(q, np.zeros(robot.nv), tau)
    a_twice, f_twice = twice.forward_dynamics(q, np.zeros(robot.nv), tau)
    close(a_twice, a, 1e-8)
    close(f_twice[:3], f[:3] / 2, 1e-6)
    close(f_twice[12:], f[:3] / 2, 1e-6)


def test_velocities_that_the_constraints_do_not_allow():
    """Four flat feet lock the robot; that it moves all the same is answered by forces of a robot's size."""
    robot = kt.load("quadruped", base="floating")
    feet = [name for name in robot.frame_names if name.endswith("foot")]
    system = robot.constrained([kt.Contact(foot, "surface") for foot in feet])
    rng = np.random.default_rng(6)
    q, v, tau = robot.random(rng), rng.normal(size=robot.nv), np.zeros(robot.nv)
    a, f = system.forward_dynamics(q, v, tau)
    J, M = system.jacobian(q), robot.mass_matrix(q)
    close(M @ a + robot.bias_forces(q, v), tau + J.T @ f, 1e-8)
    assert np.abs(a).max() < 1e3 and np.abs(f).max() < 1e4
    miss, A = J @ a + system.bias(q, v), J @ np.linalg.solve(M, J.T)
    scale = A.diagonal().reshape(-1, 3).mean(axis=1).repeat(3)
    close(A @ (miss / scale), np.zeros(len(A)), 1e-5)  # what is missed is what no force can do
    Lambda = system.constraint_inertia(q)
    close(A @ Lambda @ A, A, 1e-5)
    assert np.abs(Lambda).max() < 1e4


def test_a_point_that_cannot_move():
    """On the axis of the only joint: nothing to hold, and nothing that is not a number."""
    builder = kt.ModelBuilder("wheel")
    builder.link("ground")
    builder.link("wheel", kt.Inertia.from_com(1.0, (0.1, 0, 0), 0.1 * np.eye(3)))
    builder.joint("axle", "continuous", "ground", "wheel", axis=(0.6, 0.0, 0.8))
    builder.frame("hub", "wheel", xyz=(0.06, 0.0, 0.08))
    robot = kt.Robot(builder.build())
    system = robot.constrained(kt.Contact("hub"))
    q, v, tau = np.array([0.7]), np.array([2.0]), np.array([0.3])
    a, f = system.forward_dynamics(q, v, tau)
    close(a, robot.forward_dynamics(q, v, tau), 1e-7)
    assert np.abs(f).max() < 1e3
    assert np.isfinite(system.constraint_inertia(q)).all()


def test_rotations_that_nothing_turns():
    """A carriage on two slides, welded: its angular equations are empty."""
    builder = kt.ModelBuilder("gantry")
    builder.link("ground")
    builder.link("beam", kt.Inertia.from_com(2.0, (0, 0, 0), np.eye(3)))
    builder.link("carriage", kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3)))
    builder.joint("x", "prismatic", "ground", "beam", axis=(1, 0, 0), rpy=(0.1, 0.2, 0.3))
    builder.joint("y", "prismatic", "beam", "carriage", axis=(0, 1, 0))
    robot = kt.Robot(builder.build())
    system, push = robot.constrained(kt.Contact("carriage", "surface")), np.array([3.0, 4.0])
    a, f = system.forward_dynamics(np.zeros(2), np.zeros(2), push)
    close(a, np.zeros(2), 1e-9)
    R = robot.frame("ground").pose(np.zeros(2))[:3, :3] @ robot.frame("beam").pose(np.zeros(2))[:3, :3]
    gravity = robot.gravity_forces(np.zeros(2))
    close((R.T @ f[:3])[:2], gravity - push, 1e-6)
    close(f[3:], np.zeros(3))


def test_a_massless_link_with_a_rotor():
    """Between thigh and shin of a leg: M divides by the rotor's inertia alone."""
    builder = kt.ModelBuilder("leg")
    builder.link("ground")
    builder.link("thigh", kt.Inertia.from_com(2.0, (0, 0, -0.2), 0.02 * np.eye(3)))
    builder.link("cross")
    builder.link("shin", kt.Inertia.from_com(1.0, (0, 0, -0.2), 0.01 * np.eye(3)))
    rotor = kt.JointDynamics(armature=1e-3)
    builder.joint("hip", "revolute", "ground", "thigh", axis=(0, 1, 0))
    builder.joint("knee", "revolute", "thigh", "cross", axis=(0, 1, 0), xyz=(0, 0, -0.4), dynamics=rotor)
    builder.joint("twist", "revolute", "cross", "shin", axis=(0, 0, 1), dynamics=rotor)
    builder.frame("foot", "shin", xyz=(0.05, 0, -0.4))
    robot = kt.Robot(builder.build())
    system = robot.constrained(kt.Contact("foot"))
    rng = np.random.default_rng(0)
    q, tau = rng.normal(size=3), rng.normal(size=3)
    a, f = system.forward_dynamics(q, np.zeros(3), tau)
    assert np.isfinite(f).all()
    close(a, np.zeros(3), 1e-7)  # three joints, three equations
    system = robot.constrained(kt.Loop("foot", "ground"))
    close(system.forward_dynamics(q, np.zeros(3), tau)[0], np.zeros(3), 1e-7)


def test_a_singular_mass_matrix_is_refused():
    robot, zero = gimbal(5), np.zeros(5)
    with pytest.raises(kt.SingularMassMatrixError, match="joint 'yaw'"):
        robot.constrained(kt.Contact("end")).forward_dynamics(robot.neutral(), zero, zero)


# -- closed loops ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [0.3, 1.2, 2.5, 4.0, np.pi / 2])
@pytest.mark.parametrize("speed", [0.0, 3.0])
def test_slider_crank(angle, speed):
    """θ̈ from its energies: J(θ) θ̈ + ½ J' θ̇² + U' = τ."""
    robot, torque = slider_crank(), 5.0
    q, v, slope, curvature = along(slider_crank_at, angle, speed)
    system = robot.constrained(kt.Loop("end", "slider"))
    close(system.position_error(q), np.zeros(3))
    close(system.jacobian(q) @ v, np.zeros(3))

    def rod(x):  # its middle and how it leans
        lean = np.arcsin(-CRANK / ROD * np.sin(x))
        return np.array([CRANK * np.cos(x) + ROD / 2 * np.cos(lean), CRANK * np.sin(x) + ROD / 2 * np.sin(lean), lean])

    def inertia(x):  # of crank, rod and slider, as the crank feels them
        x_rate, z_rate, lean_rate = slope_of(rod, x)
        slider_rate = slope_of(lambda y: slider_crank_at(y)[2], x)
        crank = 0.02 + MASSES[0] * CRANK**2 / 4
        return crank + MASSES[1] * (x_rate**2 + z_rate**2) + 0.05 * lean_rate**2 + MASSES[2] * slider_rate**2

    weight = slope_of(lambda x: 9.81 * (MASSES[0] * CRANK / 2 * np.sin(x) + MASSES[1] * rod(x)[1]), angle)
    acceleration = (torque - slope_of_slope(inertia, angle) * speed**2 / 2 - weight) / inertia(angle)
    a, _ = system.forward_dynamics(q, v, np.array([torque, 0.0, 0.0]))
    close(a[0], acceleration, 1e-8)
    close(a, slope * a[0] + curvature * speed**2, 1e-7)
    tau, _ = robot.constrained(kt.Loop("end", "slider"), actuated=["turn"]).inverse_dynamics(q, v, a)
    close(tau, [torque, 0.0, 0.0], 1e-7)


@pytest.mark.parametrize("angle", [0.4, 1.3, 2.2, 4.4, 5.5])
@pytest.mark.parametrize("speed", [0.0, 4.0])
def test_four_bar(angle, speed):
    """The path of its one freedom is known: θ̈ by projection on it, all angles' accelerations by its curvature."""
    robot, tau = four_bar(), np.array([2.0, 0.0, -0.5])
    system = robot.constrained(kt.Loop("coupler_end", "rocker_end"))
    q, v, slope, curvature = along(four_bar_at, angle, speed)
    close(system.position_error(q), np.zeros(3))
    close(system.jacobian(q) @ v, np.zeros(3))
    M, h = robot.mass_matrix(q), robot.bias_forces(q, v)
    acceleration = slope @ (tau - h - M @ curvature * speed**2) / (slope @ M @ slope)
    a, f = system.forward_dynamics(q, v, tau)
    close(a, slope * acceleration + curvature * speed**2, 1e-7)
    peer = pin_from_tree(robot.model)
    expected, _ = pinocchio_dynamics(peer, system.constraints, q, v, tau, mu=1e-8, iterations=20)
    close(a, expected, 1e-7)
    assert abs(f[1]) < 1e-6  # across the plane nothing acts
    weld = four_bar().constrained(kt.Loop("coupler_end", "rocker_end", "rigid"))
    close(weld.forward_dynamics(q, np.zeros(3), tau)[0], np.zeros(3), 1e-7)  # turned to one piece, it cannot move


def test_a_locked_loop():
    """Two bars pinned to the ground and to each other: a truss, whose forces follow from statics."""
    builder = kt.ModelBuilder("truss")
    builder.link("ground")
    for name, x in (("left", 0.0), ("right", 1.0)):
        builder.link(name, kt.Inertia.from_com(2.0, (0.5, 0, 0), 0.1 * np.eye(3)))
        builder.joint(f"{name}_pivot", "continuous", "ground", name, axis=(0, -1, 0), xyz=(x, 0, 0))
        builder.frame(f"{name}_end", name, xyz=(1.0, 0, 0))
    robot = kt.Robot(builder.build())
    system = robot.constrained(kt.Loop("left_end", "right_end"))
    q = np.radians([60.0, 120.0])
    for tau in (np.zeros(2), np.array([7.0, -3.0])):
        a, f = system.forward_dynamics(q, np.zeros(2), tau)
        close(a, np.zeros(2), 1e-9)
        J = system.jacobian(q)
        close(J.T @ f, robot.gravity_forces(q) - tau, 1e-9)
    _, f = system.forward_dynamics(q, np.zeros(2), np.zeros(2))
    close(f, [-2.0 * 9.81 * 0.25 / np.sqrt(0.75), 0.0, 0.0], 1e-7)  # each bar's weight, half way, held at its end
    flat = system.forward_dynamics(np.array([0.0, np.pi]), np.zeros(2), np.ones(2))  # a dead point, and open besides
    assert all(np.isfinite(part).all() for part in flat)


def test_errors_decay_if_asked():
    """A four-bar that was put together badly closes, at the rate given."""
    robot = four_bar(gravity=(0, 0, 0))
    system = robot.constrained(kt.Loop("coupler_end", "rocker_end"), frequency=20.0)
    q, v, dt = four_bar_at(0.4) + np.array([0.0, 0.02, 0.0]), np.zeros(3), 1e-3
    first = np.abs(system.position_error(q)).max()
    for _ in range(500):
        a, _ = system.forward_dynamics(q, v, np.zeros(3))
        v = v + dt * a
        q = robot.integrate(q, dt * v)
    assert np.abs(system.position_error(q)).max() < 1e-3 * first
    J, bias = system.jacobian(q), system.bias(q, v)
    a, _ = system.forward_dynamics(q, v, np.zeros(3))
    close(J @ a + bias, -(2 * 20.0 * J @ v + 400.0 * system.position_error(q)), 1e-8)


@pytest.mark.sweep
def test_energy_is_kept_along_the_motion():
    """A slider-crank that runs by itself, for a while."""
    robot = slider_crank()
    system = robot.constrained(kt.Loop("end", "slider"), frequency=5.0)
    q, v, _, _ = along(slider_crank_at, 0.3, 6.0)
    energy = lambda: robot.kinetic_energy(q, v) + robot.potential_energy(q)  # noqa: E731
    before, dt, zero = energy(), 4e-3, np.zeros(3)
    rates = lambda q, v: (v, system.forward_dynamics(q, v, zero)[0])  # noqa: E731
    for _ in range(200):  # angles and lengths: the classical method as it is
        k1 = rates(q, v)
        k2 = rates(q + dt / 2 * k1[0], v + dt / 2 * k1[1])
        k3 = rates(q + dt / 2 * k2[0], v + dt / 2 * k2[1])
        k4 = rates(q + dt * k3[0], v + dt * k3[1])
        q, v = (x + dt / 6 * (a + 2 * b + 2 * c + d) for x, a, b, c, d in zip((q, v), k1, k2, k3, k4, strict=True))
    assert abs(energy() - before) < 1e-4 * abs(before)
    close(q[2], slider_crank_at(q[0])[2], 1e-5)
