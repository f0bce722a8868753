import numpy as np

import kinetree as kt
from flying import load
from kinetree import flight


def test_it_needs_no_model_of_what_disturbs():
    """Under a steady moment that it knows nothing of, the attitude ends where it was asked for; PD alone is off."""
    robot, _ = load("quadrotor")
    control, dt = flight.IncrementalAttitude(robot), 1e-3
    wanted = kt.rotations.exp([0.2, -0.1, 0.4])
    push = {"base_link": kt.Wrench([0, 0, 0, 0.05, -0.03, 0.02], "local")}

    @kt.compile(shapes={"memory": (9,)})
    def fly(robot, q, v, memory):
        found = control(q, v, memory, dt, wanted)
        return {"tau": np.concatenate([np.zeros(3), found["moment"]]), "memory": found["memory"]}

    path = robot.rollout(
        robot.neutral(), np.zeros(6), fly, dt, 4000, wrenches=push, states={"memory": np.zeros(9)}, every=4000
    )
    R = robot.frame("base_link").pose(path.q[-1])[:3, :3]
    assert np.abs(kt.rotations.log(R.T @ wanted)).max() < 1e-3 and np.abs(path.v[-1, 3:]).max() < 1e-3
    sag = np.array([0.05, 0.03, 0.02]) / np.diag(robot.mass_matrix(robot.neutral()))[3:] / 150.0
    assert sag.min() > 0.01, "what a PD controller of the same gains would be off by [rad]"


def test_gains_as_diagonal_matrices_are_gains_of_each_axis():
    robot, _ = load("quadrotor")
    rng = np.random.default_rng(0)
    q, v, k = robot.random(rng), rng.normal(size=6), np.array([1.0, 2.0, 3.0])
    by_axis, matrix = (flight.IncrementalAttitude(robot, gain, gain) for gain in (k, np.diag(k)))
    assert np.allclose(by_axis(q, v, np.ones(9), 1e-2)["moment"], matrix(q, v, np.ones(9), 1e-2)["moment"])
