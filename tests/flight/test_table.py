import numpy as np
import pytest

import kinetree as kt
from kinetree.flight import Table, Table2

X, F = (-10.0, -5.0, 0.0, 3.0, 8.0), (1.0, 2.0, -1.0, 0.5, 4.0)


def test_inside_it_is_numpys_interpolation():
    x = np.linspace(-10.0, 8.0, 200)
    assert np.allclose(Table(X, F)(x), np.interp(x, X, F))


def test_beyond_its_ends_it_goes_on():
    assert Table(X, F)(-15.0) == pytest.approx(0.0) and Table(X, F)(13.0) == pytest.approx(7.5)


def test_slopes_at_knots_are_those_of_the_interval_above():
    slope = kt.jacobian(lambda x: Table(X, F)(x) + 0.0, wrt="x", shapes={"x": ()})
    steps = np.diff(F) / np.diff(X)
    assert np.allclose(slope(np.array(X)), [*steps, steps[-1]])
    assert np.allclose(slope(np.array([-20.0, -7.0, 1.0, 20.0])), steps[[0, 0, 2, 3]])


def test_two_variables():
    rng = np.random.default_rng(0)
    f = rng.normal(size=(5, 3))
    table = Table2(X, (0.0, 1.0, 4.0), f)
    for i, x in enumerate(X):
        for j, y in enumerate((0.0, 1.0, 4.0)):
            assert table(x, y) == pytest.approx(f[i, j])
    assert table(-7.5, 0.5) == pytest.approx(f[:2, :2].mean())
    law = kt.compile(lambda x, y: table(x, y) + 0.0, shapes={"x": (), "y": ()})
    xs, ys = rng.uniform(-12, 10, 50), rng.uniform(-1, 5, 50)
    assert np.allclose(law(xs, ys), table(xs, ys))


@pytest.mark.parametrize(
    "make",
    [lambda: Table((1.0,), (1.0,)), lambda: Table((1.0, 1.0), (1.0, 2.0)), lambda: Table((0.0, 1.0), (1.0, 2.0, 3.0))],
)
def test_what_is_no_table_is_refused(make):
    with pytest.raises(kt.ArgumentError):
        make()
    with pytest.raises(kt.ArgumentError, match="f has shape"):
        Table2((0.0, 1.0), (0.0, 1.0), [[1.0, 2.0]])
