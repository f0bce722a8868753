"""Equations of lines, planes, balls and wheels: beside difference quotients and traced graphs.

Covers: model/constraints.py.
"""

import numpy as np
import pytest

import kinetree as kt
from constraint_cases import is_clear
from peers import close
from slopes import quotients
from states import rate_along, state_of

NORMAL, AXIS = (0.1, -0.2, 0.9), (0.3, 1.0, -0.2)
KINDS = {
    "line": dict(kind="line", axis=AXIS),
    "sliding": dict(kind="sliding", normal=NORMAL),
    "ball": dict(kind="rolling", radius=0.3, normal=NORMAL),
    "wheel": dict(kind="rolling", radius=0.3, normal=NORMAL, axis=AXIS),
}


def state(seed, **options):
    """A random tree, and a frame of it that can move in all directions."""
    model = kt.random_model(seed, 2, ("spherical", "free"), **options)
    reach = {frame.name: sum(model.joints[i].nv for i in model.support(frame.body)) for frame in model.frames}
    s = state_of(kt.Robot(model, textbook=True), np.random.default_rng(seed))
    return s, max(reach, key=reach.__getitem__)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "base, velocity, order", [("fixed", "body", "linear-first"), ("floating", "mixed", "angular-first")]
)
@pytest.mark.sampled(4)
def test_rates_errors_and_derivatives_of_every_kind(kind, base, velocity, order):
    """At velocities that the contact need not allow: J̇ v is the rate of J v, r moves as J says, and the analytic
    derivatives are the quotients, errors that decay included."""
    s, frame = state(1, base=base, base_velocity=velocity, spatial_order=order)
    contact = kt.Contact(frame, **KINDS[kind])
    system = s.robot.constrained(contact, frequency=3.0, damping_ratio=0.7)
    assert is_clear(system, s.q, full_rank=True)
    J = system.jacobian(s.q)
    assert J.shape == (contact.size, s.robot.nv)
    close(system.bias(s.q, s.v) + J @ s.a, rate_along(s, lambda q, v: system.jacobian(q) @ v), 1e-6)
    here = system.pinned(s.q)
    close(here.position_error(s.q), np.zeros(contact.size))
    rate = rate_along(s, lambda q, v: here.position_error(q))
    if contact.kind == "rolling":  # how far it has rolled is no error
        close(rate, np.outer(contact.normal, contact.normal) @ J @ s.v, 1e-7)
    else:
        close(rate, J @ s.v, 1e-7)
    away = system.pinned(s.robot.integrate(s.q, 0.3 * s.a))
    both = lambda q, v, tau: np.concatenate(away.forward_dynamics(q, v, tau))  # noqa: E731
    slopes = away.forward_dynamics_derivatives(s.q, s.v, s.a)
    for k, quotient in enumerate(quotients(s, both, s.a)):
        close(np.concatenate([slopes[k], slopes[3 + k]]), quotient, 1e-5)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 0.04, 0.05, 0.7, 1.6, 3.0, np.pi])
def test_the_error_of_a_line_is_the_angle_between_the_edges(angle):
    """[rad], up to a reversed edge, about the axis across both; and a decaying error has the analytic derivatives."""
    builder = kt.ModelBuilder("body")
    builder.link("body", kt.solids.box((0.1, 0.2, 0.3), mass=2.0))
    robot = kt.Robot(builder.build("floating"), textbook=True)
    system = robot.constrained(kt.Contact("body", "line", at=np.eye(4)), frequency=3.0)
    q = robot.neutral()
    for axis in ([0, 1.0, 0], [0, 0.6, -0.8]):
        there = robot.integrate(q, np.array([0, 0, 0, *(angle * np.array(axis))]))
        error = system.position_error(there)
        np.testing.assert_allclose(np.linalg.norm(error), angle, rtol=1e-7, atol=1e-12)
        if 0.0 < angle < np.pi:
            back = robot.integrate(there, -np.linalg.pinv(system.jacobian(there)) @ error)
            assert np.linalg.norm(system.position_error(back)) < 1e-6 * angle
            s = state_of(robot, np.random.default_rng(0))
            both = lambda q, v, tau: np.concatenate(system.forward_dynamics(q, v, tau))  # noqa: E731
            slopes = system.forward_dynamics_derivatives(there, s.v, s.a)
            for k, step in enumerate(np.eye(6) * 1e-6):
                ends = [both(robot.integrate(there, sign * step), s.v, s.a) for sign in (1, -1)]
                quotient = (ends[0] - ends[1]) / 2e-6
                close(np.concatenate([slopes[0][:, k], slopes[3][:, k]]), quotient, 1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_dynamics_and_impacts_keep_every_kind(kind):
    s, frame = state(2, base="floating")
    system = s.robot.constrained(kt.Contact(frame, **KINDS[kind]))
    J = system.jacobian(s.q)
    a, f = system.forward_dynamics(s.q, s.v, s.a)
    close(J @ a + system.bias(s.q, s.v), np.zeros(len(J)))
    close(s.robot.inverse_dynamics(s.q, s.v, a), s.a + J.T @ f)
    after, p = system.impact(s.q, s.v, 0.3)
    close(J @ after, -0.3 * J @ s.v)
    close(s.robot.mass_matrix(s.q) @ (after - s.v), J.T @ p)


@pytest.mark.parametrize("kind", KINDS)
def test_compiled_calls_and_the_traced_graph_give_the_same(kind):
    builder = kt.ModelBuilder("body")
    builder.link("body", kt.solids.box((0.1, 0.2, 0.3), mass=2.0))
    robot = kt.Robot(builder.build("floating"))
    s = state_of(robot, np.random.default_rng(3))
    contact = kt.Contact("body", **KINDS[kind])
    eager = robot.eager.constrained(contact, frequency=5.0).pinned(robot.neutral())
    (contact,) = eager.constraints
    system = robot.constrained(contact, frequency=5.0)
    for got, expected in zip(
        system.forward_dynamics(s.q, s.v, s.a), eager.forward_dynamics(s.q, s.v, s.a), strict=True
    ):
        close(got, expected, 1e-9)
    dynamics = kt.compile(
        lambda robot, q, v, tau: robot.constrained(contact, frequency=5.0).forward_dynamics(q, v, tau)
    )
    slopes = eager.forward_dynamics_derivatives(s.q, s.v, s.a)
    for k, (of_a, of_f) in enumerate(kt.jacobian(dynamics, wrt=("q", "v", "tau"))(robot, s.q, s.v, s.a)):
        close(slopes[k], of_a, 1e-8)
        close(slopes[3 + k], of_f, 1e-8)


def test_equal_contacts_share_the_load_whatever_stands_before_them():
    """One equation before the three of each point: what belongs together is told by the constraints, not by threes."""
    robot = kt.load("quadruped", base="floating").eager
    feet = [name for name in robot.frame_names if name.endswith("foot")]
    s = state_of(robot, np.random.default_rng(4))
    contacts = [kt.Contact(feet[1], "sliding"), kt.Contact(feet[0]), kt.Contact(feet[0])]
    _, f = robot.constrained(contacts).forward_dynamics(s.q, s.v, s.a)
    assert np.abs(f[1:4]).max() > 1.0
    close(f[1:4], f[4:7], 1e-9)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_random_trees(seed, kind):
    rng = np.random.default_rng(seed)
    base, velocity, order = (str(rng.choice(each)) for each in (
        ("fixed", "floating"), ("body", "mixed"), ("linear-first", "angular-first")
    ))  # fmt: skip
    robot = kt.Robot(kt.random_model(seed, 5, base=base, base_velocity=velocity, spatial_order=order), textbook=True)
    s, frame = state_of(robot, rng), [frame.name for frame in robot.model.frames if frame.body][-1]
    options = {name: rng.normal(size=3) if name in ("normal", "axis") else value for name, value in KINDS[kind].items()}
    system = robot.constrained(kt.Contact(frame, **options), frequency=3.0)
    J = system.jacobian(s.q)
    close(system.bias(s.q, s.v) + J @ s.a, rate_along(s, lambda q, v: system.jacobian(q) @ v), 1e-6)
    if is_clear(system, s.q, full_rank=True):
        away = system.pinned(robot.integrate(s.q, 0.3 * s.a))
        both = lambda q, v, tau: np.concatenate(away.forward_dynamics(q, v, tau))  # noqa: E731
        slopes = away.forward_dynamics_derivatives(s.q, s.v, s.a)
        for k, quotient in enumerate(quotients(s, both, s.a)):
            close(np.concatenate([slopes[k], slopes[3 + k]]), quotient, 1e-5)
