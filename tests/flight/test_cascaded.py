import numpy as np
import pytest

import kinetree as kt
from flying import load
from kinetree import flight


def test_it_holds_its_place_against_a_steady_wind_and_load():
    """Integrals find the wind and a weight that the controller does not know of."""
    robot, _ = load("quadrotor")
    control, dt = flight.CascadedControl(robot), 2e-3
    wind = flight.Air(wind=flight.UniformWind((3.0, -2.0, 0.0)))
    craft = flight.Aircraft(flight.BodyDrag("base_link", quadratic=(0.02, 0.02, 0.02)), wind)
    goal = np.array([1.0, -1.0, 2.0])

    @kt.compile(shapes={"integral": (6,)})
    def fly(robot, q, v, integral):
        found = control(q, v, integral, dt, goal, yaw=0.7)
        return {"tau": found["tau"], "integral": found["integral"]}

    load_below = {"base_link": [0, 0, -0.5, 0, 0, 0]}
    states = {"integral": np.zeros(6)}
    path = robot.rollout(
        robot.neutral(), np.zeros(6), fly, dt, 10000, forces=craft, wrenches=load_below, states=states, every=100
    )
    assert np.allclose(path.q[-1, :3], goal, atol=2e-3)
    assert np.abs(path.v[-1]).max() < 1e-3
    x_axis = robot.frame("base_link").pose(path.q[-1])[:3, 0]
    assert np.arctan2(x_axis[1], x_axis[0]) == pytest.approx(0.7, abs=1e-2)


def test_without_error_it_asks_for_the_weight():
    robot, _ = load("quadrotor")
    control = flight.CascadedControl(robot)
    found = control(robot.neutral(), np.zeros(6), np.zeros(6), 1e-3, np.zeros(3))
    assert np.allclose(found["tau"], [0, 0, 0.5 * 9.81, 0, 0, 0]) and np.allclose(found["integral"], 0.0)
    pushed = control(robot.neutral(), np.zeros(6), np.full(6, 2.0), 1.0, np.full(3, 9.0))
    assert np.abs(pushed["integral"]).max() <= 2.0, "it does not wind up"


def test_gains_as_diagonal_matrices_are_gains_of_each_axis():
    robot, _ = load("quadrotor")
    rng = np.random.default_rng(0)
    q, v, k = robot.random(rng), rng.normal(size=6), np.array([1.0, 2.0, 3.0])
    names = ("position", "velocity", "velocity_integral", "attitude", "rate", "rate_integral")
    found = [
        flight.CascadedControl(robot, **dict.fromkeys(names, gain))(q, v, np.ones(6), 1e-2, np.ones(3))["tau"]
        for gain in (k, np.diag(k))
    ]
    assert np.allclose(*found)
