"""The F-16 of Stevens and Lewis: trim and modes as their book has them, from the same tables."""

from functools import cache

import numpy as np
import pytest

from f16 import FOOT, f16
from kinetree import flight

AT_300_PSF = np.sqrt(2 * 300.0 / 2.377e-3) * FOOT
# centre of gravity: α [rad], throttle, elevator [deg]; level at sea level and 300 psf
TRIM = {0.35: (0.03691, 0.1385, -0.7588), 0.30: (0.03936, 0.1485, -1.931), 0.38: (0.03544, 0.1325, -0.0559)}


@cache
def aircraft(center):
    return f16(center)


@pytest.mark.parametrize("center", [0.30, *(pytest.param(k, marks=pytest.mark.sweep) for k in (0.35, 0.38))])
def test_the_trim_table_of_the_book(center):
    found = flight.trim(*aircraft(center), AT_300_PSF)
    alpha, throttle, elevator = TRIM[center]
    assert found.success
    assert found.alpha == pytest.approx(alpha, rel=1e-3)
    assert found.u[3] == pytest.approx(throttle, abs=4e-4)
    assert np.degrees(found.u[0]) == pytest.approx(elevator, abs=4e-3)
    assert np.abs(found.u[1:3]).max() < 1e-9


def test_a_turn_of_the_book():
    """ψ̇ = 0.3 rad/s, with the sideslip of the book's coordinated turn: bank, pitch, rates, throttle, surfaces."""
    found = flight.trim(*aircraft(0.30), AT_300_PSF, turn_rate=0.3, sideslip=4.8e-4)
    assert found.success
    assert (found.alpha, found.phi, found.theta) == pytest.approx((0.2485, 1.367, 0.05185), rel=2e-3)
    assert found.x[9:] == pytest.approx([-0.01555, 0.2934, 0.06071], rel=2e-3)
    assert found.u[3] == pytest.approx(0.8499, abs=1e-4)
    assert np.degrees(found.u[:3]) == pytest.approx([-6.256, 0.09891, -0.4218], abs=7e-3)


@pytest.mark.sweep
def test_longitudinal_modes_of_the_book():
    robot, craft = aircraft(0.30)
    found = flight.modes(flight.linearize(robot, craft, flight.trim(robot, craft, AT_300_PSF)))
    assert found["short period"].eigenvalue == pytest.approx(-1.2039 + 1.4922j, rel=2e-3)
    assert found["phugoid"].eigenvalue == pytest.approx(-0.0087005 + 0.073993j, rel=2e-3)


@pytest.mark.sweep
def test_the_lateral_model_of_the_book():
    """Example 5.3-1: rows of β, p and r, at 502 ft/s with the centre of gravity at 0.35; relaxed in pitch."""
    robot, craft = aircraft(0.35)
    V = 502.0 * FOOT
    model = flight.linearize(robot, craft, flight.trim(robot, craft, V))
    A = model.lateral.A
    assert A[0, 0] == pytest.approx(-0.3220, rel=1e-3)
    assert A[1:3, 0] * V == pytest.approx([-30.6492, 8.5396], rel=3e-3)
    assert A[1, 1:3] == pytest.approx([-3.6784, 0.6646], rel=1e-3)
    assert A[2, 1:3] == pytest.approx([-0.0254, -0.4764], rel=5e-3)
    found = flight.modes(model)
    assert found["dutch roll"].eigenvalue == pytest.approx(-0.4224 + 3.063j, rel=2e-3)
    assert found["roll"].eigenvalue == pytest.approx(-3.616, rel=1e-3)
    assert set(found) == {"third oscillation", "pitch 1", "pitch 2", "dutch roll", "roll", "spiral"}
    assert not found["pitch 2"].is_stable
