"""What a result tells: errors, intervals, names, a report."""

import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.identification.result import _quantile
from recorded_motions import exact

ARM = kt.load("planar2")
RESULT = kt.identification.identify(ARM, exact(ARM, noise=0.1))


def test_intervals_hold_the_estimate_and_grow_with_the_level():
    low, high = RESULT.intervals().T
    wide = np.diff(RESULT.intervals(0.99), axis=1)[:, 0]
    assert np.all(low < RESULT.base_parameters) and np.all(RESULT.base_parameters < high)
    assert np.all(wide > 1.25 * (high - low))
    with pytest.raises(kt.ArgumentError, match="level is 95; expected a number between 0 and 1"):
        RESULT.intervals(95)


def test_errors_of_single_parameters_are_finite_where_they_are_seen_by_themselves():
    errors = dict(zip(RESULT.names, RESULT.standard_errors, strict=True))
    assert np.isinf(errors["upper_arm_link.mass"])
    joint = ARM.joint_names[1]
    place = RESULT.base.describe().index(f"{joint}.friction")
    assert errors[f"{joint}.friction"] == RESULT.base_standard_errors[place]


def test_quantiles_of_students_distribution():
    stats = pytest.importorskip("scipy.stats")
    for n in (10, 40, 1000):
        assert _quantile(0.975, n) == pytest.approx(stats.t.ppf(0.975, n), rel=2e-3)


def test_a_report():
    text = RESULT.report()
    assert text.splitlines()[0] == f"planar2: {RESULT.samples} samples, weighted least squares"
    for words in (*ARM.joint_names, "condition number", "std. err.", "forearm_link.Iyy"):
        assert words in text
    assert repr(RESULT) == f"<identification of 'planar2': 10 of 10 base parameters from {RESULT.samples} samples>"


def test_residuals_are_those_of_the_noise():
    assert np.allclose(RESULT.residuals, 0.1, rtol=0.1)
    assert RESULT.shown.t.shape[0] <= 2000 and RESULT.shown.measured.shape == RESULT.shown.fitted.shape
    assert np.std(RESULT.shown.measured - RESULT.shown.fitted) == pytest.approx(0.1, rel=0.1)


def test_it_can_be_pickled():
    again = pickle.loads(pickle.dumps(RESULT))
    assert np.array_equal(again.parameters, RESULT.parameters) and again.robot == RESULT.robot


def test_shapes_of_predictions():
    q, v, a = np.zeros(2), np.ones(2), np.ones(2)
    assert RESULT.predict(q, v, a).shape == (2,)
    assert RESULT.predict(np.zeros((5, 2)), v, a).shape == (5, 2)
    with pytest.raises(kt.ArgumentError, match=r"q has shape \(3,\)"):
        RESULT.predict(np.zeros(3), v, a)
