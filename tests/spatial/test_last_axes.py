"""Products along the last axes, of batches and of traced values."""

import numpy as np

import kinetree as kt
from kinetree.ops import skew
from kinetree.spatial.last_axes import cross_last, solved, times, transposed, transposed_times


def test_products_of_batches():
    rng = np.random.default_rng(0)
    A, x, y = rng.normal(size=(4, 5, 2, 3)), rng.normal(size=(5, 3)), rng.normal(size=(4, 1, 2))
    assert np.allclose(times(A, x), np.einsum("...ij,...j->...i", A, x))
    assert np.allclose(transposed_times(A, y), np.einsum("...ij,...i->...j", A, y))
    assert np.array_equal(transposed(A)[2, 3], A[2, 3].T)
    a, b = rng.normal(size=(4, 1, 3)), rng.normal(size=(5, 3))
    assert np.allclose(cross_last(a, b), np.cross(a, b))
    assert np.allclose(times(skew(a), b), np.cross(a, b))
    L = rng.normal(size=(4, 5, 3, 3))
    assert np.allclose(times(L, solved(L, b)), np.broadcast_to(b, (4, 5, 3)))


def test_in_compiled_functions():
    law = kt.compile(shapes={"a": (3,), "b": (3,)})(cross_last)
    assert np.allclose(law([1.0, 2.0, 3.0], [4.0, 5.0, 7.0]), np.cross([1, 2, 3], [4, 5, 7]))
