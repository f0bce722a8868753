"""Contacts that hold a line, slide in a plane or roll do what the textbooks say."""

from functools import partial

import numpy as np
import pytest

import kinetree as kt
from peers import close

G = 9.81
NORMAL, AXIS = (0.1, -0.2, 0.9), (0.3, 1.0, -0.2)
KINDS = {
    "line": dict(kind="line", axis=AXIS),
    "sliding": dict(kind="sliding", normal=NORMAL),
    "ball": dict(kind="rolling", radius=0.3, normal=NORMAL),
    "wheel": dict(kind="rolling", radius=0.3, normal=NORMAL, axis=AXIS),
}


def free_body(inertia, gravity=(0.0, 0.0, -G), **options):
    builder = kt.ModelBuilder("body")
    builder.link("body", inertia)
    return kt.Robot(builder.build("floating", gravity=gravity, **options), textbook=True)


def compiled(system):
    return kt.Constrained(kt.Robot(system.robot.model), system.equations)


def test_a_ball_rolls_down_a_slope_with_five_sevenths_of_g_sine():
    """And friction is two sevenths of its weight along the slope."""
    angle, radius, mass = 0.3, 0.2, 3.0
    robot = free_body(kt.solids.sphere(radius, mass=mass))
    normal, down = np.array([np.sin(angle), 0, np.cos(angle)]), np.array([np.cos(angle), 0, -np.sin(angle)])
    q, v = robot.neutral(), np.zeros(6)
    q[:3] = radius * normal
    system = robot.constrained(kt.Contact("body", "rolling", radius=radius, normal=normal, at=np.zeros(3)))
    close(system.position_error(q), np.zeros(3))
    a, f = system.forward_dynamics(q, v, np.zeros(6))
    close(a[:3], 5 / 7 * G * np.sin(angle) * down)
    close(f, mass * G * (np.cos(angle) * normal - 2 / 7 * np.sin(angle) * down))
    path = compiled(system).rollout(q, v, None, dt=1e-3, steps=1000, integrator="rk4")
    close(path.q[-1, :3], q[:3] + 0.5 * 5 / 7 * G * np.sin(angle) * down, 1e-9)
    sliding = robot.constrained(kt.Contact("body", "sliding", normal=normal))
    close(sliding.forward_dynamics(q, v, np.zeros(6))[0][:3], G * np.sin(angle) * down)


def test_a_disc_rolls_in_a_circle_at_the_speed_of_the_textbook():
    """A thin disc leans by θ from upright, and its centre goes round at Ω. With C = ½ m r² about the axle, A = ¼ m r²
    across it, and a spin s about the axle, that is steady for (C + m r²) Ω s cos θ = A Ω² sin θ cos θ - m g r sin θ."""
    r, m, lean, turn = 0.5, 2.0, 0.35, 3.0
    A, C = 0.25 * m * r * r, 0.5 * m * r * r
    s, c = np.sin(lean), np.cos(lean)
    spin = (A * turn**2 * s * c - m * G * r * s) / ((C + m * r * r) * turn * c)
    disc = kt.Inertia.from_com(m, np.zeros(3), np.diag([A, C, A]))
    robot = free_body(disc, base_velocity="mixed")
    system = robot.constrained(kt.Contact("body", "rolling", radius=r, axis=(0, 1, 0), at=np.zeros(3)))
    q = robot.neutral()
    q[:7] = [0, 0, r * c, np.sin(lean / 2), 0, 0, np.cos(lean / 2)]  # leans about x, and rolls along x
    axle, up = np.array([0.0, c, s]), np.array([0.0, -s, c])
    omega = spin * axle + turn * c * up
    velocity = np.cross(omega, r * up)
    v = np.array([*velocity, *omega])
    close(system.jacobian(q) @ v, np.zeros(3))
    a, _ = system.forward_dynamics(q, v, np.zeros(6))
    close(a[:3], np.cross([0, 0, turn], velocity), 1e-9)
    close(a[3:], np.cross([0, 0, turn], omega), 1e-9)
    path = compiled(system).rollout(q, v, None, dt=1e-3, steps=1000, integrator="rk4")
    assert np.abs(path.q[:, 2] - r * c).max() < 1e-7  # it neither falls nor rises
    centre = np.array([0.0, velocity[0] / turn])
    assert np.abs(np.linalg.norm(path.q[:, :2] - centre, axis=1) - abs(velocity[0]) / turn).max() < 1e-6


def test_a_bead_on_a_straight_wire_and_a_pendulum_in_a_slot():
    """Two contacts that slide hold a point to a line. A rod whose upper end slides in a horizontal slot swings with
    θ̈ (I + m l² sin² θ) = -m g l sin θ - m l² θ̇² sin θ cos θ, and its centre of mass only falls and rises."""
    wire = np.array([0.6, 0.0, -0.8])
    robot = free_body(kt.solids.sphere(0.1, mass=1.0))
    bead = robot.constrained([kt.Contact("body", "sliding", normal=n) for n in ((0, 1, 0), (0.8, 0, 0.6))])
    a, _ = bead.forward_dynamics(robot.neutral(), np.zeros(6), np.zeros(6))
    close(a[:3], 0.8 * G * wire)

    m, length, inertia, angle, speed = 2.0, 0.4, 0.3, 0.7, 1.3
    builder = kt.ModelBuilder("rod")
    builder.link("rod", kt.Inertia.from_com(m, np.zeros(3), inertia * np.eye(3)))
    builder.frame("end", "rod", xyz=(0, 0, length))
    robot = kt.Robot(builder.build("floating", base_velocity="mixed"), textbook=True)
    slot = robot.constrained([kt.Contact("end", "sliding", normal=n) for n in ((0, 0, 1), (0, 1, 0))])
    q = robot.neutral()
    q[3:7] = [0, -np.sin(angle / 2), 0, np.cos(angle / 2)]
    v = np.array([0, 0, length * np.sin(angle) * speed, 0, -speed, 0])  # its end moves along the slot alone
    close(slot.jacobian(q) @ v, np.zeros(2))
    a, _ = slot.forward_dynamics(q, v, np.zeros(6))
    s, c = np.sin(angle), np.cos(angle)
    expected = (-m * G * length * s - m * length**2 * speed**2 * s * c) / (inertia + m * length**2 * s * s)
    close(a[4], -expected)
    close(a[0], 0.0)


def test_a_plate_falls_about_the_edge_that_it_stands_on():
    """A rod hinged by its edge: θ̈ = m g l sin θ / (I + m l²)."""
    m, length, angle = 1.5, 0.3, 0.4
    moments = np.array([0.02, 0.03, 0.01])
    builder = kt.ModelBuilder("plate")
    builder.link("plate", kt.Inertia.from_com(m, np.zeros(3), np.diag(moments)))
    builder.frame("edge", "plate", xyz=(0, 0, -length))
    robot = kt.Robot(builder.build("floating", base_velocity="mixed"), textbook=True)
    system = robot.constrained(kt.Contact("edge", "line", axis=(0, 1, 0)))
    q = robot.neutral()
    q[3:7] = [0, np.sin(angle / 2), 0, np.cos(angle / 2)]
    a, f = system.forward_dynamics(q, np.zeros(6), np.zeros(6))
    assert f.shape == (5,)
    close(a[4], m * G * length * np.sin(angle) / (moments[1] + m * length * length))
    close(a[[3, 5]], np.zeros(2))
    path = compiled(system).pinned(q).rollout(q, np.zeros(6), None, dt=1e-3, steps=300, integrator="rk4")
    assert np.abs(system.pinned(q).position_error(path.q)).max() < 1e-10
    energy = robot.kinetic_energy(path.q, path.v) + robot.potential_energy(path.q)
    assert np.ptp(energy) < 1e-7 and robot.kinetic_energy(path.q[-1], path.v[-1]) > 0.1


def test_differential_ik_keeps_lines_and_wheels():
    robot = free_body(kt.solids.box((0.1, 0.2, 0.3), mass=2.0))
    q = robot.random(np.random.default_rng(0))
    target = robot.frame("body").pose(q)[:3, 3] + [0.05, 0.02, 0.03]
    for options in (KINDS["line"], KINDS["wheel"]):
        near = robot.constrained(kt.Contact("body", **options)).pinned(robot.integrate(q, 1e-3 * np.ones(6)))
        v = kt.ik.DifferentialIK(robot, kt.ik.Position("body"), None, contacts=near.constraints)(q, target)
        assert np.abs(near.position_error(q)).max() > 1e-4
        close(near.jacobian(q) @ v, -10.0 * near.position_error(q))


@pytest.mark.parametrize(
    "options, sentence",
    [
        (dict(kind="edge"), "kind is 'edge'; expected 'point' or 'surface' or 'line' or 'sliding' or 'rolling'"),
        (dict(kind="rolling"), "radius is None; expected that of the ball or wheel, a positive number"),
        (dict(kind="rolling", radius=-1.0), "radius is -1.0; expected"),
        (dict(kind="sliding", normal=(0, 0, 0)), "normal is .*; expected a direction"),
        (dict(normal=(0, 0, 1)), "normal is given for a contact of kind 'point'; expected it with 'sliding' and 'roll"),
        (dict(kind="surface", axis=(0, 0, 1)), "axis is given for a contact of kind 'surface'"),
        (dict(kind="line", radius=1.0), "radius is given for a contact of kind 'line'"),
        (dict(kind="line", at=(0, 0, 0)), "at has shape"),
        (dict(kind="rolling", radius=1.0, at=np.eye(4)), "at has shape"),
    ],
)
def test_what_does_not_fit_a_kind_is_said(options, sentence):
    with pytest.raises(kt.ArgumentError, match=sentence):
        kt.Contact("foot", **options)


@pytest.mark.sweep
def test_a_wheel_that_lies_flat_is_refused_in_a_sentence():
    """It has no lowest point, compiled or not, alone or in a batch; a ball has one always."""
    robot = kt.Robot(free_body(kt.solids.box((0.1, 0.2, 0.3), mass=2.0)).model)
    q, v = robot.neutral(), np.zeros(6)
    tilted = robot.integrate(q, np.array([0, 0, 0, 0.3, 0, 0]))
    for each in (robot, robot.eager):
        wheel = each.constrained(kt.Contact("body", "rolling", radius=0.1, axis=(0, 0, 1)))
        calls = (
            wheel.jacobian,
            wheel.projector,
            wheel.position_error,
            partial(wheel.bias, v=v),
            partial(wheel.forward_dynamics, v=v, tau=v),
            partial(wheel.impact, v=v),
        )
        for call in calls:
            with pytest.raises(kt.ArgumentError, match="the wheel of frame 'body' lies flat at this q, its axle along"):
                call(q)
            with pytest.raises(kt.ArgumentError, match=r"lies flat at this q.*, in state \[1\] of the batch"):
                call(np.stack([tilted, q]))
            assert all(np.isfinite(part).all() for part in call(tilted))
        ball = each.constrained(kt.Contact("body", "rolling", radius=0.1))
        assert np.isfinite(ball.jacobian(q)).all()
