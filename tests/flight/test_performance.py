import numpy as np
import pytest

import kinetree as kt
from flying import load
from kinetree import flight

GLIDER = flight.Performance(drag=0.02, induced=0.05, area=10.0, weight=5000.0, max_lift=1.5)


def test_the_best_glide_and_the_minimum_sink_in_closed_form():
    best = GLIDER.best_glide()
    assert best.glide_ratio == pytest.approx(1.0 / (2.0 * np.sqrt(0.05 * 0.02)))
    lifts = np.linspace(0.1, 1.5, 20001)
    ratio = lifts / (0.02 + 0.05 * lifts**2)
    assert best.lift == pytest.approx(lifts[np.argmax(ratio)], abs=1e-3)
    assert GLIDER.glide_angle(best.lift) == pytest.approx(np.arctan(1.0 / best.glide_ratio))
    sink = GLIDER.power(GLIDER.speed(lifts)) / 5000.0
    assert GLIDER.minimum_sink().lift == pytest.approx(lifts[np.argmin(sink)], abs=1e-3)
    assert GLIDER.minimum_sink().speed == pytest.approx(best.speed * 3.0**-0.25)
    assert GLIDER.fastest_range().speed == pytest.approx(best.speed * 3.0**0.25)
    carry = np.sqrt(lifts) / (0.02 + 0.05 * lifts**2)
    assert GLIDER.fastest_range().lift == pytest.approx(lifts[np.argmax(carry)], abs=1e-3)


def test_power_is_drag_times_speed():
    V = 30.0
    C_L = 5000.0 / (0.5 * 1.225 * V**2 * 10.0)
    drag = 0.5 * 1.225 * V**2 * 10.0 * (0.02 + 0.05 * C_L**2)
    assert GLIDER.power(V) == pytest.approx(drag * V)
    assert GLIDER.climb_rate(50000.0, V) == pytest.approx((50000.0 - drag * V) / 5000.0)


def test_range_endurance_turn_and_stall():
    assert GLIDER.electric_range(1e6, 0.6) == pytest.approx(0.6 * 1e6 * GLIDER.best_glide().glide_ratio / 5000.0)
    least = GLIDER.power(GLIDER.minimum_sink().speed)
    assert GLIDER.electric_endurance(1e6, 0.6) == pytest.approx(0.6e6 / least)
    assert GLIDER.breguet_range(2500.0, 1e-6, 0.8) == pytest.approx(0.8e6 * GLIDER.best_glide().glide_ratio * np.log(2))
    radius, rate, load_factor = GLIDER.turn(40.0, np.radians(60.0))
    assert load_factor == pytest.approx(2.0) and radius * rate == pytest.approx(40.0)
    assert radius == pytest.approx(1600.0 / (9.80665 * np.sqrt(3.0)))
    for call in (lambda: GLIDER.turn(0.0, 0.5), lambda: GLIDER.breguet_range(1.0, 0.0, 0.8)):
        with pytest.raises(kt.ArgumentError, match="expected a positive number"):
            call()
    assert GLIDER.stall_speed(load=4.0) == pytest.approx(2.0 * GLIDER.stall_speed())


def test_the_ceiling_is_where_the_climb_ends():
    """P ρ/ρ₀ = P_min √(ρ₀/ρ): a density ratio of (P_min/P)^(2/3)."""
    least = GLIDER.power(GLIDER.minimum_sink().speed)
    height = GLIDER.ceiling(2.0 * least)
    assert flight.standard_atmosphere(height).density / 1.225 == pytest.approx(0.5 ** (2 / 3), rel=1e-3)
    assert GLIDER.ceiling(2.0 * least, rate=0.5) < height
    with pytest.raises(kt.ArgumentError, match="power is"):
        GLIDER.ceiling(0.5 * least)


def test_it_is_found_from_trimmed_flights():
    robot, craft = load("fixed_wing")
    found = flight.Performance.of(robot, craft, np.linspace(20.0, 32.0, 5))
    assert found.drag == pytest.approx(0.043, abs=3e-3)
    assert found.induced == pytest.approx(1.0 / (np.pi * 0.9 * 2.8956**2 / 0.55), rel=0.2)
    assert found.weight == pytest.approx(11.0 * 9.81)
    with pytest.raises(kt.ArgumentError, match="have a level flight"):
        flight.Performance.of(robot, craft, [5.0, 6.0, 7.0])
