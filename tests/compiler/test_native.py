"""Native calls of kernels made by hand: what they take, what they return, and what they leave to Python."""

import pickle
import platform
import sys
import sysconfig
import types
from typing import NamedTuple

import numpy as np
import pytest

from kinetree.compiler import native
from kinetree.compiler.assumptions import counts_are_as_expected
from kinetree.compiler.call import Kernel
from kinetree.compiler.emit.entry import records
from kinetree.compiler.jit import host
from kinetree.compiler.native import Door, Interface, Mapping, Variant
from kinetree.compiler.program import build
from natively import native_only

pytestmark = native_only


class Owner:
    """What the calls below belong to."""


def python(self, /, *args, **named):
    return "python", args, named


def compiled(function, *shapes):
    return Kernel(build(function, shapes, host())).load("single")


def open_door(arrays, results, variants, *, options=(), defaults=(), mapping=None, bare=True, fallback=python):
    text = f"call($self, {', '.join(name for name, _ in arrays)})\n--\n\nWhat it does."
    door = Door(Interface("call", text, arrays, options, defaults, mapping, results, bare, fallback, __name__))
    door.lead_to(variants)
    return door


@pytest.fixture(scope="module")
def add():
    """(x, y) of three numbers each to x + 2 y."""
    code = compiled(lambda x, y: x + 2.0 * y, (3,), (3,))
    return open_door((("x", (3,)), ("y", (3,))), ((3,),), [Variant(code)]).bind(Owner())


X, Y = np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 30.0])
SUM = [21.0, 42.0, 63.0]


def test_native_calls_work_here():
    expected = (
        sys.implementation.name == "cpython"
        and not sysconfig.get_config_var("Py_GIL_DISABLED")
        and platform.machine().lower() in ("x86_64", "amd64", "aarch64", "arm64")
        and sys.maxsize > 2**32
    )
    assert native._works() == expected
    assert native.available() == expected
    assert counts_are_as_expected()


def test_positions_and_names(add):
    assert type(add) is types.BuiltinFunctionType
    for result in (add(X, Y), add(X, y=Y), add(x=X, y=Y), add(y=Y, x=X), add(*(X, Y), **{"out": None})):
        assert type(result) is np.ndarray and result.dtype == np.float64
        assert result.tolist() == SUM
        assert result.flags.owndata and result.flags.writeable and result.flags.c_contiguous and result.base is None
    out = np.zeros(3)
    assert add(X, Y, out=out) is out and out.tolist() == SUM
    assert add(out=out, y=X, x=X) is out and out.tolist() == [3.0, 6.0, 9.0]


def from_raw(offset, dtype="f8", values=X):
    raw = np.zeros(64, np.uint8)
    view = raw[offset : offset + 24].view(dtype)
    view[...] = values
    return view


class Subclass(np.ndarray):
    pass


NOT_PLAIN = {
    "list": [1.0, 2.0, 3.0],
    "tuple": (1.0, 2.0, 3.0),
    "number": 1.0,
    "scalar": np.float64(1.0),
    "None": None,
    "string": "abc",
    "bytes": b"x" * 24,
    "memoryview": memoryview(X),
    "class": np.ndarray,
    "dtype": X.dtype,
    "short": np.zeros(2),
    "long": np.zeros(4),
    "empty": np.zeros(0),
    "column": np.zeros((3, 1)),
    "row": np.zeros((1, 3)),
    "no axes": np.array(1.0),
    "complex": X.astype(complex),
    "object": X.astype(object),
    "bool": np.ones(3, bool),
    "float32": X.astype(np.float32),
    "long double": X.astype(np.longdouble),
    "int64": X.astype(np.int64),
    "big-endian": X.astype(">f8"),
    "dates": np.zeros(3, "M8[s]"),
    "record": np.zeros(3, [("a", "f8")]),
    "misaligned": from_raw(1),
    "strided": np.zeros(6)[::2],
    "reversed": X[::-1],
    "broadcast": np.broadcast_to(1.0, (3,)),
    "subclass": X.view(Subclass),
    "matrix": X.view(np.matrix),
    "masked": np.ma.array(X),
    "recarray": X.view(np.recarray),
}


@pytest.mark.parametrize("value", NOT_PLAIN.values(), ids=NOT_PLAIN)
def test_anything_but_a_plain_array_goes_to_python(add, value):
    """With the very same arguments, in every place."""
    for args, named in [((value, Y), {}), ((X, value), {}), ((X,), {"y": value}), ((X, Y), {"out": value})]:
        if value is None and "out" in named:
            continue  # as if it were not given
        word, got, got_named = add(*args, **named)
        assert word == "python"
        assert len(got) == len(args) and all(a is b for a, b in zip(got, args, strict=True))
        assert got_named.keys() == named.keys() and all(got_named[key] is named[key] for key in named)


PLAIN = {
    "read-only": np.frombuffer(X.tobytes()),
    "part of another": np.arange(9.0)[3:6],
    "a row": np.arange(9.0).reshape(3, 3)[1],
    "a column, contiguous": np.asfortranarray(np.arange(9.0).reshape(3, 3))[:, 1],
    "unpickled": pickle.loads(pickle.dumps(X)),
    "another dtype object": np.frombuffer(X.tobytes(), pickle.loads(pickle.dumps(X.dtype))),
    "dtype with metadata": X.astype(np.dtype("f8", metadata={"unit": "m"})),
    "little-endian by name": X.astype("<f8"),
    "aligned in raw memory": from_raw(8),
}


@pytest.mark.parametrize("value", PLAIN.values(), ids=PLAIN)
def test_plain_arrays_are_read_where_they_are(add, value):
    result = add(value, X)
    assert type(result) is np.ndarray and result.tolist() == [a + 2 * b for a, b in zip(value, X, strict=True)]


def test_arguments_that_do_not_match_the_signature(add):
    many = [X] * 5000
    names = {f"name{k}": X for k in range(5000)}
    for args, named in [
        ((), {}),
        ((X,), {}),
        ((X, Y, Y), {}),
        ((X, Y, None), {}),
        (many, {}),
        ((X, Y), names),
        ((), names),
        (many, names),
        ((X, Y), {"z": X}),
        ((X, Y), {"x": X}),
        ((X,), {"x": X}),
        ((), {"y": Y}),
        ((X, Y), {"self": X}),
        ((X, Y), {"": X}),
        ((X, Y), {"out\0": X}),
    ]:
        word, got, got_named = add(*args, **named)
        assert word == "python" and list(got) == list(args) and got_named == named


def test_an_exception_of_the_python_path_comes_through():
    def fail(self, *args, **named):
        raise KeyError("of the user's")

    call = open_door((("x", (1,)),), ((1,),), [], fallback=fail).bind(Owner())
    with pytest.raises(KeyError, match="of the user's"):
        call(np.zeros(1))
    with pytest.raises(KeyError, match="of the user's"):
        call(None, out=3)


# -- several axes, several results -------------------------------------------------------------------------------------


def many_results(A, b, c):
    """A (2, 3), b (3,), c (): a vector, a number, a matrix, a number."""
    return A @ b, b @ b + c, A.T * c, c * 2.0


@pytest.fixture(scope="module")
def several():
    code = compiled(many_results, (2, 3), (3,), ())
    arrays = (("A", (2, 3)), ("b", (3,)), ("c", ()))
    return open_door(arrays, ((2,), (), (3, 2), ()), [Variant(code)], bare=False).bind(Owner())


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
        (np.asfortranarray(A), b, c),
        (A.reshape(6), b, c),
        (A.reshape(3, 2), b, c),
        (A[None], b, c),
        (np.ones((2, 4))[:, :3], b, c),
        (A, b, np.ones(1)),
        (A, b, 1),
        (A, b, True),
        (A, b, np.float32(1.0)),
    ):
        assert several(*args)[0] == "python"
    for number in (1.0, np.float64(1.0)):
        assert [np.array_equal(x, y) for x, y in zip(several(A, b, number), several(A, b, c), strict=True)] == [
            True
        ] * 4
    assert several(A, b, c, out=None)[0].tolist() == [3.0, 3.0]
    assert several(A, b, c, out=np.zeros(2))[0] == "python"  # it has no `out`


def test_no_numbers_at_all():
    code = compiled(lambda x: (x * 2.0, np.zeros((0, 3))), (0,))
    call = open_door((("x", (0,)),), ((0,), (0, 3)), [Variant(code)], bare=False).bind(Owner())
    results = call(np.zeros(0))
    assert [item.shape for item in results] == [(0,), (0, 3)]
    assert call(np.zeros(1))[0] == "python"
    bare = open_door((("x", (0,)),), ((0,),), [Variant(compiled(lambda x: x * 2.0, (0,)))]).bind(Owner())
    out = np.zeros(0)
    assert bare(np.zeros(0)).shape == (0,) and bare(np.zeros(0), out=out) is out


def test_a_number_may_be_written_to_out():
    call = open_door((("x", (2,)),), ((),), [Variant(compiled(lambda x: x @ x, (2,)))]).bind(Owner())
    out = np.zeros(())
    x = np.array([3.0, 4.0])
    assert type(call(x)) is np.float64 and call(x) == 25.0
    assert call(x, out=out) is out and out == 25.0
    assert call(x, out=np.zeros(1))[0] == "python"


def test_more_than_a_native_call_can_have():
    arrays = tuple((f"x{k}", (1,)) for k in range(records.MOST_PARAMETERS))
    with pytest.raises(ValueError, match="more arguments or results"):
        open_door(arrays, ((1,),), [])
    with pytest.raises(ValueError, match="more arguments or results"):
        open_door(arrays[:1], ((1,),) * records.MOST_OUTPUTS, [], bare=False)
    most = arrays[:-1]
    code = compiled(lambda *x: sum(x), *[shape for _, shape in most])
    call = open_door(most, ((1,),), [Variant(code)]).bind(Owner())
    assert call(*[np.ones(1)] * len(most)).tolist() == [len(most)]
    assert call(**{sys.intern(name): np.ones(1) for name, _ in most}).tolist() == [len(most)]


# -- out ---------------------------------------------------------------------------------------------------------------


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
    return open_door((("x", (20,)),), ((20,),), [Variant(code, has_status=True)]).bind(Owner())


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


# -- options -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def choice():
    variants = [
        Variant(compiled(lambda x, a=a, b=b: x * 10.0 * a + b, (1,)), (f"a{a}", f"b{b}"))
        for a, b in [(1, 1), (1, 2), (2, 1)]
    ]
    options, defaults = ("first", "second"), ("a1", "b1")
    return open_door((("x", (1,)),), ((1,),), variants, options=options, defaults=defaults).bind(Owner())


def not_interned(word):
    made = "".join(list(word))
    assert made == word and made is not sys.intern(word)
    return made


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


class Word(str):
    """A string that is not quite a string."""

    def __eq__(self, other):
        raise RuntimeError("do not compare me")

    __hash__ = str.__hash__


def test_options_that_no_variant_has(choice):
    x = np.ones(1)
    for word in ("a3", "", "a1 ", "A1", None, 1, b"a1", Word("a1"), "\ud800", ["a1"], np.str_("a1"), x):
        assert choice(x, word)[0] == "python"
        assert choice(x, second=word)[0] == "python"
    assert choice(x, "a2", "b2")[0] == "python"
    assert choice(x, "a1", first="a1")[0] == "python"
    assert choice(x, **{not_interned("second"): "b2"})[0] == "python"


# -- mappings ----------------------------------------------------------------------------------------------------------


class Tagged:
    def __init__(self, value, tag="plain"):
        self.value, self.tag = value, tag


PLACES = Mapping("items", (2,), Tagged, "value", "tag", "plain")


def mapped(*variants, result=3):
    return open_door((("x", (1,)),), ((result,),), variants, mapping=PLACES).bind(Owner())


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
        {"a": [1.0, 2.0]},
        {"a": None},
        {"a": Tagged(None)},
        {"a": Tagged(w, "unheard")},
        {"a": Tagged(w, None)},
        {"a": Tagged(w, Word("odd"))},
        {"a": Odd(w)},
        {"a": unset},
        {1: w},
        {None: w},
        {b"a": w},
        {Word("a"): w},
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
    door = open_door((("x", (1,)),), ((1,),), [])
    call, x = door.bind(Owner()), np.zeros(1)
    assert call(x)[0] == "python"
    door.lead_to([Variant(code)])
    assert call(x).tolist() == [1.0]
    kept = len(door._kept)
    for _ in range(10):
        door.lead_to([Variant(code)])
    assert len(door._kept) == kept + 10  # a table each, and no more room to work in
    door.lead_to([])
    assert call(x)[0] == "python"


# -- what need not be given --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def weighted():
    """(x, y, w=2, z=0) to x + w y + z; of two arguments the last may be a tuple."""
    code = compiled(lambda x, y, w, z: x + w[0] * y + z, (3,), (3,), (1,), (3,))
    arrays = (("x", (3,)), ("y", (3,)), ("w", (1,)), ("z", (3,)))
    presets = (None, None, np.array([2.0]), np.zeros(3))
    interface = Interface(
        "call", "call($self)\n--\n\n", arrays, (), (), None, ((3,),), True, python, __name__, presets, 2
    )
    door = Door(interface)
    door.lead_to([Variant(code)])
    return door.bind(Owner())


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
    assert weighted(X, (Y,), z=X).tolist() == [22.0, 44.0, 66.0]
    for given in ((), (Y, one, X, X), (Y, one, X, X) * 20, (X[:2],), ([1.0, 2.0, 3.0],), [Y, one], ("y",), (None,)):
        assert weighted(X, given)[0] == "python"
    assert weighted(X, (Y, one), w=one)[0] == "python"  # given twice
    assert weighted((X, Y))[0] == "python"


def test_tuples_and_presets_leave_no_references(weighted):
    w = np.array([2.0])
    pair, named = (Y, w), Pair(Y, w)
    objects = [X, Y, w, pair, named]
    before = [sys.getrefcount(item) for item in objects]
    for _ in range(2000):
        weighted(X, pair), weighted(X, named), weighted(X, Y), weighted(X, (Y,)), weighted(X, (w,))
    assert [sys.getrefcount(item) for item in objects] == before
