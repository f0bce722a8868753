import numpy as np
import pytest

import kinetree as kt
from kinetree import flight

HERE = np.array([0.0, 0.0, 20.0])


def test_shear_is_a_power_law():
    wind = flight.WindShear((6.0, 0.0, 0.0), reference=10.0, exponent=0.25)
    assert np.allclose(wind.velocity(HERE, 0.0), [6.0 * 2.0**0.25, 0, 0])
    assert np.allclose(wind.velocity(np.array([0, 0, 10.0]), 0.0), [6.0, 0, 0])
    for z in (0.0, -1.0):
        assert np.array_equal(wind.velocity(np.array([0, 0, z]), 0.0), np.zeros(3))


def test_a_gust_rises_in_its_time_and_stays():
    gust = flight.DiscreteGust((0.0, 4.0, 0.0), start=1.0, duration=2.0)
    speeds = [gust.velocity(HERE, t)[1] for t in (0.0, 1.0, 2.0, 3.0, 9.0)]
    assert np.allclose(speeds, [0.0, 0.0, 2.0, 4.0, 4.0])


def test_winds_add_up_and_are_hashable():
    both = flight.Winds((flight.UniformWind((1, 2, 3)), flight.DiscreteGust((1, 0, 0))))
    assert np.allclose(both.velocity(HERE, 5.0), [2, 2, 3])
    assert hash(both) == hash(flight.Winds((flight.UniformWind((1, 2, 3)), flight.DiscreteGust((1, 0, 0)))))


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: flight.UniformWind((1, 2)), "speed has shape"),
        (lambda: flight.UniformWind((1, 2, np.nan)), "speed is"),
        (lambda: flight.DiscreteGust((1, 2, 3), duration=0.0), "duration is 0"),
        (lambda: flight.WindShear((1, 2, 3), reference=-1.0), "reference is -1"),
        (lambda: flight.Air(wind=3.0), "wind is 3"),
    ],
)
def test_what_is_no_wind_is_refused(make, words):
    with pytest.raises(kt.KinetreeError, match=words):
        make()
