"""Momentum about other points and its parts, body and mixed velocities, and free flight."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import kinetree as kt
from peers import close
from states import State, linear_first, states


def by_bodies(robot, q, v, point):
    """Linear and angular momentum about a point, from poses and velocities of the links."""
    order = robot.model.spatial_order
    linear, angular = np.zeros(3), np.zeros(3)
    for i in robot.model.moving:
        frame, I = robot.frame(robot.model.names[i]), robot.model.inertias[i]  # noqa: E741
        R, p = frame.pose(q)[:3, :3], frame.pose(q)[:3, 3]
        x, w = np.split(linear_first(frame.velocity(q, v), order), 2)
        r = R @ I.com
        momentum = I.mass * (x + np.cross(w, r))
        linear += momentum
        angular += np.cross(p + r - point, momentum) + R @ I.about_com @ R.T @ w
    return linear_first(np.concatenate([linear, angular]), order)


@given(states())
def test_momentum_about_any_point(s: State):
    assume(s.robot.mass > 0)
    robot, q, v = s.robot.eager, s.q, s.v
    somewhere, root = s.rng.normal(size=3), robot.frame_names[0]
    places = {"world": np.zeros(3), "base": robot.frame(root).pose(q)[:3, 3], "center-of-mass": robot.center_of_mass(q)}
    for about, point in places.items():
        close(robot.momentum(q, v, about), by_bodies(robot, q, v, point), 1e-10)
    close(robot.momentum(q, v, somewhere), by_bodies(robot, q, v, somewhere), 1e-10)
    close(robot.momentum(q, v), robot.momentum(q, v, np.zeros(3)), 1e-12)


@given(states())
def test_koenig(s: State):
    """Angular momentum is spin and orbital; kinetic energy that of the centre of mass and about it."""
    assume(s.robot.mass > 0)
    robot, q, v = s.robot.eager, s.q, s.v
    order, point = robot.model.spatial_order, s.rng.normal(size=3)
    spin, orbital = robot.angular_momentum_parts(q, v, point)
    c, c_dot = robot.center_of_mass(q), robot.center_of_mass_velocity(q, v)
    close(orbital, robot.mass * np.cross(c - point, c_dot), 1e-11)
    close(spin + orbital, linear_first(robot.momentum(q, v, point), order)[3:], 1e-11)
    of_center, about_it = robot.kinetic_energy_parts(q, v)
    close(of_center, 0.5 * robot.mass * c_dot @ c_dot, 1e-11)
    close(of_center + about_it, robot.kinetic_energy(q, v), 1e-12)
    if robot.model.floating_base is not None:  # seen from the centre of mass the rest is all there is
        v_b = linear_first(v[:6], order).copy()
        pose = robot.frame(robot.body_names[0]).pose(q)
        v_b[:3] -= c_dot if robot.model.joints[1].frame == "mixed" else pose[:3, :3].T @ c_dot
        seen = np.concatenate([linear_first(v_b, order), v[6:]])
        close(about_it, robot.kinetic_energy(q, seen), 1e-10)


def law_about(about):
    @kt.compile
    def law(robot, q, v):
        return robot.momentum(q, v, about)

    return law


@pytest.mark.sweep
def test_batches_laws_and_errors():
    robot = kt.load("quadruped", base="floating")
    rng = np.random.default_rng(1)
    q, v = robot.random(rng, 5), rng.normal(size=(5, robot.nv))
    points = rng.normal(size=(5, 3))
    for about in ("world", "base", "center-of-mass", points[0]):
        rows = robot.momentum(q, v, about)
        assert rows.shape == (5, 6)
        close(rows[3], robot.momentum(q[3], v[3], about), 1e-13)
        close(law_about(about)(robot, q, v), rows, 1e-12)
    close(robot.momentum(q, v, points)[3], robot.momentum(q[3], v[3], points[3]), 1e-13)
    moved = kt.compile(lambda robot, q, v: robot.momentum(q, v, robot.frame("front_left_foot").pose(q)[:3, 3]))
    feet = robot.frame("front_left_foot").pose(q)[:, :3, 3]
    close(moved(robot, q, v), robot.momentum(q, v, feet), 1e-12)
    locked = kt.compile(lambda robot, q, v: (robot.locked_velocity(q, v), robot.average_angular_velocity(q, v)))
    for mine, its in zip(
        locked(robot, q, v), (robot.locked_velocity(q, v), robot.average_angular_velocity(q, v)), strict=True
    ):
        close(mine, its, 1e-12)
    spin, orbital = robot.angular_momentum_parts(q, v)
    assert spin.shape == orbital.shape == (5, 3)
    assert robot.kinetic_energy_parts(q, v)[1].shape == (5,)
    with pytest.raises(kt.ArgumentError, match="about is 'wrld'; expected"):
        robot.momentum(q, v, "wrld")
    with pytest.raises(kt.ArgumentError, match="about has shape"):
        robot.momentum(q, v, np.zeros(4))


# -- conversion ----------------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.sampled_from(["linear-first", "angular-first"]))
def test_body_and_mixed_velocities_of_one_robot(seed, order):
    options = {"base": "floating", "spatial_order": order}
    body, mixed = (
        kt.Robot(kt.random_model(seed, 6, base_velocity=frame, **options)).eager for frame in ("body", "mixed")
    )
    rng = np.random.default_rng(seed)
    q, v, a = body.random(rng), rng.normal(size=body.nv), rng.normal(size=body.nv)
    assert np.array_equal(kt.convert(body, "q", q, to="mixed"), q)
    v_m = kt.convert(body, "v", v, to="mixed", q=q)
    a_m = kt.convert(body, "a", a, to="mixed", q=q, v=v)
    tau = body.inverse_dynamics(q, v, a)
    close(kt.convert(body, "tau", tau, to="mixed", q=q), mixed.inverse_dynamics(q, v_m, a_m), 1e-10)
    close(kt.convert(body, "mass_matrix", body.mass_matrix(q), to="mixed", q=q), mixed.mass_matrix(q), 1e-10)
    A_G = kt.convert(body, "jacobian", body.centroidal_momentum_matrix(q), to="mixed", q=q)
    close(A_G, mixed.centroidal_momentum_matrix(q), 1e-10)
    close(kt.convert(body, "v", v_m, source="mixed", q=q), v, 1e-12)
    close(kt.convert(mixed, "v", v_m, to="body", q=q), v, 1e-12)
    close(kt.convert(mixed, "a", a_m, to="body", q=q, v=v_m), a, 1e-11)
    assert np.array_equal(kt.convert(mixed, "v", v_m, to="mixed"), v_m)
    for name in ("centroidal_momentum", "average_velocity", "locked_inertia_rate", "gesticulation"):
        close(getattr(body, name)(q, v), getattr(mixed, name)(q, v_m), 1e-9)
    close(
        kt.convert(body, "v", np.r_[body.locked_velocity(q, v), v[6:]], to="mixed", q=q)[:6],
        mixed.locked_velocity(q, v_m),
        1e-10,
    )


# -- free flight ---------------------------------------------------------------------------------------------------

DRIFT = {"semi-implicit-euler": 5e-3, "heun": 1e-5, "rk4": 1e-10}
"""How far the angular momentum may be off after 10 s, relative to itself, by the order of the integrator."""


@pytest.mark.parametrize("base_velocity", ["body", "mixed"])
@pytest.mark.parametrize("integrator", DRIFT)
@pytest.mark.sampled(8)
def test_momentum_is_conserved_in_free_flight(integrator, base_velocity):
    """10 s without contacts: k_G stays, m ċ grows with gravity, whatever the joints do."""
    robot = kt.load("quadruped", base="floating", base_velocity=base_velocity)
    rng = np.random.default_rng(3)
    q0 = robot.neutral()
    v0 = np.concatenate([rng.normal(size=6), 0.5 * rng.normal(size=robot.nv - 6)])
    effort = kt.compile(
        lambda robot, q, v: np.concatenate([np.zeros(6), 4.0 * (robot.neutral()[7:] - q[7:]) - 0.2 * v[6:]])
    )
    dt, steps = 1e-3, 10000
    path = robot.rollout(q0, v0, effort, dt, steps, integrator)
    h = robot.centroidal_momentum(path.q[::100], path.v[::100])
    weight = robot.mass * robot.gravity
    expected = h[0, :3] + path.t[::100, None] * weight
    size = np.linalg.norm(h[0, 3:])
    assert np.ptp(path.q[:, 7:], axis=0).max() > 0.1  # the joints do move
    assert np.abs(h[:, 3:] - h[0, 3:]).max() < DRIFT[integrator] * size
    assert np.abs(h[:, :3] - expected).max() < DRIFT[integrator] * np.abs(expected).max()


@pytest.mark.sweep
def test_both_base_velocities_fly_the_same_way():
    rng = np.random.default_rng(4)
    body, mixed = (kt.load("quadruped", base="floating", base_velocity=frame) for frame in ("body", "mixed"))
    q, v = body.random(rng), rng.normal(size=body.nv)
    there = mixed.rollout(q, kt.convert(body, "v", v, to="mixed", q=q), None, 1e-3, 200, "rk4")
    here = body.rollout(q, v, None, 1e-3, 200, "rk4")
    close(here.q, there.q, 1e-9)
    close(kt.convert(body, "v", here.v, to="mixed", q=here.q), there.v, 1e-8)
