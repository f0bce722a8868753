"""Native calls with options, and with arguments that need not be given.

Covers: compiler/codegen/entry/matching.py.
"""

import sys
from typing import NamedTuple

import numpy as np
import pytest

from entries import SUM, Owner, X, Y, compiled, open_entry, python
from kinetree.compiler.runtime.native import Interface, NativeEntry, Variant
from natively import native_only
from words import Incomparable, not_interned

pytestmark = native_only


@pytest.fixture(scope="module")
def choice():
    variants = [
        Variant(compiled(lambda x, a=a, b=b: x * 10.0 * a + b, (1,)), (f"a{a}", f"b{b}"))
        for a, b in [(1, 1), (1, 2), (2, 1)]
    ]
    options, defaults = ("first", "second"), ("a1", "b1")
    return open_entry((("x", (1,)),), ((1,),), variants, options=options, defaults=defaults).bind(Owner())


def test_options_by_position_and_name(choice):
    x = np.ones(1)
    out = np.zeros(1)
    for args, named, right in [
        ((), {}, 11),
        (("a1",), {}, 11),
        (("a1", "b2"), {}, 12),
        (("a2",), {}, 21),
        ((), {"second": "b2"}, 12),
        ((), {"second": "b1", "first": "a2"}, 21),
        ((not_interned("a2"), not_interned("b1")), {}, 21),
        ((), {"first": not_interned("a1"), "second": not_interned("b2")}, 12),
    ]:
        assert choice(x, *args, **named).tolist() == [right]
        assert choice(x, *args, **named, out=out) is out and out.tolist() == [right]


def test_options_that_no_variant_has(choice):
    x = np.ones(1)
    for word in ("a3", "", "a1 ", "A1", None, 1, b"a1", Incomparable("a1"), "\ud800", ["a1"], np.str_("a1"), x):
        assert choice(x, word)[0] == "python"
        assert choice(x, second=word)[0] == "python"
    assert choice(x, "a2", "b2")[0] == "python"
    assert choice(x, "a1", first="a1")[0] == "python"
    assert choice(x, **{not_interned("second"): "b2"})[0] == "python"


def weighted_sum(spread_to):
    """(x, y, w=2, z=0) to x + w y + z; of two arguments the last may be a tuple of those up to a place."""
    code = compiled(lambda x, y, w, z: x + w[0] * y + z, (3,), (3,), (1,), (3,))
    arrays = (("x", (3,)), ("y", (3,)), ("w", (1,)), ("z", (3,)))
    presets, spread = (None, None, np.array([2.0]), np.zeros(3)), {"spreads": 2, "spread_to": spread_to}
    signature = "call($self)\n--\n\n"
    entry = NativeEntry(
        Interface("call", signature, arrays, ((3,),), True, python, __name__, presets=presets, **spread)
    )
    entry.set_variants([Variant(code)])
    return entry.bind(Owner())


@pytest.fixture(scope="module")
def weighted():
    return weighted_sum(4)


class Pair(NamedTuple):
    y: object
    w: object


def test_presets_stand_in_for_what_is_missing(weighted):
    for result in (weighted(X, Y), weighted(x=X, y=Y), weighted(X, y=Y), weighted(X, Y, np.array([2.0]))):
        assert result.tolist() == SUM
    assert weighted(X, Y, w=np.array([1.0])).tolist() == [11.0, 22.0, 33.0]
    assert weighted(X, Y, z=X).tolist() == [22.0, 44.0, 66.0]
    out = np.zeros(3)
    assert weighted(X, Y, out=out) is out and out.tolist() == SUM
    assert weighted(X)[0] == "python" and weighted(y=Y)[0] == "python"


def test_a_tuple_stands_for_the_arguments_in_it(weighted):
    one = np.array([1.0])
    for given in ((Y,), (Y, np.array([2.0])), (Y, np.array([2.0]), np.zeros(3)), Pair(Y, np.array([2.0]))):
        assert weighted(X, given).tolist() == SUM
    assert weighted(X, (Y, one)).tolist() == weighted(X, (Y,), w=one).tolist() == [11.0, 22.0, 33.0]
    assert weighted(X, (Y,), z=X).tolist() == weighted(X, (Y.tolist(),), z=X.tolist()).tolist() == [22.0, 44.0, 66.0]
    for given in ((), (Y, one, X, X), (Y, one, X, X) * 20, (X[:2],), ([1.0, 2.0],), [Y, one], ("y",), (None,)):
        assert weighted(X, given)[0] == "python"
    assert weighted(X, (Y, one), w=one)[0] == "python"  # given twice
    assert weighted((X, Y))[0] == "python"


def test_a_tuple_reaches_no_further_than_it_may():
    short, one = weighted_sum(3), np.array([1.0])
    assert short(X, (Y, one)).tolist() == short(X, Y, one, np.zeros(3)).tolist() == [11.0, 22.0, 33.0]
    assert short(X, (Y, one, X))[0] == "python"
    with pytest.raises(ValueError, match="no 5 arguments"):
        weighted_sum(5)


def test_tuples_and_presets_leave_no_references(weighted):
    w = np.array([2.0])
    pair, named = (Y, w), Pair(Y, w)
    objects = [X, Y, w, pair, named]
    before = [sys.getrefcount(item) for item in objects]
    for _ in range(2000):
        weighted(X, pair), weighted(X, named), weighted(X, Y), weighted(X, (Y,)), weighted(X, (w,))
    assert [sys.getrefcount(item) for item in objects] == before
