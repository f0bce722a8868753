"""Centroidal coordinates and the robot as one body, compiled: batches, laws, long flights."""

import numpy as np
import pytest

import kinetree as kt
from peers import close

KINDS = ["centroidal_coordinates", "diagonalized_coordinates"]


@pytest.fixture(scope="module")
def robot():
    return kt.Robot(kt.random_model(2, 4, ("revolute", "spherical", "prismatic"), base="floating"))


@pytest.fixture(scope="module")
def batch(robot):
    rng = np.random.default_rng(0)
    return robot.random(rng, 3), rng.normal(size=(3, robot.nv)), rng.normal(size=(3, robot.nv))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.sampled(2)
@pytest.mark.sweep
def test_compiled_coordinates(robot, batch, kind):
    """Of one state and of a batch, beside the textbook; all maps take batches."""
    q, v, a = batch
    rows, one = getattr(robot, kind)(q, v), getattr(robot, kind)(q[1], v[1])
    textbook = getattr(robot.eager, kind)(q[1], v[1])
    for name in ("T", "T_inverse", "T_rate", "M", "C", "G", "nu", "h", "locked_inertia", "joint_inertia"):
        assert np.array_equal(getattr(rows, name)[1], getattr(one, name)) or name in ("nu", "h")
        close(getattr(rows, name)[1], getattr(textbook, name), 1e-11)
    tool = robot.frame("tool")
    J, J_rate = tool.jacobian(q), tool.jacobian_rate(q, v)
    for name in ("velocity", "acceleration", "force", "robot_velocity", "robot_acceleration", "robot_force"):
        close(getattr(rows, name)(a)[1], getattr(one, name)(a[1]), 1e-12)
    for name in ("jacobian", "robot_jacobian"):
        close(getattr(rows, name)(J)[1], getattr(one, name)(J[1]), 1e-12)
    close(rows.jacobian_rate(J, J_rate)[1], one.jacobian_rate(J[1], J_rate[1]), 1e-12)
    assert getattr(robot, kind)(q, v[0]).nu.shape == (3, robot.nv)


def test_it_keeps_the_state_it_was_made_of(robot, batch):
    q, v = batch[0][0].copy(), batch[1][0].copy()
    x = robot.centroidal_coordinates(q, v)
    nu = x.nu
    v += 1.0
    assert np.array_equal(x.nu, nu)
    with pytest.raises(AttributeError):
        x.M = nu


@pytest.mark.sweep
def test_in_laws(robot, batch):
    """A law takes from the coordinates what it needs, and no more is compiled."""
    q, v, a = batch

    @kt.compile
    def law(robot, q, v, a):
        x = robot.diagonalized_coordinates(q, v)
        body, motion = robot.single_rigid_body(q), robot.one_body_motion(q, v, a)
        return (
            x.h,
            x.acceleration(a),
            body.error(motion),
            motion.in_turning_axes().euler,
            motion.about_point(q[:3]).euler,
        )

    x, motion = robot.diagonalized_coordinates(q, v), robot.one_body_motion(q, v, a)
    expected = (
        x.h,
        x.acceleration(a),
        robot.single_rigid_body(q).error(motion),
        motion.in_turning_axes().euler,
        motion.about_point(q[:, :3]).euler,
    )
    for mine, its in zip(law(robot, q, v, a), expected, strict=True):
        close(mine, its, 1e-10)
    inertia, everything = (
        kt.compile(function).inspect(robot).graph.operations()
        for function in (
            lambda robot, q, v: robot.diagonalized_coordinates(q, v).M,
            lambda robot, q, v: (robot.diagonalized_coordinates(q, v).M, robot.diagonalized_coordinates(q, v).C),
        )
    )
    assert inertia < everything / 2


def test_prepared_ahead_and_refused(robot):
    robot.prepare("centroidal_coordinates")
    robot.prepare("centroidal_wrench", wrenches=["tool"])
    arm = kt.load("arm6")
    with pytest.raises(kt.ArgumentError, match="'arm6' has a fixed base, so it has no diagonalized coordinates"):
        arm.prepare("diagonalized_coordinates")
    with pytest.raises(kt.ArgumentError, match="'arm6' has a fixed base, so it has no average rotation by joints"):
        arm.average_rotation_by_joints(arm.neutral())
    with pytest.raises(kt.ArgumentError, match="q has shape"):
        robot.centroidal_coordinates(np.zeros(3), np.zeros(robot.nv))


# -- free flight ---------------------------------------------------------------------------------------------------

DRIFT = {"semi-implicit-euler": 2e-2, "midpoint": 1e-4, "rk4": 1e-9}
"""How far what is conserved may be off after 10 s, relative to itself, by the order of the integrator."""


@pytest.mark.parametrize("base_velocity", ["body", "mixed"])
@pytest.mark.parametrize("integrator", DRIFT)
@pytest.mark.sampled(4)
def test_a_tree_in_free_flight(integrator, base_velocity):
    """10 s without gravity and forces: energy, L ω̄ and ċ stay, though L does not; the equation of motion in centroidal
    coordinates holds at every state."""
    model = kt.random_model(5, 5, base="floating", base_velocity=base_velocity, gravity=(0.0, 0.0, 0.0))
    robot = kt.Robot(model)
    rng = np.random.default_rng(5)
    q0, v0 = robot.random(rng), 0.1 * rng.normal(size=robot.nv)
    path = robot.rollout(q0, v0, None, 1e-3, 10000, integrator)
    q, v = path.q[::1000], path.v[::1000]
    x = robot.eager.diagonalized_coordinates(q, v)
    spin = (x.locked_inertia @ x.nu[:, 3:6, None])[..., 0]
    energy = 0.5 * (x.nu[:, None, :] @ x.M @ x.nu[:, :, None])[:, 0, 0]
    assert np.ptp(x.locked_inertia, axis=0).max() > 0.05 * x.locked_inertia.max()  # the posture does change
    for conserved in (spin, x.nu[:, :3], energy[:, None]):
        assert np.abs(conserved - conserved[0]).max() < DRIFT[integrator] * np.linalg.norm(conserved[0])
    a = robot.eager.forward_dynamics(q, v, np.zeros(robot.nv))
    close((x.M @ x.acceleration(a)[..., None])[..., 0] + x.h, np.zeros_like(v), 1e-9)
