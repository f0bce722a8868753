"""A whole aircraft as one part; its formulas are beside the book's in test_aerospace.py."""

import numpy as np
import pytest

import kinetree as kt
from flying import load
from kinetree import flight
from kinetree.flight.part import Airflow


def felt(velocity, rate=(0, 0, 0)):
    return Airflow(np.array(velocity, dtype=float), np.array(rate, dtype=float), 1.2682, 100.0)


def test_standing_in_still_air_it_feels_nothing():
    _, craft = load("fixed_wing")
    force = craft.parts[0].force(felt((0, 0, 0), (1.0, 1.0, 1.0)), np.full(3, 0.1))
    assert np.array_equal(force.vector(), np.zeros(6))


def test_air_data():
    _, craft = load("fixed_wing")
    data = craft.parts[0].data(felt((20.0, 3.0, 2.0), (0.1, 0.2, 0.3)))
    V = np.linalg.norm([20.0, 3.0, 2.0])
    assert data.speed == pytest.approx(V) and data.alpha == pytest.approx(np.arctan2(2.0, 20.0))
    assert data.beta == pytest.approx(np.arcsin(3.0 / V))
    assert np.allclose(data.rates, np.array([0.1 * 2.8956, 0.2 * 0.18994, 0.3 * 2.8956]) / (2 * V))


def test_left_and_right_are_alike():
    _, craft = load("fixed_wing")
    part = craft.parts[0]
    one = part.force(felt((20, 3, 2), (0.1, 0.2, 0.3)), np.array([0.1, 0.05, -0.02])).vector()
    other = part.force(felt((20, -3, 2), (-0.1, 0.2, -0.3)), np.array([0.1, -0.05, 0.02])).vector()
    assert np.allclose(one * [1, -1, 1, -1, 1, -1], other)


def test_what_is_no_airframe_is_refused():
    with pytest.raises(kt.ArgumentTypeError, match="coefficients is 3"):
        flight.Airframe("aero", 1.0, 1.0, 1.0, 3)
    with pytest.raises(kt.ArgumentError, match="lift has shape"):
        flight.StabilityDerivatives((1, 2), (0,) * 3, (0,) * 4, (0,) * 6, (0,) * 6, (0,) * 6, 8.0)
