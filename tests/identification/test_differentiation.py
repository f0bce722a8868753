"""Velocities and accelerations of recorded positions beside their formulas; nothing is delayed."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.identification.differentiation import automatic_cutoff, completed, differences, evenly_sampled
from kinetree.identification.recording import Measurements, read_recording
from recorded_motions import waves

pytest.importorskip("scipy")
ARM = kt.load("planar2")


def recorded(seed=0, rate=500.0, **changes):
    t, q, v, a = waves(ARM, rate=rate, seed=seed)
    return Measurements(**{"t": t, "q": q, "v": None, "a": None, "tau": np.zeros_like(q)} | changes), v, a


def test_filtered_derivatives_are_those_of_the_motion():
    measured, v, a = recorded()
    whole, cutoff = completed(ARM, measured)
    inside = np.searchsorted(measured.t, whole.t)
    assert cutoff == pytest.approx(100.0) and len(whole) > 0.9 * len(measured)
    assert np.abs(whole.v - v[inside]).max() < 2e-3 * np.abs(v).max()
    assert np.abs(whole.a - a[inside]).max() < 1e-2 * np.abs(a).max()
    with_v, _ = completed(ARM, Measurements(measured.t, measured.q, v, None, measured.tau))
    assert np.abs(with_v.a - a[np.searchsorted(measured.t, with_v.t)]).max() < 1e-2 * np.abs(a).max()


def test_steps_of_an_encoder_are_smoothed_without_delay():
    measured, _, a = recorded(rate=1000.0)
    step = 2e-4
    coarse = Measurements(measured.t, step * np.round(measured.q / step), None, None, measured.tau)
    whole, _ = completed(ARM, coarse)
    inside = np.searchsorted(measured.t, whole.t)
    errors = [np.sqrt(np.mean((whole.a[5:-5] - a[inside + lag][5:-5]) ** 2)) for lag in (-5, 0, 5)]
    assert errors[1] < 0.02 * np.sqrt(np.mean(a**2)) and errors[1] < min(errors[0], errors[2])


def test_accelerations_that_were_measured_stay_as_they_are():
    measured, v, a = recorded(v=1.0, a=1.0)
    given = Measurements(measured.t, measured.q, v, a, measured.tau)
    whole, cutoff = completed(ARM, given)
    assert cutoff is None and whole is given
    smooth, cutoff = completed(ARM, given, 20.0)
    assert cutoff == 20.0 and np.allclose(smooth.a, a[np.searchsorted(measured.t, smooth.t)], atol=1e-2)


def test_uneven_times_are_made_even():
    measured, v, _ = recorded()
    rng = np.random.default_rng(0)
    kept = np.sort(rng.permutation(len(measured))[: len(measured) * 9 // 10])
    uneven = Measurements(measured.t[kept], measured.q[kept], None, None, measured.tau[kept])
    even = evenly_sampled(ARM, uneven)
    assert np.allclose(np.diff(even.t), 1 / 500) and evenly_sampled(ARM, measured) is measured
    whole, _ = completed(ARM, uneven)
    near = np.stack([np.interp(whole.t, measured.t, column) for column in v.T], axis=1)
    assert np.abs(whole.v - near).max() < 0.02 * np.abs(v).max()


def test_a_floating_base_is_differenced_on_its_own_space():
    robot = kt.load("quadruped", "floating")
    v = np.linspace(-1.0, 1.0, robot.nv)
    t = 1e-3 * np.arange(50)
    q = np.stack([robot.integrate(robot.neutral(), v * x) for x in t])
    (measured,) = read_recording(robot, {"t": t, "q": q, "tau": np.zeros((50, 12))})
    assert np.allclose(differences(robot, measured), v, atol=1e-9)
    whole, _ = completed(robot, measured)
    assert np.allclose(np.linalg.norm(whole.q[:, 3:7], axis=1), 1.0) and np.allclose(whole.v, v, atol=1e-6)


def test_cutoffs():
    measured, v, a = recorded()
    rng = np.random.default_rng(0)
    cutoffs, size = [], np.sqrt(np.mean(a**2))
    for noise in (1e-6, 1e-5, 1e-4, 1e-2):
        coarse = Measurements(measured.t, measured.q + noise * rng.normal(size=v.shape), None, None, measured.tau)
        cutoffs.append(automatic_cutoff(ARM, coarse))
        whole, _ = completed(ARM, coarse)
        errors = whole.a - a[np.searchsorted(measured.t, whole.t)]
        assert noise > 1e-4 or np.sqrt(np.mean(errors**2)) < 0.03 * size
    assert np.all(np.diff(cutoffs) < 0.0) and cutoffs[-1] > 1.0, (
        "less noise, more of the motion; never less than the motion"
    )
    still = Measurements(measured.t, np.zeros_like(measured.q), None, None, measured.tau)
    assert automatic_cutoff(ARM, still) == pytest.approx(50.0)
    with pytest.raises(kt.ArgumentError, match="cutoff is 300 Hz; expected less than half the sampling rate of 500 Hz"):
        completed(ARM, measured, 300.0)
