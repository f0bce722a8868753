"""Elementary functions in C give the bits of machine code, also of large angles, NaN, infinities and signed zeros."""

import numpy as np
import pytest

import kinetree as kt
from c_libraries import Library, needs_gcc
from kinetree.compiler.codegen.c.elementary import REALS

SIZE = 16
SPECIAL = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1e-310,
    -1e-310,
    1e308,
    -1e308,
    1e9,
    1.1e9,
    -1e6,
    1e22,
    np.pi,
    -np.pi / 2,
]


def elementary(x, y):
    """All of them."""
    return (
        kt.sin(x), kt.cos(x), kt.atan2(y, x), kt.exp(x), kt.log(x), kt.tanh(x), kt.minimum(x, y), kt.maximum(x, y),
        kt.absolute(x), kt.sqrt(x), kt.where(kt.less(x, y), x, y), kt.sign(x),
    )  # fmt: skip


def pairs():
    rng = np.random.default_rng(0)
    special = [(x, y) for x in SPECIAL for y in SPECIAL]
    wide = rng.normal(size=(2000, 2)) * 10.0 ** rng.uniform(-20, 12, (2000, 2))
    numbers = np.concatenate([special, rng.normal(size=(1000, 2)), wide])
    return np.pad(numbers, ((0, -len(numbers) % SIZE), (0, 0))).reshape(-1, SIZE, 2)


@needs_gcc
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_bits_are_those_of_machine_code(tmp_path, dtype):
    robot = kt.load("planar2").astype(dtype)
    law = kt.compile(lambda robot, x, y: elementary(x, y), shapes={"x": (SIZE,), "y": (SIZE,)}).bind(robot)
    library = Library({"all": law}, tmp_path, flags=("-O2", "-march=native", "-ffp-contract=off", "-DROBOT_FMA=1"))
    assert library.symbols <= {"sin", "cos", "sincos", "exp", "log", "tanh", "fma", "fmaf", "sqrt", "sqrtf"}
    with np.errstate(all="ignore"):
        blocks = pairs().astype(dtype)
    for block in blocks:
        x, y = np.ascontiguousarray(block[:, 0]), np.ascontiguousarray(block[:, 1])
        code, results = library.call("all", x, y)
        assert code == 0
        for result, expected in zip(results, law(x, y), strict=True):
            np.testing.assert_array_equal(result, expected)
            numbers = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(result[numbers]), np.signbit(expected[numbers]))


@needs_gcc
def test_without_fused_multiply_add_errors_are_small(tmp_path):
    law = kt.compile(lambda x: (kt.sin(x), kt.cos(x)), shapes={"x": (SIZE,)})
    library = Library({"waves": law}, tmp_path, flags=("-O1", "-DROBOT_FMA=0"))
    for x in np.random.default_rng(1).uniform(-2e6, 2e6, (50, SIZE)):
        _, (sines, cosines) = library.call("waves", x)
        np.testing.assert_allclose(sines, np.sin(x), rtol=1e-15, atol=1e-15)
        np.testing.assert_allclose(cosines, np.cos(x), rtol=1e-15, atol=1e-15)


def test_literals_are_read_back_as_the_same_number():
    double, single = REALS["double"], REALS["float"]
    rng = np.random.default_rng(2)
    for x in rng.normal(size=200) * 10.0 ** rng.uniform(-300, 300, 200):
        assert float(double.literal(x)) == x
        with np.errstate(all="ignore"):
            rounded = np.float32(x)
        if np.isfinite(rounded):
            assert np.float32(single.literal(float(rounded)).removesuffix("f")) == rounded
    assert double.literal(3.0) == "3.0" and single.literal(2.0).endswith("f")
    assert double.literal(np.inf) == "(double)INFINITY" and double.literal(-np.inf) == "-(double)INFINITY"
    assert double.literal(np.nan) == "(double)NAN"
