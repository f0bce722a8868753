"""A kernel run on many rows of its arrays, and on none outside of them.

Covers: compiler/codegen/single_state_loop.py, compiler/runtime/strided_view.py.
"""

import numpy as np
import pytest

from kinetree.compiler.program import build
from kinetree.compiler.runtime.call import Kernel
from kinetree.compiler.runtime.jit import host
from kinetree.compiler.runtime.single_state_loop import run_rows
from kinetree.compiler.runtime.strided_view import StridedView

N = 7


@pytest.fixture(scope="module")
def kernel():
    """(x, y) of three numbers each to x + 2 y."""
    return Kernel(build(lambda x, y: x + 2.0 * y, ((3,), (3,)), host()))


def along(array, direction=1):
    """A view that takes one row of the array in each step; from the last row on if that is -1."""
    return StridedView(array, array[:1] if direction > 0 else array[-1:], direction * array.strides[0])


def test_each_step_has_its_own_row(kernel):
    rng = np.random.default_rng(0)
    x, y, out = rng.normal(size=(N, 3)), rng.normal(size=(N, 3)), np.full((N, 3), np.nan)
    run_rows(kernel, [along(x), along(y)], [along(out)], N)
    np.testing.assert_array_equal(out, x + 2.0 * y)
    run_rows(kernel, [along(x), StridedView(y, y[:1], 0)], [along(out, -1)], N)
    np.testing.assert_array_equal(out[::-1], x + 2.0 * y[0])


def test_no_rows(kernel):
    x, out = np.ones((N, 3)), np.full((N, 3), 7.0)
    run_rows(kernel, [along(x), along(x)], [along(out)], 0)
    run_rows(kernel, [along(x), along(x)], [along(out)], N, stopped=lambda: True)
    assert (out == 7.0).all()
    run_rows(kernel, [along(x), along(x)], [along(out)], 2)
    assert (out[:2] == 3.0).all() and (out[2:] == 7.0).all()


@pytest.mark.parametrize("direction", [1, -1])
def test_views_that_leave_their_arrays_are_refused(kernel, direction):
    x, out = np.ones((N, 3)), np.zeros((N, 3))
    for inputs, outputs in (((x, x), out[:-1]), ((x, x[:-1]), out)):
        with pytest.raises(RuntimeError, match="arrays do not fit"):
            run_rows(kernel, [along(each, direction) for each in inputs], [along(outputs, direction)], N)
    assert not out.any()


def test_other_shapes_types_and_gaps_are_refused(kernel):
    x, out = np.ones((N, 3)), np.zeros((N, 3))
    for wrong in (np.ones((N, 2)), np.ones((N, 3), np.float32)):
        with pytest.raises(RuntimeError, match="arrays do not fit"):
            run_rows(kernel, [along(x), along(wrong)], [along(out)], N)
    apart = np.zeros((N, 6))[:, ::2]
    run_rows(kernel, [along(x), along(x)], [along(out)], N)
    with pytest.raises(RuntimeError, match="not contiguous"):
        run_rows(kernel, [along(x), along(x)], [along(apart)], N)
