"""Derivatives of constrained forward dynamics: beside Pinocchio's, difference quotients and the traced graph."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kinetree as kt
from constraint_cases import holding_hands, in_pinocchio, is_clear, solvable_contact, some_constraints
from linkages import along, four_bar, four_bar_at
from peers import close
from slopes import moving, quotients
from states import State, state_of


def closed_here(s: State):
    """A constraint or two that do not repeat each other."""
    chosen = some_constraints(s)[: 1 + int(s.rng.integers(2))]
    system = s.robot.constrained(chosen)
    assume(is_clear(system, s.q, full_rank=True))
    return chosen


def compare(s: State, system, wrenches=None):
    """Quotients of what is divided by J M⁻¹ Jᵀ are less exact than others: as many digits are lost as it is large."""
    nv = s.robot.nv
    both = lambda q, v, tau: np.concatenate(system.forward_dynamics(q, v, tau, wrenches))  # noqa: E731
    slopes = system.forward_dynamics_derivatives(s.q, s.v, s.a, wrenches)
    tolerance = 1e-5 * max(1.0, np.abs(both(s.q, s.v, s.a)).max(initial=0.0) / 100.0)
    for k, quotient in enumerate(quotients(s, both, s.a)):
        close(slopes[k], quotient[:nv], tolerance)
        close(slopes[3 + k], quotient[nv:], tolerance)


@given(moving())
@settings(max_examples=settings().max_examples // 5)
def test_random_trees(s):
    compare(s, s.robot.constrained(closed_here(s)))


@given(moving(), st.sampled_from(["world-aligned", "local", "world"]))
@settings(max_examples=settings().max_examples // 5)
@pytest.mark.sweep
def test_wrenches_are_held_in_their_reference(s, reference):
    compare(s, s.robot.constrained(closed_here(s)), {"tool": kt.Wrench(s.rng.normal(size=6), reference)})


@given(moving())
@settings(max_examples=settings().max_examples // 5)
def test_errors_that_decay(s):
    """Far from where they are held, where rotation vectors are not small; velocities need not be allowed either."""
    held = s.robot.random(s.rng)
    system = s.robot.constrained(closed_here(s), frequency=3.0, damping_ratio=0.7).pinned(held)
    error = system.position_error(s.q)
    assume(all(np.linalg.norm(part) < 2.8 for part in error.reshape(-1, 3)))  # log has an edge at half a turn
    compare(s, system)


def pinocchio_derivatives(peer, system, q, v, tau):
    """Of accelerations, and of forces in the axes of the constrained frames."""
    models, datas = in_pinocchio(peer, system.constraints)
    data, G = peer.data(), peer.G
    pin.initConstraintDynamics(peer.model, data, models, datas)
    options = pin.ProximalSettings(1e-14, 0.0, 1)
    pin.constraintDynamics(peer.model, data, peer.q(q), G @ v, G @ tau, models, datas, options)
    slopes = pin.computeConstraintDynamicsDerivatives(peer.model, data, models, datas, options)
    return [G.T @ slope @ G for slope in slopes[:3]], [slope @ G for slope in slopes[3:]]


def in_world_axes(system, q, f, slopes):
    """Derivatives of f from those of its components in the frame, which turns with q: R ∂f + ω × f."""
    turned = [slope.copy() for slope in slopes]
    for rows, constraint in zip(system.rows, system.constraints, strict=True):
        frame = system.robot.frame(constraint.frames[0])
        R, omega = frame.pose(q)[:3, :3], frame.jacobian(q)[3:]
        for start in range(rows.start, rows.stop, 3):
            for slope in turned:
                slope[start : start + 3] = R @ slope[start : start + 3]
            turned[0][start : start + 3] += np.cross(omega.T, f[start : start + 3]).T
    return turned


def test_real_robots_beside_pinocchio(case):
    system = solvable_contact(case)
    v = system.projector(case.q) @ case.v
    slopes = system.forward_dynamics_derivatives(case.q, v, case.a)
    _, f = system.forward_dynamics(case.q, v, case.a)
    of_a, of_f = pinocchio_derivatives(case.peer, system, case.q, v, case.a)
    for got, expected in zip(slopes, [*of_a, *in_world_axes(system, case.q, f, of_f)], strict=True):
        close(got, expected, 1e-7)  # divided twice by what may be ill-conditioned


@pytest.mark.parametrize("kind", ["point", "rigid"])
def test_a_humanoid_holds_its_own_hand(kind):
    """A loop and a foot on the ground, beside Pinocchio: along changes of q and v that keep both closed, since where a
    loop is open its equations are others."""
    system, peer, q, rng = holding_hands(kind)
    tau, n = rng.normal(size=system.robot.nv), system.robot.nv
    N = system.projector(q)
    v = N @ rng.normal(size=n)
    (their_q, their_v, their_tau), _ = pinocchio_derivatives(peer, system, q, v, tau)
    by_q, by_v, by_tau = system.forward_dynamics_derivatives(q, v, tau)[:3]
    close(by_tau, their_tau, 1e-7)
    for dq in (N @ rng.normal(size=(n, 4))).T:
        ahead, behind = (system.jacobian(system.robot.integrate(q, h * dq)) @ v for h in (1e-6, -1e-6))
        dv = np.linalg.lstsq(system.jacobian(q), -(ahead - behind) / 2e-6, rcond=None)[0] + N @ rng.normal(size=n)
        close(by_q @ dq + by_v @ dv, their_q @ dq + their_v @ dv, 1e-6)


@pytest.mark.parametrize("frequency", [0.0, 5.0])
def test_as_of_the_traced_graph(frequency):
    robot, rng = kt.load("arm6"), np.random.default_rng(2)
    s = state_of(robot, rng)
    contact = kt.Contact("tool0", at=(0.1, 0.2, 0.3))
    dynamics = lambda robot, q, v, tau: robot.constrained(contact, frequency=frequency).forward_dynamics(q, v, tau)  # noqa: E731
    expected = kt.jacobian(kt.compile(dynamics), wrt=("q", "v", "tau"))(robot, s.q, s.v, s.a)
    slopes = robot.constrained(contact, frequency=frequency).forward_dynamics_derivatives(s.q, s.v, s.a)
    for k, (of_a, of_f) in enumerate(expected):
        close(slopes[k], of_a, 1e-9)
        close(slopes[3 + k], of_f, 1e-9)


def test_a_contact_that_is_listed_twice():
    """∂a is the same, and so is the sum of both ∂f."""
    robot = kt.load("quadruped", base="floating").eager
    feet = [name for name in robot.frame_names if name.endswith("foot")][:2]
    once, twice = (robot.constrained([kt.Contact(foot) for foot in listed]) for listed in (feet, [*feet, feet[0]]))
    rng = np.random.default_rng(5)
    q, tau = robot.random(rng), rng.normal(size=robot.nv)
    v = once.projector(q) @ rng.normal(size=robot.nv)
    one, two = (system.forward_dynamics_derivatives(q, v, tau) for system in (once, twice))
    for got, expected in zip(two[:3], one[:3], strict=True):
        close(got, expected, 1e-10)
    for got, expected in zip(two[3:], one[3:], strict=True):
        close(got[:3] + got[6:], expected[:3], 1e-9)
        close(got[3:6], expected[3:], 1e-9)


def test_a_planar_loop_with_an_equation_that_says_nothing():
    """Across its plane a four-bar has nothing to close; along its path a is known, and so is the slope of a."""
    robot = four_bar()
    system = robot.constrained(kt.Loop("coupler_end", "rocker_end"))
    tau, speed, step = np.array([2.0, 0.0, -0.5]), 4.0, 1e-5
    q, v, slope, curvature = along(four_bar_at, 0.4, speed)
    by_q, by_v, by_tau = system.forward_dynamics_derivatives(q, v, tau)[:3]
    ahead, behind = (along(four_bar_at, 0.4 + sign * step, speed)[:2] for sign in (1, -1))
    change = system.forward_dynamics(*ahead, tau)[0] - system.forward_dynamics(*behind, tau)[0]
    close(by_q @ slope + by_v @ (speed * curvature), change / (2 * step), 1e-6)
    close(by_tau, slope[:, None] * slope / (slope @ robot.mass_matrix(q) @ slope), 1e-9)


def test_a_locked_robot_stays():
    """Four flat feet, 24 equations for 18 velocities: whatever changes, nothing moves."""
    robot = kt.load("quadruped", base="floating").eager
    feet = [name for name in robot.frame_names if name.endswith("foot")]
    system = robot.constrained([kt.Contact(foot, "surface") for foot in feet])
    rng = np.random.default_rng(1)
    slopes = system.forward_dynamics_derivatives(robot.random(rng), np.zeros(18), rng.normal(size=18))
    for slope in slopes[:3]:
        close(slope, np.zeros((18, 18)), 1e-8)
    assert all(np.isfinite(slope).all() and np.abs(slope).max() < 1e4 for slope in slopes[3:])


def test_compiled_in_batches_and_inside_laws():
    rng = np.random.default_rng(3)
    model = kt.random_model(rng, 4, base="floating", base_velocity="mixed", joint_dynamics=True)
    s = state_of(kt.Robot(model), rng)
    system = s.robot.constrained(kt.Contact("tool"), frequency=2.0)
    single = system.forward_dynamics_derivatives(s.q, s.v, s.a)
    textbook = kt.Constrained(s.robot.eager, system.equations).forward_dynamics_derivatives(s.q, s.v, s.a)
    assert type(single) is tuple
    assert [slope.shape for slope in single] == 3 * [(s.robot.nv, s.robot.nv)] + 3 * [(3, s.robot.nv)]
    for got, expected in zip(single, textbook, strict=True):
        close(got, expected, 1e-9)
    batch = system.forward_dynamics_derivatives(np.tile(s.q, (2, 5, 1)), s.v, s.a)
    for got, expected in zip(batch, single, strict=True):
        assert np.array_equal(got[1, 3], expected)


def test_a_mass_matrix_that_cannot_be_divided_by():
    builder = kt.ModelBuilder("nothing")
    for name in "abc":
        builder.link(name)
    builder.joint("hinge", "revolute", "a", "b")
    builder.joint("slide", "prismatic", "b", "c")
    system = kt.Robot(builder.build()).constrained(kt.Contact("b"))
    with pytest.raises(kt.SingularMassMatrixError, match="and the constraints do not determine how"):
        system.forward_dynamics_derivatives(*np.zeros((3, 2)))
