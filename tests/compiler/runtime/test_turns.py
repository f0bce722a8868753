"""A kernel run for many turns: each on the next rows of its arrays, none outside of them.

Covers: compiler/codegen/turns.py.
"""

import numpy as np
import pytest

from kinetree.compiler.program import build
from kinetree.compiler.runtime.call import Kernel
from kinetree.compiler.runtime.jit import host
from kinetree.compiler.runtime.turns import Track, run_turns

N = 7


@pytest.fixture(scope="module")
def kernel():
    """(x, y) of three numbers each to x + 2 y."""
    return Kernel(build(lambda x, y: x + 2.0 * y, ((3,), (3,)), host()))


def along(array, turns=1):
    """A track that takes one row of the array in each turn; from the last row on if that is -1."""
    return Track(array, array[:1] if turns > 0 else array[-1:], turns * array.strides[0])


def test_each_turn_has_its_own_rows(kernel):
    rng = np.random.default_rng(0)
    x, y, out = rng.normal(size=(N, 3)), rng.normal(size=(N, 3)), np.full((N, 3), np.nan)
    run_turns(kernel, [along(x), along(y)], [along(out)], N)
    np.testing.assert_array_equal(out, x + 2.0 * y)
    run_turns(kernel, [along(x), Track(y, y[:1], 0)], [along(out, -1)], N)
    np.testing.assert_array_equal(out[::-1], x + 2.0 * y[0])


def test_no_turn_is_none(kernel):
    x, out = np.ones((N, 3)), np.full((N, 3), 7.0)
    run_turns(kernel, [along(x), along(x)], [along(out)], 0)
    run_turns(kernel, [along(x), along(x)], [along(out)], N, stopped=lambda: True)
    assert (out == 7.0).all()
    run_turns(kernel, [along(x), along(x)], [along(out)], 2)
    assert (out[:2] == 3.0).all() and (out[2:] == 7.0).all()


@pytest.mark.parametrize("turns", [1, -1])
def test_tracks_that_leave_their_arrays_are_refused(kernel, turns):
    x, out = np.ones((N, 3)), np.zeros((N, 3))
    for inputs, outputs in (((x, x), out[:-1]), ((x, x[:-1]), out)):
        with pytest.raises(RuntimeError, match="arrays do not fit"):
            run_turns(kernel, [along(each, turns) for each in inputs], [along(outputs, turns)], N)
    assert not out.any()


def test_other_shapes_types_and_gaps_are_refused(kernel):
    x, out = np.ones((N, 3)), np.zeros((N, 3))
    for wrong in (np.ones((N, 2)), np.ones((N, 3), np.float32)):
        with pytest.raises(RuntimeError, match="arrays do not fit"):
            run_turns(kernel, [along(x), along(wrong)], [along(out)], N)
    apart = np.zeros((N, 6))[:, ::2]
    run_turns(kernel, [along(x), along(x)], [along(out)], N)
    with pytest.raises(RuntimeError, match="side by side"):
        run_turns(kernel, [along(x), along(x)], [along(apart)], N)
