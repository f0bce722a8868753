"""Every exception and warning the library raises.

Each carries one sentence that names the argument or element, what came and what was expected.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice
from typing import Any, TypeVar

W = TypeVar("W", bound=str)
LONGEST_NAME = 100
MOST_NAMES = 2000
"""Limits on the names, and on their length, that are compared for a suggestion."""


def printable(text: str) -> str:
    """The text with all characters escaped that a terminal would obey instead of show: control characters, escape
    sequences, marks of writing direction, line breaks. They are those that Python's repr escapes."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


class _Sentence(BaseException):
    """An exception that prints its sentence, with characters escaped that a terminal would obey: names in it may come
    from untrusted files."""

    def __str__(self) -> str:  # KeyError would print the repr of the sentence
        return printable(str(self.args[0])) if self.args else ""


class KinetreeError(_Sentence, Exception):
    """Base class of all errors of this library."""


class ModelError(KinetreeError, ValueError):
    """A model file or a description in code that does not describe a robot.

    `findings` has the `kt.Finding`s up to the error, which is the last of them.
    """

    findings: tuple[Any, ...] = ()


class ArgumentError(KinetreeError, ValueError):
    """An argument with the wrong shape or value."""


class ArgumentTypeError(KinetreeError, TypeError):
    """An argument of the wrong type."""


class UnknownNameError(ArgumentError, KeyError):
    """A frame, joint, option or bundled robot that does not exist."""


class SingularMassMatrixError(KinetreeError, ArithmeticError):
    """Forward dynamics of a robot with a joint that moves no mass, so that its mass matrix is singular."""


class DivergenceError(KinetreeError, ArithmeticError):
    """A simulation whose state is not finite after its first step."""


class QuadraticProgramError(KinetreeError, ArithmeticError):
    """A quadratic program that was not solved."""


class InfeasibleError(QuadraticProgramError):
    """A quadratic program whose bounds and equations no point satisfies: `rows` contradict each other, and
    `conflicting` has their names, if they have any."""

    rows: tuple[int, ...] = ()
    conflicting: tuple[str, ...] = ()


class IterationLimitError(QuadraticProgramError):
    """A quadratic program that was not solved within the limit of iterations."""


class NotConvexError(QuadraticProgramError):
    """A quadratic program whose matrix is not positive semidefinite."""


class UnboundedError(QuadraticProgramError):
    """A quadratic program whose cost has no lower bound."""


class NotFiniteError(QuadraticProgramError):
    """A quadratic program with NaN, or with infinity where only bounds may be infinite."""


class PlatformError(KinetreeError, RuntimeError):
    """Machine code that this computer cannot run, or that cannot be made for it."""


class ModelWarning(_Sentence, UserWarning):
    """A model that loads, but contains something that its author probably did not intend."""


class DivergenceWarning(_Sentence, UserWarning):
    """Some states of a simulation became infinite or NaN, and stopped at their last finite value."""


class IncompleteWarning(_Sentence, UserWarning):
    """Some partitions of a long run were not done; its report lists them with their reasons."""


class CacheWarning(_Sentence, UserWarning):
    """Compiled code cannot be stored on disk, so the next process has to compile it again."""


class PlatformWarning(_Sentence, UserWarning):
    """This computer cannot run compiled code, so formulas run as Python, hundreds of times slower."""


def short(value: object) -> str:
    """The repr of a value for use in a sentence: on one line, and cut if it is long."""
    try:
        text = printable(" ".join(repr(value).split()))
    except Exception:  # too many digits, lists nested too deep, or an object's own __repr__
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
    """The name as a plain string, if it is one of these; otherwise raises and suggests a similar one."""
    if not isinstance(name, str) or name not in (listed := list(names)):
        raise unknown(kind, name, names)
    return listed[listed.index(name)]


def one_of(argument: str, value: object, allowed: Iterable[W]) -> W:
    """The value as a plain string, if it is one of the allowed words; otherwise raises and lists them."""
    words = list(allowed)
    if isinstance(value, str) and value in words:
        return words[words.index(value)]
    raise ArgumentError(f"{argument} is {short(value)}; expected {' or '.join(map(repr, words))}")
