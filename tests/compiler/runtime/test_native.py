"""Native calls of kernels made by hand: which arguments they take, and what they leave to Python.

Covers: compiler/codegen/entry/enter.py, compiler/codegen/entry/conversion.py.
"""

import pickle
import types

import numpy as np
import pytest

from entries import SUM, Owner, X, Y, open_entry
from natively import native_only

pytestmark = native_only


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
    "list of words": ["1", "2", "3"],
    "list of large integers": [1.0, 2.0, 10**30],
    "list of flags": [True, False, True],
    "short list": [1.0, 2.0],
    "nested list": [[1.0, 2.0, 3.0]],
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
    "long double": X.astype(np.longdouble),
    "big-endian": X.astype(">f8"),
    "dates": np.zeros(3, "M8[s]"),
    "record": np.zeros(3, [("a", "f8")]),
    "misaligned": from_raw(1),
    "subclass": X.view(Subclass),
    "matrix": X.view(np.matrix),
    "masked": np.ma.array(X),
    "recarray": X.view(np.recarray),
}


@pytest.mark.parametrize("value", NOT_PLAIN.values(), ids=NOT_PLAIN)
def test_what_no_conversion_knows_goes_to_python(add, value):
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


CONVERTED = {
    "list": [1.0, 2.0, 3.0],
    "tuple": (1, np.float64(2.0), 3.0),
    "float32": X.astype(np.float32),
    "int64": np.array([4, -5, 6]),
    "int32": np.array([4, -5, 6], np.int32),
    "strided": np.arange(6.0)[::2],
    "reversed": X[::-1],
    "broadcast": np.broadcast_to(1.0, (3,)),
}


@pytest.mark.parametrize("value", CONVERTED.values(), ids=CONVERTED)
def test_other_layouts_and_types_are_converted(add, value):
    numbers = [float(number) for number in value]
    assert add(value, X).tolist() == [a + 2 * b for a, b in zip(numbers, X, strict=True)]
    assert add(X, y=value).tolist() == [a + 2 * b for a, b in zip(X, numbers, strict=True)]
    assert add(X, Y, out=value)[0] == "python"


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

    call = open_entry((("x", (1,)),), ((1,),), [], fallback=fail).bind(Owner())
    with pytest.raises(KeyError, match="of the user's"):
        call(np.zeros(1))
    with pytest.raises(KeyError, match="of the user's"):
        call(None, out=3)
