"""Consistent estimates: what the data say where they say something, the prior elsewhere, and bodies that can be."""

import numpy as np
import pytest

import kinetree as kt
from kinetree.identification.consistent import (
    Problem,
    _derivatives,
    _value,
    definite_priors,
    entropic,
    parameters_of,
    pseudo_inertias,
)


def box(mass=2.0):
    return kt.solids.box((0.1, 0.2, 0.3), mass=mass).shifted((0.05, 0.0, 0.1)).parameters()


def problem(G, target, prior=None, spread=1.0, scalars=0, known=0.0):
    """The estimate `target` with information G, about one body and some friction."""
    prior = box() if prior is None else prior
    before = np.concatenate([prior, np.full(scalars, known)])
    J0 = definite_priors(before[:10].reshape(1, 10))
    signs = np.array([False] * 10 + [True] * scalars)
    n = len(signs)
    start = np.concatenate([parameters_of(J0).ravel(), before[10:]])
    return Problem(np.eye(n), np.arange(n), G, target, J0, start, signs, spread)


def test_parameters_and_pseudo_inertias():
    phi = np.stack([box(), box(5.0)])
    assert np.allclose(parameters_of(pseudo_inertias(phi)), phi)
    assert np.allclose(pseudo_inertias(phi)[0], kt.Inertia.from_parameters(phi[0]).pseudo_inertia())


def test_without_data_it_is_the_prior():
    assert np.allclose(entropic(problem(np.zeros((10, 10)), np.zeros(10))), box(), rtol=1e-4, atol=1e-8)


def test_with_much_data_it_is_the_estimate():
    truth = box(3.0)
    assert np.allclose(entropic(problem(1e11 * np.eye(10), truth)), truth, rtol=1e-6, atol=1e-8)


def test_an_estimate_that_no_body_has_goes_to_one_that_can_be():
    wrong = box()
    wrong[4] = -0.01  # Ixx
    found = entropic(problem(1e6 * np.eye(10), wrong, spread=1e3))
    inertia = kt.Inertia.from_parameters(found)
    assert inertia.is_consistent() and not kt.Inertia.from_parameters(wrong).is_consistent()
    assert abs(found[0] - wrong[0]) < 0.05 * wrong[0], "what was possible stays"


def test_friction_is_positive():
    G = 1e4 * np.eye(12)
    target = np.concatenate([box(), [0.5, -0.3]])
    found = entropic(problem(G, target, scalars=2))
    assert found[10] == pytest.approx(0.5, abs=1e-4) and 0.0 < found[11] < 0.01
    pulled = entropic(problem(np.zeros((12, 12)), target, scalars=2, known=0.7))
    assert np.allclose(pulled[10:], 0.7, rtol=1e-4)


def test_derivatives_are_those_of_the_value():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(11, 11))
    case = problem(A @ A.T, np.concatenate([box(3.0), [0.2]]), scalars=1, known=0.4)
    theta = np.concatenate([1.1 * box(2.5), [0.3]])
    gradient, H = _derivatives(case, theta, 0.7)
    steps = 1e-6 * np.eye(11)
    finite = [(_value(case, theta + h, 0.7) - _value(case, theta - h, 0.7)) / 2e-6 for h in steps]
    assert np.allclose(gradient, finite, rtol=1e-4, atol=1e-4)
    slopes = [(_derivatives(case, theta + h, 0.7)[0] - _derivatives(case, theta - h, 0.7)[0]) / 2e-6 for h in steps]
    assert np.allclose(H, slopes, rtol=1e-4, atol=1e-4 * np.abs(H).max())
    assert _value(case, -theta, 0.7) == np.inf


def test_the_metric_is_the_same_in_other_frames():
    """Its value for a change of the body does not depend on where the origin is (the point of it)."""
    X = kt.Transform.from_pose(kt.se3.exp([0.1, -0.2, 0.3, 0.4, 0.5, -0.6])).transpose()
    one, two = kt.Inertia.from_parameters(box()), kt.Inertia.from_parameters(box(3.0))
    values = []
    for a, b in ((one, two), (X * one, X * two)):
        case = problem(np.zeros((10, 10)), np.zeros(10), prior=a.parameters())
        change = b.parameters() - a.parameters()
        values.append(change @ case.metric() @ change)
    assert values[0] == pytest.approx(values[1], rel=1e-6)


@pytest.mark.parametrize(
    "phi",
    [np.zeros(10), np.array([1.0, *np.zeros(9)]), np.array([1.0, 0, 0, 0, 1.0, 0, 0, 0, 0, 0]), -box()],
    ids=["massless", "a point", "impossible", "negative"],
)
def test_priors_that_no_body_has_are_made_definite(phi):
    (J,) = definite_priors(phi[None])
    assert np.linalg.eigvalsh(J)[0] > 0.0
    assert np.isfinite(entropic(problem(1e3 * np.eye(10), box(), prior=phi))).all()
