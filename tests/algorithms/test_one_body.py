"""External forces on the whole robot, and what its joints add to the rotation of the base."""

import numpy as np
from hypothesis import given

import kinetree as kt
from peers import close
from states import State, linear_first, pushed, states


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
