"""The robot taken for one rigid body, and what is lost by it."""

import numpy as np
from hypothesis import given

import kinetree as kt
from peers import close
from states import State, linear_first, states


@given(states(base="floating"))
def test_it_is_the_robot_with_its_joints_locked(s: State):
    """Its model has the momentum and energy of the robot, at any pose of the base."""
    robot, q, order = s.robot.eager, s.q, s.robot.model.spatial_order
    body = robot.single_rigid_body(q)
    one = kt.Robot(body.model(robot.model.joints[1].frame)).eager
    moved = np.concatenate([robot.random(s.rng)[:7], q[7:]])  # elsewhere, with the same joints
    v = np.concatenate([s.v[:6], np.zeros(robot.nv - 6)])
    close(one.centroidal_momentum(moved[:7], v[:6]), robot.centroidal_momentum(moved, v), 1e-9)
    close(one.kinetic_energy(moved[:7], v[:6]), robot.kinetic_energy(moved, v), 1e-9)
    close(one.center_of_mass(moved[:7]), robot.center_of_mass(moved), 1e-10)
    R = robot.frame(robot.body_names[0]).pose(moved)[:3, :3]
    close(body.inertia_in(R), robot.locked_inertia(moved), 1e-9)

    # Its own equations and those of its model are the same.
    forces, points = s.rng.normal(size=(2, 4, 3))
    c, omega = one.center_of_mass(moved[:7]), one.average_angular_velocity(moved[:7], v[:6])
    linear, angular = body.forward_dynamics(c, R, omega, forces, points)
    wrench = np.concatenate([forces.sum(0), np.cross(points, forces).sum(0)])
    push = {"body": kt.Wrench(linear_first(wrench, order), "world")}
    a = one.forward_dynamics(moved[:7], v[:6], np.zeros(6), push)
    average = linear_first(one.average_acceleration(moved[:7], v[:6], a), order)
    close(np.concatenate([linear, angular]), average, 1e-8)


@given(states(base="floating"))
def test_error_against_the_robot(s: State):
    """c̈ is exact; ω̇ is off by L⁻¹ times the gesticulation."""
    robot, q, v = s.robot.eager, s.q, s.v
    tool, push = robot.frame("tool").pose(q)[:3, 3], s.rng.normal(size=3)
    pushes = {"tool": linear_first(np.concatenate([push, np.zeros(3)]), robot.model.spatial_order)}
    a = robot.forward_dynamics(q, v, np.zeros(robot.nv), pushes)
    motion, body = robot.one_body_motion(q, v, a, pushes), robot.single_rigid_body(q)
    linear, angular = body.forward_dynamics(motion.center, motion.base_axes, motion.omega, push[None], tool[None])
    close(linear, motion.acceleration, 1e-9)
    close(body.error(motion), angular - motion.omega_rate, 1e-8)
    close(body.error(motion), np.linalg.solve(motion.inertia, robot.gesticulation(q, v)), 1e-7)


def test_locked_joints_leave_no_error_and_another_posture_does():
    robot = kt.load("humanoid", base="floating").eager
    rng = np.random.default_rng(0)
    q, v = robot.random(rng), np.concatenate([rng.normal(size=6), np.zeros(robot.nv - 6)])
    v_rate = np.concatenate([rng.normal(size=6), np.zeros(robot.nv - 6)])
    rate = robot.centroidal_momentum_rate(q, v, v_rate)
    push = {robot.body_names[0]: kt.Wrench(rate - robot.centroidal_wrench(q))}
    base, c = robot.frame(robot.body_names[0]).pose(q)[:3, 3], robot.center_of_mass(q)
    wrench = push[robot.body_names[0]].value
    push = {robot.body_names[0]: np.r_[wrench[:3], wrench[3:] - np.cross(base - c, wrench[:3])]}
    motion = robot.one_body_motion(q, v, v_rate, push)
    for residual in motion.in_world_axes().residuals:
        close(residual, np.zeros(3), 1e-9)
    close(robot.single_rigid_body(q).error(motion), np.zeros(3), 1e-9)
    assert np.linalg.norm(robot.single_rigid_body(robot.neutral()).error(motion)) > 0.01


def test_one_for_every_configuration():
    robot = kt.load("quadruped", base="floating").eager
    rng = np.random.default_rng(1)
    q, v, a = robot.random(rng, 3), rng.normal(size=(3, robot.nv)), rng.normal(size=(3, robot.nv))
    bodies, motions = robot.single_rigid_body(q), robot.one_body_motion(q, v, a)
    one = robot.single_rigid_body(q[1]), robot.one_body_motion(q[1], v[1], a[1])
    close(bodies.error(motions)[1], one[0].error(one[1]), 1e-12)
    forces, points = rng.normal(size=(2, 3, 4, 3))
    rows = bodies.forward_dynamics(motions.center, motions.base_axes, motions.omega, forces, points)
    alone = one[0].forward_dynamics(one[1].center, one[1].base_axes, one[1].omega, forces[1], points[1])
    for row, single in zip(rows, alone, strict=True):
        close(row[1], single, 1e-12)
