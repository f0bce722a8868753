"""Beside RotorPy, on the parameters that both have of the Hummingbird: pip install rotorpy."""

import numpy as np
import pytest

import kinetree as kt
from flying import allocation, load
from kinetree import flight

rotorpy = pytest.importorskip("rotorpy.vehicles.multirotor", reason="rotorpy is not installed")
pytestmark = pytest.mark.sweep
TIGHT = {"method": "DOP853", "rtol": 1e-9, "atol": 1e-9}
ORDER = [0, 3, 2, 1]
"""Our rotors in the order of theirs."""


def their_model(**changes):
    from rotorpy.vehicles.hummingbird_params import quad_params  # noqa: PLC0415 - an extra

    return rotorpy.Multirotor(
        {**quad_params, **changes}, control_abstraction="cmd_motor_speeds", integrator_kwargs=TIGHT
    )


def test_forces_are_the_same_at_random_states():
    robot, craft = load("quadrotor")
    peer, rng = their_model(), np.random.default_rng(0)
    for _ in range(20):
        q, v, u = robot.random(rng), rng.normal(size=6) * 4.0, rng.uniform(200.0, 1200.0, 4)
        force, moment = peer.compute_body_wrench(v[3:], u[ORDER], v[:3])
        assert np.allclose(craft.efforts(robot, q, v, 0.0, u), [*force, *moment], rtol=1e-6, atol=1e-9)


def test_five_seconds_of_aggressive_flight():
    """The same rotor speeds are commanded of both, open loop, as our controller asks for them on a path with 60° of
    tilt; motors lag. RotorPy integrates by adaptive Runge-Kutta steps, here with a tight tolerance."""
    robot, craft = load("quadrotor")
    control, chosen, motor = flight.GeometricControl(robot), allocation(), flight.QUADROTOR_MOTOR
    allocated = chosen.speeds
    points = [[0, 0, 1], [3, 1, 2], [4, -2, 1.5], [1, -1, 2.5], [0, 0, 1]]
    path, dt = flight.minimum_snap(points, [0, 1.2, 2.4, 3.7, 5.0], [0, 1, 2, 1, 0]), 1e-3

    @kt.compile(shapes={"speeds": (4,), "command": (4,)})
    def fly(robot, q, v, t, speeds, command):
        """The command is held during a step, and the next one is found meanwhile, as on a computer on board."""
        held = motor.mean(speeds, command, dt)
        found = allocated(control(q, v, tuple(path(t)))[2:6])
        return {
            "tau": craft.efforts(robot, q, v, t, held),
            "speeds": motor.after(speeds, command, dt),
            "command": found,
        }

    start = flight.flat_motion(robot, path(0.0))
    hover = chosen.speeds_of(chosen.hover)
    names = ("q", "v", "speeds", "command")
    ours = robot.rollout(
        start.q, start.v, fly, dt, 5000, "rk4", states={"speeds": hover, "command": hover}, record=names
    )
    peer = their_model()
    state = {
        "x": start.q[:3],
        "v": np.zeros(3),
        "q": start.q[3:],
        "w": np.zeros(3),
        "wind": np.zeros(3),
        "rotor_speeds": hover[ORDER],
    }
    theirs = []
    for command in (hover, *ours["command"][:-1]):
        state = peer.step(state, {"cmd_motor_speeds": command[ORDER]}, dt)
        theirs.append(np.concatenate([state["x"], state["v"], state["q"], state["w"], state["rotor_speeds"]]))
    theirs = np.array(theirs)
    world = robot.frame("base_link").velocity(ours.q[1:], ours.v[1:])[:, :3]
    assert np.degrees(np.arccos(robot.frame("base_link").pose(ours.q)[:, 2, 2].min())) > 45.0
    assert np.abs(ours.q[1:, :3] - theirs[:, :3]).max() < 2e-3  # [m], after 5 s without feedback
    assert np.abs(world - theirs[:, 3:6]).max() < 1e-3
    same = np.abs(np.einsum("ij,ij->i", ours.q[1:, 3:], theirs[:, 6:10]))
    assert same.min() > 1.0 - 1e-7
    assert np.abs(ours["speeds"][:, ORDER] - theirs[:, 13:]).max() < 1e-8
