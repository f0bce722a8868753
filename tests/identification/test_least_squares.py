"""Sums over chunks give what NumPy's least squares give on the whole matrix; weights, outliers, correlated noise."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.identification import least_squares
from kinetree.identification.least_squares import Samples, block_length, covariance, estimate, solve
from kinetree.identification.recording import read_recording
from kinetree.identification.unknowns import Unknowns
from recorded_motions import exact

ARM = kt.load("planar2")
TERMS = ("damping", "friction")


def samples_of(noise=0.1, recordings=None, **options):
    unknowns = Unknowns.of(ARM, None, TERMS, 0.1)
    given = recordings or [exact(ARM, noise=noise, seed=seed) for seed in (0, 1)]
    return Samples(unknowns, read_recording(ARM, given), **options)


def whole(samples):
    """Y_b and torques, stacked."""
    parts = [
        (samples.base.columns(samples.unknowns.whole(each.q, each.v, each.a)), each.tau) for each in samples.recordings
    ]
    return (np.concatenate([part[k] for part in parts]) for k in (0, 1))


def test_chunks_are_the_whole(monkeypatch):
    monkeypatch.setattr(least_squares, "CHUNK", 97)
    samples = samples_of()
    Y, tau = whole(samples)
    expected, *_ = np.linalg.lstsq(Y.reshape(-1, Y.shape[-1]), tau.ravel(), rcond=None)
    found = estimate(samples, "ordinary")
    assert np.allclose(found.beta, expected, rtol=1e-6, atol=1e-8)
    assert np.allclose(samples.residuals(found.beta), tau - Y @ expected, atol=1e-7)
    assert found.condition == pytest.approx(
        np.linalg.cond(Y.reshape(-1, Y.shape[-1]) / np.linalg.norm(Y, axis=(0, 1))), rel=1e-3
    )


def test_weights_are_those_of_the_noise():
    recording = exact(ARM)
    rng = np.random.default_rng(3)
    recording["tau"] = recording["tau"] + rng.normal(size=recording["tau"].shape) * [1.0, 0.01]
    found = estimate(samples_of(recordings=[recording]))
    assert np.allclose(found.sigma, [1.0, 0.01], rtol=0.1)
    assert np.allclose(found.weights, found.sigma**-2, rtol=0.05)


def test_outliers_do_not_spoil_the_robust_estimate():
    recording = exact(ARM, noise=0.05)
    rng = np.random.default_rng(4)
    wild = rng.random(recording["tau"].shape) < 0.05
    recording["tau"] = recording["tau"] + wild * rng.normal(5.0, 20.0, size=wild.shape)
    samples = samples_of(recordings=[recording], min_speed=0.01)
    truth = samples.base.of(samples.unknowns.active)
    weighted, robust = (np.abs(estimate(samples, method).beta - truth) for method in ("weighted", "huber"))
    assert robust.max() < 0.1 * weighted.max() and robust.max() < 0.05


def test_slow_samples_do_not_count():
    samples = samples_of(min_speed=0.2)
    slow = np.concatenate([np.abs(each.v) < 0.2 for each in samples.recordings])
    assert np.array_equal(samples.sums().count, (~slow).sum(axis=0)) and slow.any()
    with pytest.raises(kt.ArgumentError, match="no sample is faster than min_speed, 100"):
        estimate(samples_of(min_speed=100.0))


@pytest.mark.parametrize("correlated", [False, True])
def test_standard_errors_are_those_of_repeated_experiments(correlated):
    rng = np.random.default_rng(5)
    clean = exact(ARM, duration=16.0)
    found, errors = [], []
    for _ in range(60):
        noise = rng.normal(size=clean["tau"].shape)
        if correlated:
            noise = np.stack([np.convolve(column, np.ones(8) / 8.0, "same") for column in noise.T], axis=1)
        samples = samples_of(recordings=[clean | {"tau": clean["tau"] + 0.3 * noise}])
        result = estimate(samples)
        C, blocks = covariance(samples, result)
        found.append(result.beta)
        errors.append(np.sqrt(np.diag(C)))
    spread = np.std(found, axis=0)
    assert blocks >= 40
    assert np.all(np.abs(np.log(np.mean(errors, axis=0) / spread)) < 0.35), "60 draws tell a spread to some 9 %"


def test_what_no_sample_excites():
    G = np.diag([1.0, 0.0, 4.0])
    assert np.array_equal(solve(G, np.array([1.0, 0.0, 2.0])), [1.0, 0.0, 0.5])
    recording = exact(ARM)
    still = {name: recording[name] * [0.0, 1.0] for name in ("q", "v", "a")}
    samples = samples_of(recordings=[recording | still | {"tau": ARM.inverse_dynamics(*still.values())}])
    result = estimate(samples)
    C, _ = covariance(samples, result)
    damping = samples.base.names.index(f"{ARM.joint_names[0]}.damping")
    assert np.isinf(result.condition) and np.isinf(C.diagonal()[list(samples.base.independent).index(damping)])


def test_blocks_are_longer_than_the_correlation_of_residuals():
    rng = np.random.default_rng(6)
    white = rng.normal(size=(20_000, 2))
    slow = np.stack([np.convolve(x, np.ones(20), "same") for x in white.T], axis=1)
    assert block_length(white, len(white)) <= 40 and 100 <= block_length(slow, len(slow)) <= 500
    assert block_length(white[:50], 50) == 1
