"""The motion of the whole robot: Newton's and Euler's equations in three forms."""

import numpy as np
from hypothesis import assume, given

from peers import close
from states import State, linear_first, pushed, rate_along, states


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
