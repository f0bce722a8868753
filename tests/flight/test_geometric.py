"""Tracking on SE(3), and what controllers of flying robots share. Covers: flight/flyers.py"""

import pickle

import numpy as np
import pytest

import kinetree as kt
from flying import allocation, load, rotors
from kinetree import flight

POINTS = np.array([[0, 0, 1], [2, 1, 2], [3, -1, 1.5], [0, 0, 1.0]])
PATH = flight.minimum_snap(POINTS, [0, 1.0, 2.0, 3.0], [0, 1.0, 2.0, 0])


@pytest.fixture(scope="module")
def quad():
    robot, _ = load("quadrotor")
    return robot, flight.GeometricControl(robot)


def test_on_the_path_it_asks_for_what_the_path_needs(quad):
    robot, control = quad
    for t in (0.0, 0.7, 1.9):
        motion = flight.flat_motion(robot, PATH(t))
        assert np.allclose(control(motion.q, motion.v, tuple(PATH(t))), [0, 0, *motion.wrench], atol=1e-9)


def test_it_is_the_law_of_the_paper(quad):
    """f and M of Lee, Leok and McClamroch, eqs (15) and (16) with the reference of a hover, written out."""
    robot, control = quad
    rng = np.random.default_rng(0)
    J = np.diag([3.65e-3, 3.68e-3, 7.03e-3])
    for _ in range(5):
        q, v = robot.random(rng), rng.normal(size=6)
        R, w = robot.frame("base_link").pose(q)[:3, :3], v[3:]
        x_d, yaw = rng.normal(size=3), 0.4
        A = -6.0 * (q[:3] - x_d) - 4.5 * (R @ v[:3]) + [0, 0, 9.81]
        f = 0.5 * A @ R[:, 2]
        b3 = A / np.linalg.norm(A)
        b2 = np.cross(b3, [np.cos(yaw), np.sin(yaw), 0])
        b2 /= np.linalg.norm(b2)
        R_d = np.column_stack([np.cross(b2, b3), b2, b3])
        E = 0.5 * (R_d.T @ R - R.T @ R_d)
        e_R = np.array([E[2, 1], E[0, 2], E[1, 0]])
        M = J @ (-200.0 * e_R - 25.0 * w) + np.cross(w, J @ w)
        assert np.allclose(control(q, v, x_d, yaw=yaw), [0, 0, f, *M], atol=1e-9)


def test_it_follows_an_aggressive_path_to_the_error_of_the_steps(quad):
    robot, control = quad
    law = kt.compile(lambda robot, q, v, t: control(q, v, tuple(PATH(t))))
    start = flight.flat_motion(robot, PATH(0.0))
    errors = []
    for dt in (4e-3, 2e-3):
        path = robot.rollout(start.q, start.v, law, dt, round(3.0 / dt), "rk4")
        errors.append(np.linalg.norm(path.q[:, :3] - PATH(path.t).position, axis=1).max())
    assert errors[0] < 1e-5 and errors[1] < errors[0] / 8.0
    tilt = robot.frame("base_link").pose(path.q)[:, 2, 2].min()
    assert np.degrees(np.arccos(tilt)) > 50.0, "it is an aggressive one"


def test_with_rotors_drag_and_lag_it_recovers_upside_down(quad):
    robot, control = quad
    _, craft = load("quadrotor")
    chosen, dt, motor = allocation(), 2e-3, flight.QUADROTOR_MOTOR

    @kt.compile(shapes={"speeds": (4,)})
    def fly(robot, q, v, speeds):
        command = chosen.speeds(control(q, v, np.array([0, 0, 3.0]))[2:6])
        held = motor.mean(speeds, command, dt)
        return {"tau": craft.efforts(robot, q, v, 0.0, held), "speeds": motor.after(speeds, command, dt)}

    q = np.array([0, 0, 3.0, 1.0, 0.0, 0.0, 0.0])
    q[3:] = [np.sin(1.5), 0.0, 0.0, np.cos(1.5)]  # rolled by 172°
    path = robot.rollout(
        q, np.zeros(6), fly, dt, 3000, states={"speeds": np.full(4, 400.0)}, record=("q", "v", "speeds")
    )
    assert np.abs(path.q[-1, :3] - [0, 0, 3.0]).max() < 0.02
    assert (path["speeds"] <= 1500.0).all() and (path["speeds"] >= 0.0).all()


def test_an_arm_that_swings_does_not_disturb_it():
    """The whole robot is in its equation: the base follows while joints go elsewhere, to the error of the steps."""
    robot, craft = load("quadrotor_arm")
    control = flight.GeometricControl(robot)
    goal = np.array([0.5, 0.0, 1.0])
    target = np.array([0.8, -0.6])
    law = kt.compile(lambda robot, q, v: control(q, v, goal, joints=target))
    q = robot.neutral()
    path = robot.rollout(q, np.zeros(8), law, 2e-3, 3000, "rk4", record=("q", "v", "tau"))
    assert np.allclose(path.q[-1, 7:], target, atol=1e-3)
    assert np.allclose(robot.center_of_mass(path.q[-1]), goal, atol=1e-3)
    assert np.abs(path["tau"][:, :2]).max() == 0.0, "rotors push along z alone"
    assert len(rotors(craft)) == 4


def test_controllers_are_values_that_pickle(quad):
    robot, control = quad
    again = pickle.loads(pickle.dumps(control))
    q, v = robot.random(5), np.full(6, 0.2)
    assert np.array_equal(again(q, v, np.ones(3)), control(q, v, np.ones(3)))
    soft = control.changed(position_gain=1.0)
    assert not np.allclose(soft(q, v, np.ones(3)), control(q, v, np.ones(3)))
    many = control(np.tile(q, (7, 1)), v, np.ones(3))
    assert many.shape == (7, 6) and np.array_equal(many[3], control(q, v, np.ones(3)))
    assert control(np.zeros((0, 7)), v, np.ones(3)).shape == (0, 6)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"base": "fixed"}, "fixed base"),
        ({"base": "floating", "base_velocity": "mixed"}, "base velocity in other axes"),
        ({"base": "floating", "spatial_order": "angular-first"}, "base velocity in other axes"),
    ],
)
def test_robots_it_does_not_fly(options, words):
    with pytest.raises(kt.ArgumentError, match=words):
        flight.GeometricControl(kt.load("quadrotor", **options))
    with pytest.raises(kt.ArgumentError, match="has joints"):
        flight.HoverLQR(load("quadrotor_arm")[0])
