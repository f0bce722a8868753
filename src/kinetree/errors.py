"""Every exception and warning the library raises.

Each carries one sentence that names the argument or element, what came and what was expected.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice
from typing import TypeVar

W = TypeVar("W", bound=str)
LONGEST_NAME = 100
MOST_NAMES = 2000
"""How many names are compared, and how much of each, to find one that may have been meant."""


def printable(text: str) -> str:
    """The text with what a terminal would obey instead of show written out: control characters, escape sequences, marks
    that turn the direction of writing, line breaks. They are those that Python's own repr writes out."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


class _Sentence(BaseException):
    """What shows its sentence, and nothing in it that a terminal would obey: names come from files of others."""

    def __str__(self) -> str:  # KeyError would print the repr of the sentence
        return printable(str(self.args[0])) if self.args else ""


class KinetreeError(_Sentence, Exception):
    """Base of all errors of this library."""


class ModelError(KinetreeError, ValueError):
    """A model file or a description in code that is not a robot."""


class ArgumentError(KinetreeError, ValueError):
    """An argument with the wrong shape or value."""


class ArgumentTypeError(KinetreeError, TypeError):
    """An argument of a type that cannot be read as what was asked for."""


class UnknownNameError(ArgumentError, KeyError):
    """A frame, joint, option or bundled robot that does not exist."""


class SingularMassMatrixError(KinetreeError, ArithmeticError):
    """Forward dynamics was asked of a robot that some joint moves without moving any mass."""


class DivergenceError(KinetreeError, ArithmeticError):
    """A simulation whose numbers are not finite after its first step."""


class QuadraticProgramError(KinetreeError, ArithmeticError):
    """A quadratic program that was not solved."""


class InfeasibleError(QuadraticProgramError):
    """No point keeps all bounds and equations of a quadratic program; `rows` contradict each other, which where they
    have names are called `conflicting`."""

    rows: tuple[int, ...] = ()
    conflicting: tuple[str, ...] = ()


class IterationLimitError(QuadraticProgramError):
    """A quadratic program that was not solved within the iterations it was given."""


class NotConvexError(QuadraticProgramError):
    """The matrix of a quadratic program is not positive semidefinite."""


class UnboundedError(QuadraticProgramError):
    """A quadratic program can be made as small as one likes."""


class NotFiniteError(QuadraticProgramError):
    """A quadratic program with NaN, or with infinity where only bounds may be infinite."""


class ModelWarning(_Sentence, UserWarning):
    """A model that loads, with something in it that its author probably did not mean."""


class DivergenceWarning(_Sentence, UserWarning):
    """Some states of a simulation stopped where they were last well, because their numbers became infinite."""


class CacheWarning(_Sentence, UserWarning):
    """Compiled code cannot be kept on disk, so that the next process will have to compile it again."""


def short(value: object) -> str:
    """A value as it may stand in a sentence: its repr on one line, cut where it gets long."""
    try:
        text = printable(" ".join(repr(value).split()))
    except Exception:  # an integer of too many digits, lists that are nested too deep, whatever an object's own raises
        return f"something of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}… ({type(value).__name__})"


def unknown(kind: str, name: object, known: Iterable[str]) -> UnknownNameError:
    """``frame 'tool' does not exist; did you mean 'tool0'?``"""
    names = list(known)
    short_names = (other for other in names if len(other) <= LONGEST_NAME)
    near = difflib.get_close_matches(str(name)[:LONGEST_NAME], islice(short_names, MOST_NAMES), n=1, cutoff=0.5)
    if near:
        hint = f"did you mean {near[0]!r}?"
    elif len(names) > 12:
        hint = f"there are {len(names)}, the first {short(names[0])}"
    else:
        hint = f"there are {', '.join(map(short, names))}" if names else "there are none"
    return UnknownNameError(f"{kind} {short(name)} does not exist; {hint}")


def known(kind: str, name: object, names: Iterable[str]) -> str:
    """The name as a plain string, if it is one of these; otherwise an error with what may have been meant."""
    if not isinstance(name, str) or name not in (listed := list(names)):
        raise unknown(kind, name, names)
    return listed[listed.index(name)]


def one_of(argument: str, value: object, allowed: Iterable[W]) -> W:
    """That of the allowed words which the value is, as a plain string; otherwise an error that lists them."""
    words = list(allowed)
    if isinstance(value, str) and value in words:
        return words[words.index(value)]
    raise ArgumentError(f"{argument} is {short(value)}; expected {' or '.join(map(repr, words))}")
