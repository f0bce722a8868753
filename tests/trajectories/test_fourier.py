"""Fourier series: their derivatives, shapes, and use inside compiled functions."""

import numpy as np
import pytest

import kinetree as kt

RNG = np.random.default_rng(0)
MOTION = kt.trajectories.Fourier([0.1, 0.2], RNG.normal(size=(3, 2)), RNG.normal(size=(3, 2)), 4.0)


def test_rates_are_those_of_positions():
    t = np.linspace(0.1, 3.9, 50)
    q, v, a = MOTION(t)
    up, down = MOTION(t + 1e-6), MOTION(t - 1e-6)
    assert q.shape == v.shape == a.shape == (50, 2)
    assert np.allclose(v, (up.position - down.position) / 2e-6, atol=1e-6)
    assert np.allclose(a, (up.velocity - down.velocity) / 2e-6, atol=1e-5)
    assert np.allclose(MOTION(0.0).position, MOTION(4.0).position) and MOTION(1.0).position.shape == (2,)
    assert not MOTION(5.0).velocity.any(), "after its end it rests"


def test_inside_a_compiled_function():
    law = kt.compile(lambda t: MOTION(t).acceleration, shapes={"t": ()})
    assert np.allclose(law(1.3), MOTION(1.3).acceleration)


def test_what_is_no_series():
    with pytest.raises(kt.ArgumentError, match=r"sine has shape \(2,\); expected \(harmonics, 2\)"):
        kt.trajectories.Fourier([0.0, 0.0], [1.0, 2.0], [1.0, 2.0], 1.0)
    with pytest.raises(kt.ArgumentError, match=r"cosine has shape \(1, 2\); expected \(2, 2\)"):
        kt.trajectories.Fourier([0.0, 0.0], np.ones((2, 2)), np.ones((1, 2)), 1.0)
    with pytest.raises(kt.ArgumentError, match=r"duration is 0.0; expected a time above zero"):
        kt.trajectories.Fourier([0.0], [[1.0]], [[1.0]], 0.0)
