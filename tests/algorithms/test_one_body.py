"""Newton's and Euler's equations of the whole robot, in three forms."""

import numpy as np
from hypothesis import assume, given

import kinetree as kt
from peers import close
from states import State, linear_first, rate_along, states


def pushed(s: State):
    """The motion of a floating robot under forces at two frames, its joints driven at random, and those forces."""
    robot = s.robot.eager
    frames = [str(name) for name in s.rng.choice(robot.frame_names, 2, replace=False)]
    pushes = {frames[0]: s.rng.normal(size=6), frames[1]: kt.Wrench(s.rng.normal(size=6), "local")}
    tau = np.concatenate([np.zeros(6), s.rng.normal(size=robot.nv - 6)])
    return robot.forward_dynamics(s.q, s.v, tau, pushes), pushes


@given(states(base="floating"))
def test_residuals_vanish_on_true_motion(s: State):
    robot, q, v = s.robot.eager, s.q, s.v
    a, pushes = pushed(s)
    motion = robot.one_body_motion(q, v, a, pushes)
    axes = np.linalg.qr(s.rng.normal(size=(3, 3)))[0]
    point, moving, turning = s.rng.normal(size=(3, 3))
    forms = [
        motion.in_world_axes(),
        motion.in_turning_axes(),
        motion.in_turning_axes(axes, turning),
        motion.about_point(point),
        motion.about_point(point, moving),
    ]
    for balance in forms:
        for residual in balance.residuals:
            close(residual, np.zeros(3), 1e-8)
    wrong = robot.one_body_motion(q, v, a + 1.0, pushes).about_point(point)
    assert np.abs(wrong.residuals).max() > 1e-3


@given(states(base="floating"))
def test_sums_of_forces(s: State):
    """At their points, by hand; and they are the rate of centroidal momentum."""
    robot, q, v = s.robot.eager, s.q, s.v
    order, c = robot.model.spatial_order, robot.center_of_mass(q)
    a, pushes = pushed(s)
    force, moment = robot.mass * robot.gravity, np.zeros(3)
    for name, push in pushes.items():
        pose = robot.frame(name).pose(q)
        is_local = isinstance(push, kt.Wrench)
        f, n = np.split(linear_first(push.value if is_local else push, order), 2)
        if is_local:
            f, n = pose[:3, :3] @ f, pose[:3, :3] @ n
        force, moment = force + f, moment + np.cross(pose[:3, 3] - c, f) + n
    wrench = robot.centroidal_wrench(q, pushes)
    close(linear_first(wrench, order), np.concatenate([force, moment]), 1e-9)
    close(wrench, robot.centroidal_momentum_rate(q, v, a), 1e-8)
    assert np.array_equal(linear_first(robot.centroidal_wrench(q), order), [*(robot.mass * robot.gravity), 0, 0, 0])


@given(states())
def test_rates_of_the_whole(s: State):
    """[c̈, ω̄̇] is the slope of [ċ, ω̄]; what turning axes see are slopes of components."""
    assume(s.robot.mass > 0)
    robot, q, v, a = s.robot.eager, s.q, s.v, s.a
    close(robot.average_acceleration(q, v, a), rate_along(s, robot.average_velocity), 1e-5)
    base = robot.frame(robot.frame_names[0])

    def components(q, v):
        R, order = base.pose(q)[:3, :3], robot.model.spatial_order
        velocity, omega = np.split(linear_first(robot.average_velocity(q, v), order), 2)
        return np.concatenate([R.T @ velocity, R.T @ omega, (R.T @ robot.locked_inertia(q) @ R).ravel()])

    seen = robot.one_body_motion(q, v, a).seen_from()
    close(np.r_[seen.velocity, seen.omega, seen.inertia.ravel()], components(q, v), 1e-9)
    slopes = np.r_[seen.acceleration, seen.omega_rate, seen.inertia_rate.ravel()]
    close(slopes, rate_along(s, components), 1e-5)


@given(states(base="floating"))
def test_about_a_point_that_moves(s: State):
    """k̇_P by differences of the momentum about the point."""
    robot, q, v, a, order = s.robot.eager, s.q, s.v, s.a, s.robot.model.spatial_order
    point, moving = s.rng.normal(size=(2, 3))
    h = 1e-6

    def about(k):
        there = robot.integrate(q, k * h * v), v + k * h * a
        return linear_first(robot.momentum(*there, about=point + k * h * moving), order)[3:]

    k_rate = (about(1) - about(-1)) / (2 * h)
    euler = robot.one_body_motion(q, v, a).about_point(point, moving).euler
    momentum = robot.mass * robot.center_of_mass_velocity(q, v)
    close(euler, k_rate + np.cross(moving, momentum), 1e-5)


@given(states(base="floating"))
def test_axes_that_turn_with_the_average_see_gesticulation(s: State):
    """L° ω̄ with Ω = ω̄; without motion of the joints L° is zero, and Euler's equation that of the textbook."""
    robot, q = s.robot.eager, s.q
    for v in (s.v, np.concatenate([s.v[:6], np.zeros(robot.nv - 6)])):
        motion = robot.one_body_motion(q, v, s.a)
        seen = motion.seen_from(np.eye(3), motion.omega)
        close(seen.inertia_rate @ seen.omega, robot.gesticulation(q, v), 1e-8)
    close(seen.inertia_rate, np.zeros((3, 3)), 1e-9)


@given(states(base="floating"))
def test_what_the_joints_add_to_the_rotation_of_the_base(s: State):
    robot, q, v, order = s.robot.eager, s.q, s.v, s.robot.model.spatial_order
    S = robot.average_rotation_by_joints(q)
    assert S.shape == (3, robot.nv - 6)
    base = linear_first(robot.frame(robot.body_names[0]).velocity(q, v), order)[3:]
    close(robot.average_angular_velocity(q, v), base + S @ v[6:], 1e-9)


def test_forces_on_what_is_bolted_down_do_not_count():
    builder = kt.ModelBuilder("on a pedestal")
    for name in ("pedestal", "arm"):
        builder.link(name, kt.solids.sphere(0.1, mass=1.0))
    builder.joint("hinge", "revolute", "pedestal", "arm")
    robot = kt.Robot(builder.build("fixed"))
    q, push = robot.neutral(), np.ones(6)
    close(robot.centroidal_wrench(q, {"pedestal": push}), robot.centroidal_wrench(q), 0.0)
    close(robot.centroidal_wrench(q, {"arm": push})[:3], robot.mass * robot.gravity + 1.0, 1e-12)
