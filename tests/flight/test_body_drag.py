import numpy as np
import pytest

from flying import one_body
from kinetree import flight


def test_a_falling_body_reaches_its_terminal_velocity_in_closed_form():
    """ż = -V tanh(g t/V), V = √(m g/D)."""
    robot = one_body(mass=2.0)
    craft = flight.Aircraft(flight.BodyDrag("part", quadratic=(0.0, 0.0, 0.05)))
    path = robot.rollout(robot.neutral(), np.zeros(6), None, 0.01, 400, "rk4", forces=craft)
    terminal = np.sqrt(2.0 * 9.81 / 0.05)
    assert np.allclose(path.v[:, 2], -terminal * np.tanh(9.81 * path.t / terminal), atol=1e-7)


def test_linear_drag_decays_exponentially():
    robot = one_body(mass=2.0, gravity=(0, 0, 0))
    craft = flight.Aircraft(flight.BodyDrag("part", linear=(0.5, 0.5, 0.5)))
    path = robot.rollout(robot.neutral(), [3.0, 0, 0, 0, 0, 0], None, 0.01, 100, "rk4", forces=craft)
    assert path.v[-1, 0] == pytest.approx(3.0 * np.exp(-0.25), rel=1e-9)
