"""The functions of a shared library as CasADi calls them, here by ctypes: what they answer, compute and refuse.

Covers: compiler/codegen/casadi.py
"""

import ctypes
import sys

import numpy as np
import pytest

import kinetree as kt
from kinetree import ops
from kinetree.interop.casadi_library import CasadiLibrary
from kinetree.interop.exported import formula_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="shared libraries are made on Linux")


@kt.compile(shapes={"A": (2, 3), "x": (3,), "s": ()})
def product(A, x, s):
    ops.require(ops.less(0.0, s), "s is not positive")
    return {"y": A @ (x * x), "B": A * ops.sqrt(s)}


class Library:
    """A library, loaded."""

    def __init__(self, function, words, folder):
        own, key, _ = formula_of(function)
        path = folder / "f.so"
        path.write_bytes(CasadiLibrary("f", own, key, words).data())
        self.loaded = ctypes.CDLL(str(path))

    def pattern(self, name, k):
        """The size of a matrix and the places of its numbers, in columns; None if there is no such matrix."""
        ask = getattr(self.loaded, name)
        ask.restype = ctypes.POINTER(ctypes.c_longlong)
        found = ask(ctypes.c_longlong(k))
        if not found:
            return None
        rows, columns = found[0], found[1]
        if found[2] == 1:
            return (rows, columns), [(i, j) for j in range(columns) for i in range(rows)]
        count = found[2 + columns]
        starts, places = found[2 : 3 + columns], found[3 + columns : 3 + columns + count]
        return (rows, columns), [(i, j) for j in range(columns) for i in places[starts[j] : starts[j + 1]]]

    def names(self, name, side):
        ask = getattr(self.loaded, f"{name}_name_{side}")
        ask.restype = ctypes.c_char_p
        count = getattr(self.loaded, f"{name}_n_{side}")()
        return [ask(ctypes.c_longlong(k)).decode() for k in range(count)]

    def call(self, name, given, wanted=None):
        """The code that a function returns, and its matrices; None counts as zeros, or is not wanted."""
        sizes = [ctypes.c_longlong() for _ in range(4)]
        assert getattr(self.loaded, f"{name}_work")(*map(ctypes.byref, sizes)) == 0
        patterns = [self.pattern(f"{name}_sparsity_out", k) for k in range(len(self.names(name, "out")))]
        results = [
            np.full(len(places), np.nan) if wanted is None or k in wanted else None
            for k, (_, places) in enumerate(patterns)
        ]
        columns = [None if x is None else np.asfortranarray(x, dtype=float).ravel("F") for x in given]
        work = np.full(sizes[3].value + 3, np.nan)  # what lies behind it must not change

        def addresses(arrays):
            return (ctypes.c_void_p * max(1, len(arrays)))(*(None if x is None else x.ctypes.data for x in arrays))

        code = getattr(self.loaded, name)(addresses(columns), addresses(results), None, work.ctypes, 0)
        assert np.isnan(work[-3:]).all()
        matrices = []
        for (size, places), numbers in zip(patterns, results, strict=True):
            matrix = np.zeros(size)
            for place, number in zip(places, () if numbers is None else numbers, strict=False):
                matrix[place] = number
            matrices.append(None if numbers is None else matrix)
        return code, matrices


@pytest.fixture
def library(tmp_path):
    return Library(product, ["A", "x", "s", "y", "B"], tmp_path)


A, X, S = np.arange(6.0).reshape(2, 3) - 2.0, np.array([0.3, -0.7, 1.1]), 2.0
WEIGHTS = np.array([0.5, -1.5]), np.array([[1.0, 2.0, 3.0], [-1.0, 0.0, 2.0]])
RATES = np.ones((2, 3)), np.array([1.0, 2.0, 3.0]), 0.5


def test_names_and_sizes(library):
    assert library.names("f", "in") == ["A", "x", "s"] and library.names("f", "out") == ["y", "B"]
    assert [library.pattern("f_sparsity_in", k)[0] for k in range(3)] == [(2, 3), (3, 1), (1, 1)]
    assert library.pattern("f_sparsity_in", 3) is None and library.pattern("f_sparsity_out", -1) is None
    assert library.names("jac_f", "in") == ["A", "x", "s", "out_y", "out_B"]
    assert library.names("jac_f", "out")[:4] == ["jac_y_A", "jac_y_x", "jac_y_s", "jac_B_A"]
    assert library.pattern("jac_f_sparsity_in", 3) == ((2, 1), [])


def test_values_are_those_of_a_call_to_the_bit(library):
    code, (y, B) = library.call("f", [A, X, S])
    expected = product(A, X, S)
    assert code == 0
    np.testing.assert_array_equal(y.ravel(), expected["y"])
    np.testing.assert_array_equal(B, expected["B"])


def test_what_is_null(library):
    code, (y, B) = library.call("f", [None, X, S], wanted={1})
    assert code == 0 and y is None and not B.any()
    code, blocks = library.call("jac_f", [A, X, S, None, None], wanted={1})
    assert code == 0 and [block is None for block in blocks] == [k != 1 for k in range(6)]


def test_jacobians_have_their_own_sparsity(library):
    code, blocks = library.call("jac_f", [A, X, S, None, None])
    assert code == 0
    np.testing.assert_allclose(blocks[0], np.kron(X * X, np.eye(2)))
    np.testing.assert_allclose(blocks[1], 2.0 * A * X)
    np.testing.assert_allclose(blocks[3], np.sqrt(S) * np.eye(6))
    np.testing.assert_allclose(blocks[5].ravel(), 0.5 / np.sqrt(S) * A.ravel("F"))
    assert [len(library.pattern("jac_f_sparsity_out", k)[1]) for k in range(6)] == [6, 6, 0, 6, 0, 6]


def test_forward_and_reverse_mode_agree_with_the_jacobian(library):
    _, blocks = library.call("jac_f", [A, X, S, None, None])
    J = np.block([blocks[:3], blocks[3:]])
    rates = np.concatenate([np.ravel(x, "F") for x in RATES])
    weights = np.concatenate([np.ravel(x, "F") for x in WEIGHTS])
    _, found = library.call("fwd1_f", [A, X, S, None, None, *RATES])
    np.testing.assert_allclose(np.concatenate([x.ravel("F") for x in found]), J @ rates)
    _, found = library.call("adj1_f", [A, X, S, None, None, *WEIGHTS])
    np.testing.assert_allclose(np.concatenate([x.ravel("F") for x in found]), J.T @ weights)


def test_second_derivatives_are_differences_of_first_ones(library):
    h = 1e-6
    moved = [[x + sign * h * np.asarray(rate) for x, rate in zip((A, X, S), RATES, strict=True)] for sign in (1, -1)]
    for mode, seeds in (("adj1_f", WEIGHTS), ("fwd1_f", RATES)):
        ahead, behind = (library.call(mode, [*x, None, None, *seeds])[1] for x in moved)
        still = [None] * (2 + len(seeds))
        count = len(library.names(mode, "out"))
        given = [A, X, S, None, None, *seeds, *[None] * count, *RATES, *still]
        code, found = library.call(f"fwd1_{mode}", given)
        assert code == 0
        for rate, a, b in zip(found, ahead, behind, strict=True):
            np.testing.assert_allclose(rate, (a - b) / (2.0 * h), atol=1e-8)


def test_the_sparsity_of_second_derivatives_covers_them(library):
    size, places = library.pattern("jac_adj1_f_sparsity_out", 1)  # of adj_A by x
    assert size == (6, 3) and places == [(0, 0), (1, 0), (2, 1), (3, 1), (4, 2), (5, 2)]
    assert library.pattern("jac_adj1_f_sparsity_out", 0) == ((6, 6), [])  # of adj_A by A
    assert library.pattern("jac_adj1_f_sparsity_out", 3) == ((6, 2), [])  # by the results, which it does not use


def test_a_refused_state_is_an_error_of_every_function(library):
    assert library.call("f", [A, X, -1.0])[0] == 1
    assert library.call("f", [A, X, None])[0] == 1
    assert library.call("jac_f", [A, X, -1.0, None, None])[0] == 1
    assert library.call("adj1_f", [A, X, -1.0, None, None, *WEIGHTS])[0] == 1
    assert library.call("f", [A, X, S])[0] == 0


def test_a_function_without_arguments_or_of_empty_arrays(tmp_path):
    constant = kt.compile(lambda: np.array([1.0, 2.0]))
    assert Library(constant, ["y"], tmp_path).call("f", [])[1][0].ravel().tolist() == [1.0, 2.0]
    (tmp_path / "empty").mkdir()
    empty = kt.compile(lambda x: {"y": x * 2.0, "z": x.sum() + 1.0}, shapes={"x": (0,)})
    code, (y, z) = Library(empty, ["x", "y", "z"], tmp_path / "empty").call("f", [np.zeros(0)])
    assert code == 0 and y.shape == (0, 1) and z.item() == 1.0
