"""Summaries: NumPy's numbers, the same bits in any order and partition, and what is left of NaN and infinity."""

from itertools import pairwise

import numpy as np
import pytest

import kinetree as kt
from kinetree.scale.summary import Summary

BLOCK = 16


def in_parts(values, cuts, worst=5, order=None):
    """Summaries of parts, merged in some order, two at a time."""
    bounds = [0, *cuts, len(values)]
    parts = [Summary.of(values[a:b], a, BLOCK, worst) for a, b in pairwise(bounds)]
    parts = parts if order is None else [parts[k] for k in order]
    whole = Summary()
    for part in parts:
        whole = Summary.merged([whole, part], worst)
    return whole


def facts(summary):
    return [summary.count, summary.min, summary.max, summary.mean, summary.std, summary.missing, summary.worst] + [
        summary.quantile(p) for p in (0.0, 0.01, 0.5, 0.99, 1.0)
    ]


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_numbers_are_those_of_numpy(scale):
    rng = np.random.default_rng(1)
    values = scale * rng.standard_normal(4000) * 10 ** rng.uniform(-3, 3, 4000)
    found = in_parts(values, [])
    assert found.count == 4000 and found.min == values.min() and found.max == values.max()
    np.testing.assert_allclose(found.mean, values.mean(), rtol=1e-12)
    if scale == 1.0:
        np.testing.assert_allclose(found.std, values.std(ddof=1), rtol=1e-12)
    for p in np.linspace(0.0, 1.0, 41):
        exact = np.quantile(values, p, method="inverted_cdf")
        assert abs(found.quantile(p) - exact) <= 5e-4 * abs(exact)
    largest = np.argsort(-values, kind="stable")[:5]
    assert found.worst == [(values[k], k) for k in largest]


def test_partitions_and_their_order_do_not_matter():
    rng = np.random.default_rng(2)
    values = np.round(rng.standard_cauchy(640), 2)  # with ties
    values[::37] = np.nan
    right = facts(in_parts(values, []))
    for cuts in ([16], [320], [16, 32, 304, 560]):
        for _ in range(3):
            assert facts(in_parts(values, cuts, order=rng.permutation(len(cuts) + 1))) == right


def test_the_mean_is_good_where_numbers_are_large_and_near():
    values = 1e9 + np.random.default_rng(3).standard_normal(1600)
    found = in_parts(values, [800])
    np.testing.assert_allclose(found.std, values.std(ddof=1), rtol=1e-6)


def test_special_numbers():
    values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1.0, 1.0])
    found = in_parts(values, [])
    assert (found.count, found.missing, found.min, found.max) == (7, 1, -np.inf, np.inf)
    assert found.quantile(0.5) == 0.0 and found.quantile(1.0) == np.inf and found.quantile(0.0) == -np.inf
    assert found.worst[0] == (np.inf, 2)
    nothing = in_parts(np.full(20, np.nan), [])
    assert nothing.count == 0 and nothing.missing == 20 and nothing.worst == []
    assert all(np.isnan(x) for x in (nothing.mean, nothing.std, nothing.min, nothing.max, nothing.quantile(0.5)))
    one = in_parts(np.array([2.5]), [])
    assert one.mean == one.quantile(0.3) == 2.5 and np.isnan(one.std)


def test_there_and_back():
    found = in_parts(np.arange(40.0), [16])
    arrays = found.to_arrays("a name")
    assert all(key.startswith("a name/") for key in arrays)
    assert facts(Summary.from_arrays("a name", arrays)) == facts(found)


@pytest.mark.parametrize("p", [-0.1, 1.1, np.nan, "half"])
def test_no_share(p):
    with pytest.raises(kt.KinetreeError, match="p is"):
        in_parts(np.arange(4.0), []).quantile(p)
