"""Native calls with arrays in a mapping, each of which a kernel has a place for.

Covers: compiler/codegen/entry/records.py.
"""

import types

import numpy as np
import pytest

from entries import Owner, compiled, open_entry
from kinetree.compiler.codegen.entry import records
from kinetree.compiler.runtime.native import Mapping, Variant
from natively import native_only
from words import Incomparable, not_interned

pytestmark = native_only


class Tagged:
    def __init__(self, value, tag="plain"):
        self.value, self.tag = value, tag


PLACES = Mapping("items", (2,), Tagged, "value", "tag", "plain")


def mapped(*variants, result=3):
    return open_entry((("x", (1,)),), ((result,),), variants, mapping=PLACES).bind(Owner())


def sum_of(count, label):
    """label, x, and all items weighted by their place."""

    def function(x, *items):
        total = sum((10.0**k * item[0] for k, item in enumerate(items)), 0.0 * x[0])
        return np.array([label, x[0], total])

    return compiled(function, (1,), *[(2,)] * count)


@pytest.fixture(scope="module")
def pick():
    return mapped(
        Variant(sum_of(0, 0.0)),
        Variant(sum_of(1, 1.0), places=(("a", "plain"),)),
        Variant(sum_of(1, 2.0), places=(("a", "odd"),)),
        Variant(sum_of(3, 3.0), places=(("a", "plain"), ("b", "plain"), ("b", "odd")), covers=True),
    )


def six(value):
    return np.array([value, 99.0])


def test_a_mapping_finds_the_kernel_with_its_places(pick):
    x = np.array([5.0])
    odd = Tagged(six(2.0), "odd")
    for items, label, total in [
        (None, 0, 0),
        ({}, 0, 0),
        ({"a": six(1.0)}, 1, 1),
        ({"a": [1, 99.0]}, 1, 1),
        ({"a": six(1.0).astype(np.float32)}, 1, 1),
        ({not_interned("a\N{GREEK SMALL LETTER ALPHA}")[:1]: six(1.0)}, 1, 1),
        ({"a": Tagged(six(1.0))}, 1, 1),
        ({"a": odd}, 2, 2),
        ({"b": six(3.0)}, 3, 30),
        ({"b": odd}, 3, 200),
        ({"b": six(1.0), "a": six(2.0)}, 3, 12),
        ({"a": six(2.0), "b": Tagged(six(4.0), not_interned("odd"))}, 3, 402),
    ]:
        assert pick(x, items).tolist() == [label, 5.0, total]
        assert pick(x, items=items).tolist() == [label, 5.0, total]
        out = np.zeros(3)
        assert pick(x, items, out=out) is out and out.tolist() == [label, 5.0, total]
    assert pick(x).tolist() == [0.0, 5.0, 0.0]


def test_of_several_kernels_that_fit_the_first_with_the_fewest_places():
    places = [("a", "plain"), ("b", "plain"), ("c", "plain"), ("d", "plain")]
    pick = mapped(
        Variant(sum_of(3, 1.0), places=tuple(places[:3]), covers=True),
        Variant(sum_of(2, 2.0), places=(places[0], places[1]), covers=True),
        Variant(sum_of(2, 3.0), places=(places[0], places[3]), covers=True),
    )
    x = np.ones(1)
    for names, label in [("", 2), ("a", 2), ("b", 2), ("d", 3), ("ad", 3), ("c", 1), ("abc", 1)]:
        assert pick(x, {name: six(1.0) for name in names})[0] == label, names


class Odd(Tagged):
    pass


class Dictionary(dict):
    pass


def test_mappings_that_go_to_python(pick):
    x, w = np.ones(1), six(1.0)
    unset = object.__new__(Tagged)
    for items in (
        {"c": w},
        {"a": w, "c": w},
        {"a": w, "b": w, "c": w, "d": w},
        {"a": w[:1]},
        {"a": [1.0, "2"]},
        {"a": None},
        {"a": Tagged(None)},
        {"a": Tagged(w, "unheard")},
        {"a": Tagged(w, None)},
        {"a": Tagged(w, Incomparable("odd"))},
        {"a": Odd(w)},
        {"a": unset},
        {1: w},
        {None: w},
        {b"a": w},
        {Incomparable("a"): w},
        {("a",): w},
        Dictionary(a=w),
        types.MappingProxyType({"a": w}),
        [("a", w)],
        "a",
        w,
        1,
        {f"k{k}": w for k in range(5000)},
    ):
        word, args, named = pick(x, items)
        assert word == "python" and args[1] is items and not named
    assert pick(x, {"a": w}, items=None)[0] == "python"


def test_an_attribute_that_runs_code_of_the_users(monkeypatch):
    """It may change or empty the mapping, call again, or fail, while the mapping is read."""
    places = tuple((name, "plain") for name in "abc")
    pick = mapped(Variant(sum_of(3, 3.0), places=places, covers=True))
    x, calls = np.ones(1), []

    def changing(action):
        class Value:
            def __get__(self, instance, owner):
                calls.append(instance)
                action()
                return six(1.0)

        return Value()

    items = {}

    def refill():
        items.clear()
        items.update({"a": Tagged.__new__(Tagged), "b": six(1.0), "c": six(2.0)})

    def grow():
        items[f"k{len(items)}"] = six(1.0)

    def again():
        if len(calls) < 5:
            pick(x, {"a": Tagged.__new__(Tagged)})

    def fail():
        raise KeyboardInterrupt

    monkeypatch.setattr(Tagged, "tag", "plain", raising=False)
    for action in (items.clear, refill, grow, again, fail):
        calls.clear()
        monkeypatch.setattr(Tagged, "value", changing(action), raising=False)
        for _ in range(50):
            items.clear()
            items.update({"a": Tagged.__new__(Tagged), "b": six(1.0)})
            result = pick(x, items)
            assert result[0] == "python" or result.shape == (3,)
        assert calls


def test_one_of_very_many_variants():
    """However many places were tried before."""
    code = sum_of(1, 1.0)
    pick = mapped(*[Variant(code, places=((f"place{k}", "plain"),)) for k in range(300)])
    x = np.ones(1)
    for k in (0, 50, 150, 299):
        assert pick(x, {f"place{k}": six(4.0)}).tolist() == [1.0, 1.0, 4.0]
        assert pick(x, {f"place{k}": Tagged(six(4.0))}).tolist() == [1.0, 1.0, 4.0]


def test_as_many_places_as_a_kernel_can_take():
    count = records.MOST_INPUTS - 1
    places = tuple((f"place{k}", "plain") for k in range(count + 1))

    def last(x, *items):
        return np.array([items[-1][0]])

    right = compiled(last, (1,), *[(2,)] * count)
    pick = mapped(Variant(right, places=places[:-1]), result=1)
    items = {f"place{k}": Tagged(six(k)) for k in range(count)}
    assert pick(np.ones(1), items).tolist() == [count - 1]
    one_more = compiled(last, (1,), *[(2,)] * (count + 1))
    pick = mapped(Variant(one_more, places=places), result=1)
    assert pick(np.ones(1), items | {f"place{count}": six(1.0)})[0] == "python"


def test_what_a_door_leads_to_can_change():
    code = compiled(lambda x: x + 1.0, (1,))
    entry = open_entry((("x", (1,)),), ((1,),), [])
    call, x = entry.bind(Owner()), np.zeros(1)
    assert call(x)[0] == "python"
    entry.set_variants([Variant(code)])
    assert call(x).tolist() == [1.0]
    kept = len(entry._references)
    for _ in range(10):
        entry.set_variants([Variant(code)])
    assert len(entry._references) == kept + 10  # a table each, and no more workspace
    entry.set_variants([])
    assert call(x)[0] == "python"
