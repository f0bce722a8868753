"""The F-16 of Stevens, Lewis and Johnson (2015): trim and modes as their book has them, from the same tables."""

from functools import cache

import numpy as np
import pytest

from f16 import FOOT, f16
from kinetree import flight

SPEED = 502.0 * FOOT
# centre of gravity: α [rad], throttle, elevator [deg]; level at sea level, 502 ft/s (table 3.6-3)
TRIM = {0.35: (0.03691, 0.1385, -0.7588), 0.30: (0.03936, 0.1485, -1.931), 0.38: (0.03544, 0.1325, -0.0559)}
# airspeed [ft/s]: throttle, α [deg], elevator [deg]; level at sea level (table 3.6-2)
BY_SPEED = {
    130: (0.816, 45.6, 20.1), 140: (0.736, 40.3, -1.36), 150: (0.619, 34.6, 0.173), 170: (0.464, 27.2, 0.621),
    200: (0.287, 19.7, 0.723), 260: (0.148, 11.6, -0.090), 300: (0.122, 8.49, -0.591), 350: (0.107, 5.87, -0.539),
    400: (0.108, 4.16, -0.591), 440: (0.113, 3.19, -0.671), 500: (0.137, 2.14, -0.756), 540: (0.160, 1.63, -0.798),
    600: (0.200, 1.04, -0.846), 640: (0.230, 0.742, -0.871), 700: (0.282, 0.382, -0.900), 800: (0.378, -0.045, -0.943),
}  # fmt: skip


@cache
def aircraft(center):
    return f16(center)


@pytest.mark.parametrize("center", [0.30, *(pytest.param(k, marks=pytest.mark.sweep) for k in (0.35, 0.38))])
def test_the_trim_of_the_book_by_centre_of_gravity(center):
    found = flight.trim(*aircraft(center), SPEED)
    alpha, throttle, elevator = TRIM[center]
    assert found.success
    assert found.alpha == pytest.approx(alpha, abs=6e-6)
    assert found.u[3] == pytest.approx(throttle, abs=6e-5)
    assert np.degrees(found.u[0]) == pytest.approx(elevator, abs=6e-4)
    assert np.abs(found.u[1:3]).max() < 1e-9


@pytest.mark.sweep
def test_the_trim_of_the_book_by_airspeed():
    """From stall to 800 ft/s, to the digits that are printed: a checksum of C_X, C_Z, C_m and of the thrust."""
    found = [flight.trim(*aircraft(0.35), speed * FOOT) for speed in BY_SPEED]
    assert all(each.success for each in found)
    for each, (throttle, alpha, elevator) in zip(found, BY_SPEED.values(), strict=True):
        assert each.u[3] == pytest.approx(throttle, abs=6e-4)
        assert np.degrees(each.alpha) == pytest.approx(alpha, rel=5e-3, abs=5e-4)
        assert np.degrees(each.u[0]) == pytest.approx(elevator, rel=3e-3, abs=5e-4)


def test_a_turn_of_the_book():
    """ψ̇ = 0.3 rad/s, with the sideslip of the book's coordinated turn: bank, pitch, rates, throttle, surfaces."""
    found = flight.trim(*aircraft(0.30), SPEED, turn_rate=0.3, sideslip=4.8e-4)
    assert found.success
    assert (found.alpha, found.phi, found.theta) == pytest.approx((0.2485, 1.367, 0.05185), rel=3e-4)
    assert found.x[9:] == pytest.approx([-0.01555, 0.2934, 0.06071], rel=3e-4)
    assert found.u[3] == pytest.approx(0.8499, abs=6e-5)
    assert np.degrees(found.u[:3]) == pytest.approx([-6.256, 0.09891, -0.4218], abs=3e-4)


@pytest.mark.sweep
def test_longitudinal_modes_of_the_book():
    robot, craft = aircraft(0.30)
    found = flight.modes(flight.linearize(robot, craft, flight.trim(robot, craft, SPEED)))
    assert found["short period"].eigenvalue == pytest.approx(-1.2039 + 1.4922j, rel=2e-4)
    assert found["phugoid"].eigenvalue == pytest.approx(-0.0087005 + 0.073993j, rel=1e-3)


@pytest.mark.sweep
def test_the_lateral_model_of_the_book():
    """Example 5.3-1: rows of β, p and r, at 502 ft/s with the centre of gravity at 0.35; relaxed in pitch."""
    robot, craft = aircraft(0.35)
    model = flight.linearize(robot, craft, flight.trim(robot, craft, SPEED))
    A = model.lateral.A
    assert A[0, 0] == pytest.approx(-0.3220, abs=6e-5)
    assert A[1:3, 0] * SPEED == pytest.approx([-30.6492, 8.5396], rel=5e-4)
    assert A[1, 1:3] == pytest.approx([-3.6784, 0.6646], rel=5e-4)
    assert A[2, 1:3] == pytest.approx([-0.0254, -0.4764], rel=5e-4)
    found = flight.modes(model)
    assert found["dutch roll"].eigenvalue == pytest.approx(-0.4224 + 3.063j, rel=2e-3)
    assert found["roll"].eigenvalue == pytest.approx(-3.616, rel=1e-3)
    assert set(found) == {"third oscillation", "pitch 1", "pitch 2", "dutch roll", "roll", "spiral"}
    assert not found["pitch 2"].is_stable
