"""Sentences of errors: on one line, of bounded length, with nothing that a terminal would obey, and a near name."""

import pickle

import pytest

import kinetree as kt
from kinetree import errors


class Lines:
    def __repr__(self):
        return "one\n    two"


class Unwilling:
    def __repr__(self):
        raise RuntimeError("no")


SHORT = {
    "number": (1.5, "1.5"),
    "line breaks": ("a\nb", r"'a\nb'"),
    "several lines": (Lines(), "one two"),
    "long": ("x" * 200, f"'{56 * 'x'}… (str)"),
    "no repr": (Unwilling(), "something of type Unwilling"),
    "too many digits": (10**10_000, "something of type int"),
}


@pytest.mark.parametrize(("value", "text"), SHORT.values(), ids=SHORT)
def test_short(value, text):
    assert errors.short(value) == text


def test_printable_writes_out_what_a_terminal_would_obey():
    assert errors.printable("plain é") == "plain é"
    assert errors.printable("\x1b[2J\n\u202e") == "\\x1b[2J\\n\\u202e"
    assert str(kt.ModelError("link '\x1b[31m'")) == "link '\\x1b[31m'"
    assert str(errors.UnknownNameError("one sentence")) == "one sentence"  # not its repr, as of a KeyError


def test_unknown_names_the_nearest_the_few_or_the_first():
    assert str(errors.unknown("frame", "tool", ["base", "tool0"])).endswith("did you mean 'tool0'?")
    assert str(errors.unknown("frame", "x", ["base", "hand"])) == "frame 'x' does not exist; there are 'base', 'hand'"
    assert str(errors.unknown("frame", "x", [])).endswith("there are none")
    assert str(errors.unknown("frame", "?", [f"n{k}" for k in range(13)])).endswith("there are 13, the first 'n0'")
    assert str(errors.unknown("frame", None, ["base"])).startswith("frame None does not exist")


def test_known_and_one_of_return_plain_words():
    class Word(str):
        __slots__ = ()

    for found in (errors.known("frame", Word("hand"), ["base", "hand"]), errors.one_of("mode", Word("hand"), ["hand"])):
        assert found == "hand" and type(found) is str
    with pytest.raises(kt.UnknownNameError, match="did you mean 'hand'"):
        errors.known("frame", "hant", ["hand"])
    with pytest.raises(kt.ArgumentError, match=r"^mode is 3; expected 'slow' or 'fast'$"):
        errors.one_of("mode", 3, ["slow", "fast"])


def test_errors_are_also_those_of_python_and_can_be_pickled():
    assert issubclass(kt.ArgumentError, ValueError) and issubclass(kt.ArgumentTypeError, TypeError)
    assert issubclass(kt.UnknownNameError, KeyError) and issubclass(kt.SingularMassMatrixError, ArithmeticError)
    error = pickle.loads(pickle.dumps(errors.InfeasibleError("no point")))
    assert type(error) is errors.InfeasibleError and str(error) == "no point" and error.rows == ()
