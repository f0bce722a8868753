"""Attitude and wrench from flat outputs, beside finite differences."""

import numpy as np
import pytest

import kinetree as kt
from flying import allocation, load, rotors
from kinetree import flight

POINTS = [[0, 0, 1], [2, 1, 2], [3, -1, 1.5], [0, 0, 1]]
PATH = flight.minimum_snap(POINTS, [0, 1.5, 3.0, 5.0], [0, 0.5, 1.5, 0])


@pytest.mark.parametrize("t", [0.0, 0.4, 1.5, 2.2, 4.1])
def test_rates_are_those_of_the_rotation(t):
    robot, _ = load("quadrotor")
    h = 1e-5

    def turned(s):
        flat = PATH(s)
        return flight.attitude(
            flat.acceleration - robot.gravity, flat.jerk, flat.snap, flat.yaw, flat.yaw_rate, flat.yaw_acceleration
        )

    t = max(t, h)
    before, now, after = (turned(t + k * h) for k in (-1, 0, 1))
    R = now.rotation
    assert np.allclose(R.T @ R, np.eye(3)) and np.linalg.det(R) == pytest.approx(1.0)
    spin = R.T @ (after.rotation - before.rotation) / (2 * h)
    assert np.allclose([spin[2, 1], spin[0, 2], spin[1, 0]], now.rate, atol=1e-7)
    assert np.allclose((after.rate - before.rate) / (2 * h), now.acceleration, atol=1e-6)


def test_the_wrench_moves_the_robot_along_the_path():
    """ID of the flat motion has no force across the thrust, and FD under it gives the acceleration of the path."""
    robot, _ = load("quadrotor")
    for t in (0.3, 1.7, 3.3):
        motion = flight.flat_motion(robot, PATH(t))
        tau = np.concatenate([np.zeros(2), motion.wrench])
        assert np.allclose(robot.inverse_dynamics(motion.q, motion.v, motion.a), tau, atol=1e-12)
        assert np.allclose(robot.forward_dynamics(motion.q, motion.v, tau), motion.a)
        world = robot.frame("base_link").acceleration(motion.q, motion.v, motion.a)[:3]
        assert np.allclose(world, PATH(t).acceleration)


def test_rotor_speeds_of_the_path_alone_fly_it():
    """Open loop, by the speeds that the flat outputs give, in a rollout: the error is that of fourth-order steps."""
    robot, craft = load("quadrotor")
    chosen = allocation()
    still = flight.Aircraft([flight.Rotor(r.frame, r.thrust, r.torque, r.direction) for r in rotors(craft)])
    path = flight.minimum_snap(POINTS, [0, 1.5, 3.0, 4.5], [0, 0.3, 0.5, 0])

    @kt.compile
    def fly(robot, q, v, t):
        return still.efforts(robot, q, v, t, chosen.speeds(flight.flat_motion(robot, path(t)).wrench))

    start, errors = flight.flat_motion(robot, path(0.0)), []
    for dt in (4e-3, 2e-3):
        flown = robot.rollout(start.q, start.v, fly, dt, round(4.5 / dt), "rk4")
        errors.append(np.linalg.norm(flown.q[:, :3] - path(flown.t).position, axis=1).max())
    assert errors[0] < 1e-6 and errors[1] < errors[0] / 12.0


def test_at_rest_it_hovers_level():
    robot, _ = load("quadrotor")
    motion = flight.flat_motion(robot, PATH(9.0))
    assert np.allclose(motion.wrench, [0.5 * 9.81, 0, 0, 0], atol=1e-9) and np.allclose(motion.q[3:], [0, 0, 0, 1])
