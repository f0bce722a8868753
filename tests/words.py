"""Strings that equal the names a program has written, and are not quite the same."""

import sys


def not_interned(word):
    """Another object."""
    made = "".join(list(word))
    assert made == word and made is not sys.intern(word)
    return made


class Word(str):
    """Another type."""


class Incomparable(str):
    """Another type, which nobody may compare."""

    def __eq__(self, other):
        raise RuntimeError("do not compare me")

    __hash__ = str.__hash__
