"""sin, cos and atan2 against arithmetic with many digits; one state against a vector, to the bit.

Covers: compiler/codegen/ir.py.
"""

import math

import mpmath
import numpy as np
import pytest

from kinetree import ops
from kinetree.compiler.program import build
from kinetree.compiler.runtime.call import Kernel
from kinetree.compiler.runtime.jit import host
from targets import RUNNABLE


def kernel(function, n=1, target=""):
    return Kernel(build(function, [(n,)], host(target)))


def run(compiled, x):
    """The batch result, after checking that one state at a time gives the same bits."""
    out = np.empty((len(x), compiled.source.layout.outputs[0]))
    compiled.batch([x], [out])
    for k in range(0, len(x), max(1, len(x) // 300)):
        one = np.empty((1, out.shape[1]))
        compiled.single([x[k]], [one])
        assert np.array_equal(one[0], out[k], equal_nan=True)
    return out


def ulps(value, exact):
    """Distance in units of the last place of the exact result."""
    with mpmath.workdps(60):
        return float(abs(mpmath.mpf(float(value)) - exact) / mpmath.mpf(math.ulp(float(exact)) or 5e-324))


def angles(count):
    rng = np.random.default_rng(0)
    sizes = 10.0 ** rng.uniform(-20, 9, size=count)
    near = np.round(rng.uniform(0, 6e8, size=count)) * (np.pi / 2)  # as close to multiples of π/2 as doubles come
    plain = rng.uniform(-10, 10, size=count)
    special = [0.0, -0.0, 5e-324, 1e-310, np.pi / 4, np.pi / 2, np.pi, 1e9, -1e9, 999999999.9999999]
    return np.concatenate([sizes, -sizes, near, plain, special])


@pytest.mark.parametrize("target", RUNNABLE)
def test_sine_and_cosine_within_two_ulp(target):
    compiled = kernel(lambda x: np.array([ops.sin(x[0]), ops.cos(x[0])]), target=target)
    x = angles(80 if target else 400)
    got = run(compiled, x[:, None])
    with mpmath.workdps(60):
        worst = [max(ulps(g[0], mpmath.sin(v)), ulps(g[1], mpmath.cos(v))) for v, g in zip(x, got, strict=True)]
    assert max(worst) < (2.0 if host(target).fuses else 4.0)


def test_huge_angles_are_reduced_exactly():
    rng = np.random.default_rng(1)
    x = np.concatenate([10.0 ** rng.uniform(9, 308, size=200), [1.0000000001e9, -1e22, 1.7e308, 0.5]])
    got = run(kernel(lambda x: np.array([ops.sin(x[0]), ops.cos(x[0])])), x[:, None])
    with mpmath.workdps(400):
        for v, g in zip(x, got, strict=True):
            assert ulps(g[0], mpmath.sin(v)) < 2 and ulps(g[1], mpmath.cos(v)) < 2


def test_sine_of_what_is_no_angle():
    x = np.array([np.nan, np.inf, -np.inf, 1.0, np.nan, 1e300, -0.0, 2.0, 3.0])
    got = run(kernel(lambda x: np.array([ops.sin(x[0]), ops.cos(x[0])])), x[:, None])
    assert np.isnan(got[[0, 1, 2, 4]]).all() and np.isfinite(got[[3, 5, 6, 7, 8]]).all()
    assert got[6, 0] == 0.0 and got[6, 1] == 1.0


def test_many_angles_of_one_state_share_instructions():
    """Twenty angles, some of them computed, in one kernel: the same bits as one by one."""

    def function(x):
        first = [ops.sin(x[k]) * ops.cos(2.0 * x[k]) for k in range(20)]
        return np.array([*first, ops.sin(first[0] + first[19])])

    rng = np.random.default_rng(2)
    x = rng.uniform(-100, 100, size=(17, 20))
    got = run(kernel(function, 20), x)
    np.testing.assert_allclose(got[:, :20], np.sin(x) * np.cos(2 * x), rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(got[:, 20], np.sin(got[:, 0] + got[:, 19]), rtol=1e-14)


@pytest.mark.parametrize("target", RUNNABLE)
def test_arctangent(target):
    rng = np.random.default_rng(3)
    size = 10.0 ** rng.uniform(-300, 300, size=600)
    ratio = 10.0 ** rng.uniform(-3, 3, size=600)
    x = np.column_stack([size * rng.choice([-1, 1], 600), np.clip(size * ratio, 0, 1e307) * rng.choice([-1, 1], 600)])
    x = np.concatenate([x, rng.uniform(-1, 1, size=(300, 2))])
    got = run(kernel(lambda x: np.array([ops.atan2(x[0], x[1])]), 2, target), x)[:, 0]
    with mpmath.workdps(60):
        worst = max(
            ulps(g, mpmath.atan2(mpmath.mpf(y), mpmath.mpf(z))) for (y, z), g in zip(x.tolist(), got, strict=True)
        )
    assert worst < 2.5


def test_arctangent_of_zeros_and_infinities():
    special = [0.0, -0.0, np.inf, -np.inf, 1.0, -1.0, np.nan, 1.7e308, 5e-324]
    x = np.array([(a, b) for a in special for b in special])
    got = run(kernel(lambda x: np.array([ops.atan2(x[0], x[1])]), 2), x)[:, 0]
    expected = np.arctan2(x[:, 0], x[:, 1])
    np.testing.assert_allclose(got, expected, rtol=1e-15)
    assert np.array_equal(np.signbit(got[~np.isnan(got)]), np.signbit(expected[~np.isnan(got)]))


def test_the_other_primitives():
    def function(x):
        a, b = x
        truth = ops.logical_or(ops.less(a, b), ops.logical_not(ops.less_equal(a, 2.0 * b)))
        singles = [ops.exp(a), ops.log(a), ops.tanh(b), ops.tan(b), ops.sqrt(a), ops.absolute(b)]
        pairs = [ops.minimum(a, b), ops.maximum(a, b), a / b]
        return np.array([*singles, *pairs, ops.where(truth, a, b), ops.where(ops.equal(a, b), 1.0, -b)])

    rng = np.random.default_rng(4)
    x = np.concatenate(
        [rng.uniform(-3, 3, size=(50, 2)), [[1.0, 1.0], [0.0, -0.0], [np.nan, 1.0], [1.0, np.nan], [np.inf, 2.0]]]
    )
    for target in RUNNABLE:
        got = run(kernel(function, 2, target), x)
        with np.errstate(all="ignore"):
            expected = np.array([function(row) for row in x])
        np.testing.assert_allclose(got, expected, rtol=1e-14, atol=0)
