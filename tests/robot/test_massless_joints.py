"""Joints that move no mass: refused by themselves, solved where constraints determine how they move."""

import numpy as np
import pytest

import kinetree as kt
from linkages import along, four_bar, four_bar_at, gimbal, slope_of
from peers import close


@pytest.fixture
def linkage():
    """A four-bar whose coupler weighs nothing, so that M is singular wherever it is."""
    robot = four_bar(coupler_density=0.0)
    system = robot.constrained(kt.Loop("coupler_end", "rocker_end"))
    q, v, slope, curvature = along(four_bar_at, 0.7, 3.0)
    return system, q, v, slope, curvature


def test_alone_it_is_refused(linkage):
    system, q, v, *_ = linkage
    with pytest.raises(kt.SingularMassMatrixError, match=r"joint 'b' can move without moving any mass$"):
        system.robot.forward_dynamics(q, v, np.zeros(3))


def test_forward_dynamics(linkage):
    """By projection on the path of its one freedom; forces by the equations of motion, all of them."""
    system, q, v, slope, curvature = linkage
    robot, tau = system.robot, np.array([2.0, 0.0, -0.5])
    M, h = robot.mass_matrix(q), robot.bias_forces(q, v)
    acceleration = slope @ (tau - h - M @ curvature * 9.0) / (slope @ M @ slope)
    a, f = system.forward_dynamics(q, v, tau)
    close(a, slope * acceleration + curvature * 9.0, 1e-7)
    close(M @ a + h, tau + system.jacobian(q).T @ f, 1e-9)
    close(f[1], 0.0, 1e-9)
    along_coupler = np.array([np.cos(q[0] + q[1]), 0.0, np.sin(q[0] + q[1])])
    close(f, (f @ along_coupler) * along_coupler, 1e-8)  # a rod without mass or effort carries only along itself


@pytest.mark.sweep
def test_it_is_the_limit_of_a_light_coupler(linkage):
    system, q, v, *_ = linkage
    light = four_bar(coupler_density=1e-6).constrained(system.constraints)
    tau = np.array([2.0, 0.0, -0.5])
    for got, expected in zip(
        (*system.forward_dynamics(q, v, tau), *system.impact(q, np.ones(3), 0.3), system.projector(q)),
        (*light.forward_dynamics(q, v, tau), *light.impact(q, np.ones(3), 0.3), light.projector(q)),
        strict=True,
    ):
        close(got, expected, 1e-4)
    for got, expected in zip(
        system.forward_dynamics_derivatives(q, v, tau)[:3],
        light.forward_dynamics_derivatives(q, v, tau)[:3],
        strict=True,
    ):
        close(got, expected, 1e-4)


def test_identities_of_impact_and_projection(linkage):
    system, q, _, slope, _ = linkage
    M, J, N = system.robot.mass_matrix(q), system.jacobian(q), system.projector(q)
    after, p = system.impact(q, np.ones(3), 0.5)
    close(M @ (after - 1.0), J.T @ p, 1e-8)
    close(J @ after, -0.5 * J @ np.ones(3), 1e-8)
    close(N, np.outer(slope, slope @ M) / (slope @ M @ slope), 1e-8)
    close(J.T @ system.constraint_inertia(q) @ J, M @ (np.eye(3) - N), 1e-7)


def test_it_runs(linkage):
    """In the compiled loop, its energy kept."""
    system, q, v, *_ = linkage
    path = system.rollout(q, v, None, 1e-3, 1000, "rk4")
    energy = system.robot.kinetic_energy(path.q, path.v) + system.robot.potential_energy(path.q)
    assert np.ptp(energy) < 1e-7 * np.abs(energy).max()
    close(path.v[-1], path.v[-1, 0] * slope_of(four_bar_at, path.q[-1, 0]), 1e-8)
    batch = system.forward_dynamics(path.q[::100], path.v[::100], np.zeros(3))[0]
    assert np.array_equal(batch[3], system.forward_dynamics(path.q[300], path.v[300], np.zeros(3))[0])


def test_what_constraints_do_not_determine_is_named():
    builder = kt.ModelBuilder("arm")
    builder.link("ground")
    builder.link("upper", kt.Inertia.from_com(1.0, (0.2, 0, 0), 0.01 * np.eye(3)))
    builder.link("fore", kt.Inertia.zero())
    builder.link("dial", kt.Inertia.zero())
    builder.joint("shoulder", "revolute", "ground", "upper", axis=(0, 1, 0))
    builder.joint("elbow", "revolute", "upper", "fore", axis=(0, 1, 0), xyz=(0.4, 0, 0))
    builder.joint("knob", "revolute", "fore", "dial", axis=(1, 0, 0), xyz=(0.3, 0, 0))
    robot = kt.Robot(builder.build())
    q, zero = np.array([0.3, 0.8, 0.0]), np.zeros(3)
    for one in (robot, robot.eager):
        with pytest.raises(
            kt.SingularMassMatrixError, match=r"joint 'knob' .* and the constraints do not determine how"
        ):
            one.constrained(kt.Contact("dial")).forward_dynamics(q, zero, zero)
    a, _ = robot.constrained(kt.Contact("dial", "surface")).forward_dynamics(q, zero, zero)
    close(a, zero, 1e-8)


def test_a_robot_that_is_singular_in_one_place_only():
    """Named at that place, solved at others."""
    robot = gimbal(5).eager
    system, zero = robot.constrained(kt.Contact("end")), np.zeros(5)
    with pytest.raises(kt.SingularMassMatrixError, match=r"joint 'yaw' can move without moving any mass$"):
        system.forward_dynamics(robot.neutral(), zero, zero)
    assert np.isfinite(system.forward_dynamics(robot.random(0), zero, zero)[0]).all()
