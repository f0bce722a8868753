"""sin, cos, atan2 and the other primitives in float32, against float64 and arithmetic with many digits; one state
against a vector, to the bit."""

import mpmath
import numpy as np
import pytest

from kinetree import ops
from kinetree.base.precision import FLOAT32
from kinetree.compiler.codegen.polynomials import WITH_FMA
from kinetree.compiler.program import build
from kinetree.compiler.runtime.call import Kernel
from kinetree.compiler.runtime.jit import host
from targets import RUNNABLE


def kernel(function, n=1, target=""):
    return Kernel(build(function, [(n,)], host(target).computing_in(FLOAT32)))


def run(compiled, x):
    """The batch result, after checking that one state at a time gives the same bits."""
    x = np.asarray(x, dtype=np.float32)
    out = np.empty((len(x), compiled.source.layout.outputs[0]), dtype=np.float32)
    compiled.batch([x], [out])
    for k in range(0, len(x), max(1, len(x) // 300)):
        one = np.empty((1, out.shape[1]), dtype=np.float32)
        compiled.single([x[k]], [one])
        assert np.array_equal(one[0], out[k], equal_nan=True)
    return out


def ulps(value, exact):
    """Distance in units of the last place of float32 of exact results, which come in float64."""
    unit = np.spacing(np.abs(exact).astype(np.float32))
    return np.abs(value.astype(float) - exact) / unit


def sines(target=""):
    return kernel(lambda x: np.array([ops.sin(x[0]), ops.cos(x[0])]), target=target)


@pytest.mark.parametrize("target", RUNNABLE)
def test_sine_and_cosine_within_two_ulp(target):
    rng = np.random.default_rng(0)
    count = 200_000 if target == "" else 20_000
    sizes = 10.0 ** rng.uniform(-40, 5, size=count)
    near = np.round(rng.uniform(0, 6e4, size=count)) * (np.pi / 2)  # as close to multiples of π/2 as float32 comes
    special = [0.0, -0.0, 1e-45, 1e-39, np.pi / 4, np.pi / 2, np.pi, 1e5, -1e5]
    x = np.concatenate([sizes, -sizes, near, rng.uniform(-10, 10, size=count), special]).astype(np.float32)
    got = run(sines(target), x[:, None])
    for k, function in enumerate((np.sin, np.cos)):
        assert ulps(got[:, k], function(x.astype(float))).max() < (2.0 if host(target).fuses else 4.0)


def test_sine_against_many_digits():
    rng = np.random.default_rng(1)
    x = (np.round(rng.uniform(0, 6e4, size=300)) * (np.pi / 2)).astype(np.float32)
    got = run(sines(), x[:, None])
    with mpmath.workdps(40):
        exact = np.array([[float(mpmath.sin(float(v))), float(mpmath.cos(float(v)))] for v in x])
    assert ulps(got, exact).max() < 2.0


def test_huge_angles_are_reduced_exactly():
    rng = np.random.default_rng(2)
    x = np.concatenate([10.0 ** rng.uniform(5, 38, size=200), [100001.0, 3.4e38, 0.5]]).astype(np.float32)
    got = run(sines(), x[:, None])
    with mpmath.workdps(80):
        exact = np.array([[float(mpmath.sin(float(v))), float(mpmath.cos(float(v)))] for v in x])
    assert ulps(got, exact).max() < 2.0


def test_sine_of_what_is_no_angle():
    got = run(sines(), np.array([np.nan, np.inf, -np.inf, 1.0, -0.0])[:, None])
    assert np.isnan(got[:3]).all() and np.isfinite(got[3:]).all() and got[4, 0] == 0.0


@pytest.mark.parametrize("target", RUNNABLE)
def test_arctangent(target):
    rng = np.random.default_rng(3)
    size, ratio = 10.0 ** rng.uniform(-30, 37, size=50_000), 10.0 ** rng.uniform(-3, 3, size=50_000)
    signs = rng.choice([-1.0, 1.0], size=(50_000, 2))
    x = np.column_stack([size, np.clip(size * ratio, 0.0, 3e38)]) * signs
    x = np.concatenate([x, rng.uniform(-1, 1, size=(20_000, 2))]).astype(np.float32)
    got = run(kernel(lambda x: np.array([ops.atan2(x[0], x[1])]), 2, target), x)[:, 0]
    assert ulps(got, np.arctan2(x[:, 0].astype(float), x[:, 1].astype(float))).max() < 2.5


def test_arctangent_of_zeros_and_infinities():
    special = [0.0, -0.0, np.inf, -np.inf, 1.0, -1.0, np.nan, 3.4e38, 1e-45]
    x = np.array([(a, b) for a in special for b in special], dtype=np.float32)
    got = run(kernel(lambda x: np.array([ops.atan2(x[0], x[1])]), 2), x)[:, 0]
    expected = np.arctan2(x[:, 0].astype(float), x[:, 1].astype(float))
    np.testing.assert_allclose(got, expected, rtol=3e-7, atol=1e-45)
    known = ~np.isnan(expected)
    assert np.array_equal(np.signbit(got[known]), np.signbit(expected[known]))


@pytest.mark.parametrize("target", RUNNABLE)
def test_the_other_primitives(target):
    def function(x):
        a, b = x
        truth = ops.logical_or(ops.less(a, b), ops.logical_not(ops.less_equal(a, 2.0 * b)))
        singles = [ops.exp(a), ops.log(a), ops.tanh(b), ops.tan(b), ops.sqrt(a), ops.absolute(b)]
        pairs = [ops.minimum(a, b), ops.maximum(a, b), a / b]
        return np.array([*singles, *pairs, ops.where(truth, a, b), ops.where(ops.equal(a, b), 1.0, -b)])

    rng = np.random.default_rng(4)
    special = [[1.0, 1.0], [0.0, -0.0], [np.nan, 1.0], [1.0, np.nan], [np.inf, 2.0]]
    x = np.concatenate([rng.uniform(-3, 3, size=(50, 2)), special]).astype(np.float32)
    with np.errstate(all="ignore"):
        expected = np.array([function(row) for row in x.astype(float)])
    np.testing.assert_allclose(run(kernel(function, 2, target), x), expected, rtol=1e-6, atol=0)


def test_constants_hold_all_digits_that_rounding_takes():
    with mpmath.workdps(60):
        for element, dtype in (("double", np.float64), ("float", np.float32)):
            by, digits = WITH_FMA[element], np.finfo(dtype).nmant
            assert all(float(dtype(part)) == part for part in by.half_pi)
            assert abs(sum(map(mpmath.mpf, by.half_pi)) - mpmath.pi / 2) < mpmath.mpf(2) ** (-2 * digits - 20)
            low = mpmath.pi / 4 - mpmath.mpf(float(dtype(np.pi / 4)))
            assert abs(low - mpmath.mpf(by.quarter_pi_low)) < mpmath.mpf(2) ** (-2 * digits)
            assert by.round == 1.5 * 2.0**digits
