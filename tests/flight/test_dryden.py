import numpy as np
import pytest

import kinetree as kt
from kinetree.flight import Dryden

TURBULENCE = Dryden((200.0, 150.0, 50.0), (1.06, 0.9, 0.7), airspeed=25.0)


def test_spectra_hold_the_whole_variance():
    omega = np.geomspace(1e-5, 1e4, 20001)
    spectra = TURBULENCE.spectrum(omega)
    total = np.trapezoid(spectra * omega[:, None], np.log(omega), axis=0)
    assert np.allclose(total, np.square(TURBULENCE.intensities), rtol=2e-3)


def test_filters_have_the_autocorrelation_of_the_spectra():
    """R_u = σ² e^(-τ/T), R_v = σ² e^(-τ/T) (1 - τ/2T), of the steps that the filter makes, without random numbers."""
    dt = 0.3
    for k in range(3):
        F, (P, Q), c = TURBULENCE._filter(k, dt)
        T, sigma = TURBULENCE.lengths[k] / TURBULENCE.airspeed, TURBULENCE.intensities[k]
        assert np.linalg.eigvalsh(Q).min() > -1e-12
        power = np.eye(2)
        for n in range(30):
            lag = n * dt / T
            expected = sigma**2 * np.exp(-lag) * (1.0 if k == 0 else 1.0 - 0.5 * lag)
            assert c @ power @ P @ c == pytest.approx(expected, abs=1e-12)
            power = F @ power


def test_series_have_the_variance():
    rng = np.random.default_rng(0)
    series = TURBULENCE.series(rng, 0.05, 400, size=(500,))
    assert series.shape == (500, 400, 3)
    assert np.allclose(series.std(axis=(0, 1)), TURBULENCE.intensities, rtol=0.05)
    assert abs(series.mean()) < 0.05
    assert TURBULENCE.series(rng, 0.05, 0).shape == (0, 3) and TURBULENCE.series(7, 0.05, 2, size=3).shape == (3, 2, 3)


def test_series_have_the_spectrum():
    """The mean periodogram of many series beside the closed form, between a twentieth and five times V/L."""
    steps, dt = 4096, 0.05
    series = TURBULENCE.series(np.random.default_rng(2), dt, steps, size=100)
    window = np.hanning(steps)[:, None]
    power = (
        2.0 * dt * (np.abs(np.fft.rfft(series * window, axis=1)) ** 2).mean(axis=0) / (window**2).sum() / (2 * np.pi)
    )
    omega = 2 * np.pi * np.fft.rfftfreq(steps, dt)
    for k, length in enumerate(TURBULENCE.lengths):
        inside = (omega > 0.05 * 25.0 / length) & (omega < 5.0 * 25.0 / length)
        ratio = power[inside, k] / TURBULENCE.spectrum(omega[inside])[:, k]
        assert ratio.mean() == pytest.approx(1.0, abs=0.05) and ratio.std() < 0.2


def test_waves_have_the_variance_and_turn_with_the_heading():
    waves = TURBULENCE.gusts(np.random.default_rng(1), 60)
    squares = [sum(0.5 * amplitude**2 for _, amplitude, _ in axis) for axis in waves.waves]
    assert np.allclose(np.sqrt(squares), TURBULENCE.intensities, rtol=0.03)
    turned = type(waves)(waves.waves, np.pi / 2)
    u, v, w = waves.velocity(np.zeros(3), 3.7)
    assert np.allclose(turned.velocity(np.zeros(3), 3.7), [-v, u, w])


def test_the_low_altitude_model_of_the_standard():
    model = Dryden.low_altitude(0.3048 * 200.0, wind=10.0, airspeed=25.0)
    base = 0.177 + 0.000823 * 200.0
    assert model.lengths[2] == pytest.approx(0.3048 * 200.0)
    assert model.lengths[0] == pytest.approx(0.3048 * 200.0 / base**1.2)
    assert model.intensities == pytest.approx((1.0 / base**0.4, 1.0 / base**0.4, 1.0))
    with pytest.raises(kt.ArgumentError, match="height is 1000 m"):
        Dryden.low_altitude(1000.0, 10.0, 25.0)
    with pytest.raises(kt.ArgumentError, match="lengths"):
        Dryden((0, 1, 1), (1, 1, 1), 10.0)
