"""Native calls with results of several axes, with several results, and with `out`.

Covers: compiler/codegen/entry/single.py.
"""

import sys

import numpy as np
import pytest

from entries import Owner, X, Y, compiled, open_entry
from kinetree.compiler.codegen.entry import records
from kinetree.compiler.runtime.native import Variant
from natively import native_only

pytestmark = native_only


def many_results(A, b, c):
    """A (2, 3), b (3,), c (): a vector, a number, a matrix, a number."""
    return A @ b, b @ b + c, A.T * c, c * 2.0


@pytest.fixture(scope="module")
def several():
    code = compiled(many_results, (2, 3), (3,), ())
    arrays = (("A", (2, 3)), ("b", (3,)), ("c", ()))
    return open_entry(arrays, ((2,), (), (3, 2), ()), [Variant(code)], bare=False).bind(Owner())


def test_a_tuple_of_results(several):
    rng = np.random.default_rng(0)
    for _ in range(3):
        A, b, c = rng.normal(size=(2, 3)), rng.normal(size=3), np.array(rng.normal())
        results = several(A, b, c)
        assert type(results) is tuple
        assert [type(item) for item in results] == [np.ndarray, np.float64, np.ndarray, np.float64]
        assert [np.shape(item) for item in results] == [(2,), (), (3, 2), ()]
        for got, right in zip(results, many_results(A, b, c), strict=True):
            np.testing.assert_allclose(got, right, rtol=1e-14, atol=1e-14)
        kept = list(results)
        del results, got
        assert [sys.getrefcount(kept[k]) for k in range(4)] == [2] * 4  # nobody else refers to them


def test_results_of_a_tuple_are_new_each_time(several):
    A, b, c = np.ones((2, 3)), np.ones(3), np.array(1.0)
    first = several(A, b, c)
    second = several(2 * A, b, c)
    assert first[0].tolist() == [3.0, 3.0] and second[0].tolist() == [6.0, 6.0]


def test_axes_must_be_as_expected(several):
    A, b, c = np.ones((2, 3)), np.ones(3), np.array(1.0)
    assert several(A, b, c)[0].tolist() == [3.0, 3.0]
    for args in (
        (A.T, b, c),
        (A.reshape(6), b, c),
        (A.reshape(3, 2), b, c),
        (A[None], b, c),
        (A, b, np.ones(1)),
        (A, b, True),
        (A, b, np.float32(1.0)),
    ):
        assert several(*args)[0] == "python"
    for matrix in (np.asfortranarray(A), np.ones((2, 4))[:, :3], [[1.0, 1, 1.0], (1, 1.0, 1)]):
        assert several(matrix, b, c)[0].tolist() == [3.0, 3.0]
    for number in (1.0, 1, np.float64(1.0)):
        assert [np.array_equal(x, y) for x, y in zip(several(A, b, number), several(A, b, c), strict=True)] == [
            True
        ] * 4
    assert several(A, b, c, out=None)[0].tolist() == [3.0, 3.0]
    assert several(A, b, c, out=np.zeros(2))[0] == "python"  # it has no `out`


def test_no_numbers_at_all():
    code = compiled(lambda x: (x * 2.0, np.zeros((0, 3))), (0,))
    call = open_entry((("x", (0,)),), ((0,), (0, 3)), [Variant(code)], bare=False).bind(Owner())
    results = call(np.zeros(0))
    assert [item.shape for item in results] == [(0,), (0, 3)]
    assert call(np.zeros(1))[0] == "python"
    bare = open_entry((("x", (0,)),), ((0,),), [Variant(compiled(lambda x: x * 2.0, (0,)))]).bind(Owner())
    out = np.zeros(0)
    assert bare(np.zeros(0)).shape == (0,) and bare(np.zeros(0), out=out) is out


def test_a_number_may_be_written_to_out():
    call = open_entry((("x", (2,)),), ((),), [Variant(compiled(lambda x: x @ x, (2,)))]).bind(Owner())
    out = np.zeros(())
    x = np.array([3.0, 4.0])
    assert type(call(x)) is np.float64 and call(x) == 25.0
    assert call(x, out=out) is out and out == 25.0
    assert call(x, out=np.zeros(1))[0] == "python"


def test_more_than_a_native_call_can_have():
    arrays = tuple((f"x{k}", (1,)) for k in range(records.MOST_PARAMETERS))
    with pytest.raises(ValueError, match="more arguments or results"):
        open_entry(arrays, ((1,),), [])
    with pytest.raises(ValueError, match="more arguments or results"):
        open_entry(arrays[:1], ((1,),) * records.MOST_OUTPUTS, [], bare=False)
    most = arrays[:-1]
    code = compiled(lambda *x: sum(x), *[shape for _, shape in most])
    call = open_entry(most, ((1,),), [Variant(code)]).bind(Owner())
    assert call(*[np.ones(1)] * len(most)).tolist() == [len(most)]
    assert call(**{sys.intern(name): np.ones(1) for name, _ in most}).tolist() == [len(most)]


def test_out_that_shares_a_byte_with_an_input_goes_to_python(add):
    memory = np.arange(12.0)
    for start in range(10):
        x, out = memory[3:6], memory[start : start + 3]
        before = memory.copy()
        apart = abs(start - 3) >= 3
        result = add(x, Y, out=out)
        assert (result is out) == apart
        if apart:
            assert out.tolist() == [a + 2 * b for a, b in zip(before[3:6], Y, strict=True)]
            out[:] = before[start : start + 3]
        assert np.array_equal(memory, before)


def test_out_that_cannot_be_written(add):
    readonly, wide = np.zeros(3), np.zeros(6)
    readonly.setflags(write=False)
    for out in (readonly, wide[::2], np.frombuffer(bytes(24)), np.zeros((3, 1)), np.zeros(4)):
        assert add(X, Y, out=out)[0] == "python"
        assert not out.any()


@pytest.fixture(scope="module")
def root():
    """x to its square roots; not where a number is negative."""

    def function(x):
        from kinetree import ops  # noqa: PLC0415

        wrong = ops.less(x[0], 0.0)
        for k in range(1, 20):
            wrong = ops.logical_or(wrong, ops.less(x[k], 0.0))
        return np.array([ops.sqrt(item) for item in x]), wrong

    code = compiled(function, (20,))
    return open_entry((("x", (20,)),), ((20,),), [Variant(code, has_status=True)]).bind(Owner())


def test_a_state_that_is_refused_goes_to_python_and_leaves_out_alone(root):
    x, out = np.arange(20.0), np.full(20, 7.0)
    assert np.array_equal(root(x), np.sqrt(x))
    assert root(x, out=out) is out and np.array_equal(out, np.sqrt(x))
    for k in range(20):
        bad = x.copy()
        bad[k] = -1.0
        out[:] = 7.0
        assert root(bad)[0] == "python"
        assert root(bad, out=out)[0] == "python" and np.all(out == 7.0)
    x[3] = np.nan
    assert np.isnan(root(x)[3])
