import numpy as np
import pytest

import kinetree as kt
from kinetree.flight import standard_atmosphere

# geopotential height [m], temperature [K], pressure [Pa], density [kg/m³]: ISO 2533
TABLE = [
    (0.0, 288.15, 101325.0, 1.225),
    (1000.0, 281.65, 89874.6, 1.11164),
    (5000.0, 255.65, 54019.9, 0.736116),
    (11000.0, 216.65, 22632.1, 0.363918),
    (15000.0, 216.65, 12044.6, 0.193674),
    (20000.0, 216.65, 5474.89, 0.0880349),
]


@pytest.mark.parametrize("height, temperature, pressure, density", TABLE)
def test_the_published_table(height, temperature, pressure, density):
    air = standard_atmosphere(height)
    assert air.temperature == pytest.approx(temperature, rel=1e-9)
    assert air.pressure == pytest.approx(pressure, rel=2e-5)
    assert air.density == pytest.approx(density, rel=2e-5)


def test_sound_and_viscosity_at_sea_level():
    air = standard_atmosphere(0.0)
    assert air.speed_of_sound == pytest.approx(340.294, abs=1e-3)
    assert air.viscosity == pytest.approx(1.7894e-5, rel=1e-4)


def test_arrays_and_compiled_functions_agree():
    heights = np.linspace(-500.0, 20000.0, 30)
    law = kt.compile(lambda h: standard_atmosphere(h)._asdict(), shapes={"h": ()})
    compiled, direct = law(heights), standard_atmosphere(heights)
    for name, value in compiled.items():
        assert np.allclose(value, getattr(direct, name), rtol=1e-12)
