"""The semidefinite program beside Newton's method, which shares no line with it."""

from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from kinetree.identification.consistent import Problem, definite_priors, entropic, parameters_of
from kinetree.identification.semidefinite import pullback

pytest.importorskip("clarabel")


def bodies(rng, count):
    return np.array([kt.random_model(rng, 1).inertias[-1].parameters() for _ in range(count)])


def case(rng, spread, rank=None, target=None):
    prior = bodies(rng, 2).ravel()
    J0 = definite_priors(prior.reshape(-1, 10))
    prior = np.concatenate([parameters_of(J0).ravel(), [0.2, 0.0]])
    A = rng.normal(size=(rank or 22, 22))
    target = np.concatenate([bodies(rng, 2).ravel(), [0.5, 0.3]]) if target is None else target
    G = 1e6 * A.T @ A
    signs = np.array([False] * 20 + [True] * 2)
    return Problem(np.eye(22), np.arange(22), G, target, J0, prior, signs, spread)


def test_with_data_for_all_both_are_the_estimate():
    rng = np.random.default_rng(0)
    target = np.concatenate([bodies(rng, 2).ravel(), [0.5, 0.3]])
    given = case(rng, 1e3, target=target)
    for method in (entropic, pullback):
        assert np.allclose(method(given), target, rtol=1e-4, atol=1e-5)


def test_where_data_want_what_no_body_has_both_give_the_nearest_that_can_be():
    """With next to no prior the minimum in the data's metric is the same."""
    rng = np.random.default_rng(1)
    target = np.concatenate([bodies(rng, 2).ravel(), [-0.4, 0.3]])
    target[[4, 6, 9]] *= [0.05, 1.0, 1.0]  # beyond the triangle inequality
    given = case(rng, 1e3, target=target)
    first, second = entropic(given), pullback(given)
    costs = [(x - target) @ given.G @ (x - target) for x in (first, second)]
    assert costs[0] == pytest.approx(costs[1], rel=1e-6)
    assert np.abs(first - second).max() < 1e-2 * np.abs(target).max()
    for found in (first, second):
        assert all(kt.Inertia.from_parameters(phi).is_consistent() for phi in found[:20].reshape(2, 10))
        assert found[20] > -1e-9
    assert not kt.Inertia.from_parameters(target[:10]).is_consistent()


def test_where_data_say_nothing_it_is_the_prior():
    rng = np.random.default_rng(2)
    given = case(rng, 1.0)
    nothing = replace(given, G=np.zeros_like(given.G))
    assert np.allclose(pullback(nothing)[:21], given.prior[:21], rtol=1e-5, atol=1e-7)
