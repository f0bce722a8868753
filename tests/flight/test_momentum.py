import numpy as np
import pytest

from kinetree import flight


def test_hover_of_a_disc():
    """The example every helicopter book begins with: v_h = √(T/2ρA), P = T v_h."""
    area = np.pi * 8.0**2
    assert flight.hover_velocity(80000.0, 1.225, area) == pytest.approx(np.sqrt(80000.0 / (2 * 1.225 * 64 * np.pi)))
    assert flight.hover_power(80000.0, 1.225, area) == pytest.approx(80000.0**1.5 / np.sqrt(2 * 1.225 * 64 * np.pi))
    ideal = flight.hover_power(100.0, 1.225, 1.0)
    assert flight.figure_of_merit(100.0, ideal / 0.7 / 50.0, 50.0, 1.225, 1.0) == pytest.approx(0.7)


def test_axial_flight_conserves_momentum():
    """T = 2ρA (V + v) v in climb, T = -2ρA (V + v) v in the windmill state: v(V + v) = ±v_h²."""
    for climb in (0.0, 1.0, 5.0, 30.0):
        v = flight.axial_velocity(climb, 4.0)
        assert v * (climb + v) == pytest.approx(16.0)
    for climb in (-8.0, -9.0, -40.0):
        v = flight.axial_velocity(climb, 4.0)
        assert -v * (climb + v) == pytest.approx(16.0)
    assert flight.axial_velocity(-1e-9, 4.0) == pytest.approx(4.0)  # no step at hover
    assert flight.axial_velocity(-8.0 + 1e-9, 4.0) == pytest.approx(flight.axial_velocity(-8.0, 4.0), rel=0.03)
    ring = flight.axial_velocity(np.array([-6.0, -4.0, -2.0]), 4.0)
    assert (ring > 4.0).all() and (ring < 9.0).all()


def test_without_thrust_nothing_is_induced():
    climbs = np.array([-3.0, 0.0, 3.0])
    assert np.array_equal(flight.axial_velocity(climbs, 0.0), np.zeros(3)) and flight.axial_velocity(2.0, 0.0) == 0.0
    assert np.array_equal(flight.forward_velocity(np.array([0.0, 5.0, 5.0]), climbs, 0.0), np.zeros(3))


def test_forward_flight_of_glauert():
    for along in (0.0, 1.0, 4.0, 20.0, 60.0):
        for climb in (-2.0, 0.0, 3.0):
            v = flight.forward_velocity(along, climb, 4.0)
            assert v * np.hypot(along, climb + v) == pytest.approx(16.0, rel=1e-9)
    fast = flight.forward_velocity(60.0, 0.0, 4.0)
    assert fast == pytest.approx(16.0 / 60.0, rel=1e-4)  # v_h²/V
    assert flight.forward_velocity(0.0, 2.0, 4.0) == pytest.approx(flight.axial_velocity(2.0, 4.0))
