"""Answers are compared with what they must be; a wrong one gets a hint, never the solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from kinetree.course.exercise import Exercise, find, swapped
from kinetree.ops import Array

TOLERANCE = 1e-6
"""Relative to the largest entry: answers by hand may be rounded in the seventh digit."""


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, with a hint if not. It is true if it is right."""

    passed: bool
    message: str

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return f"{'✓' if self.passed else '✗'} {self.message}"


def given(number: str) -> SimpleNamespace:
    """The data of an exercise, by name: robots, states, numbers."""
    values = {
        name: value.copy() if isinstance(value, np.ndarray) else value for name, value in find(number).given.items()
    }
    return SimpleNamespace(**values)


def check(number: str, answer: Any) -> Verdict:
    """Whether the answer of this exercise is right: an array, or a function where one is asked for."""
    asked = find(number)
    title = f"{asked.number} {asked.title}"
    if asked.draw is not None and not callable(answer):
        return Verdict(False, f"{title}: expected a function of {asked.arguments}, not a value")
    if asked.draw is None and callable(answer):
        return Verdict(False, f"{title}: expected a value, not a function")
    cases = asked.cases()
    expected = [_array(asked.answer(*case)) for case in cases]
    found = []
    for case, right in zip(cases, expected, strict=True):
        try:
            value = _array(
                answer(*(np.copy(x) if isinstance(x, np.ndarray) else x for x in case)) if asked.draw else answer
            )
        except Exception as error:
            return Verdict(False, f"{title}: {type(error).__name__}: {error}")
        if value.shape != right.shape:
            if value.T.shape == right.shape and value.ndim == 2:
                return Verdict(False, f"{title}: the shape is {value.shape}, that of the transpose of what is asked")
            return Verdict(False, f"{title}: the shape is {value.shape}; expected {right.shape}")
        if not np.isfinite(value).all():
            return Verdict(False, f"{title}: some entries are not numbers, or infinite")
        found.append(value)
    if asked.holds is not None:
        if all(asked.holds(value, *case) for value, case in zip(found, cases, strict=True)):
            return Verdict(True, f"{title}: right")
    elif all(map(_close, found, expected)):
        return Verdict(True, f"{title}: right")
    return Verdict(False, f"{title}: {_hint(asked, cases, expected, found)}")


def _hint(asked: Exercise, cases: list[tuple[Any, ...]], expected: list[Array], found: list[Array]) -> str:
    """The mistake that would give this answer; else which entries are wrong."""
    for hint, wrong in asked.mistakes.items():
        if all(_close(value, _array(wrong(*case))) for value, case in zip(found, cases, strict=True)):
            return hint
    for hint, change in COMMON.items():
        try:
            if all(_close(value, change(right)) for value, right in zip(found, expected, strict=True)):
                return hint
        except (ValueError, IndexError):
            continue
    if asked.holds is not None:
        return "it does not do what is asked"
    scale = [max(1.0, np.abs(right).max()) for right in expected]
    wrong_at = np.any(
        [np.abs(value - right) > TOLERANCE * s for value, right, s in zip(found, expected, scale, strict=True)], axis=0
    )
    if wrong_at.ndim == 0 or wrong_at.all():
        return "no entry is right yet"
    places = np.argwhere(wrong_at)
    shown = ", ".join(str(place[0] if len(place) == 1 else tuple(map(int, place))) for place in places[:6])
    more = " and others" if len(places) > 6 else ""
    return f"{wrong_at.size - len(places)} of {wrong_at.size} entries are right; look at {shown}{more}, counted from 0"


COMMON: dict[str, Callable[[Array], Array]] = {
    "the sign is the other way round: check what acts on what, and what is seen from where": lambda x: -x,
    "it is transposed: rows and columns have changed places": lambda x: _other(x.T, x),
    "linear and angular parts have changed places: 6-vectors are linear first here": lambda x: _other(swapped(x), x),
    "it is twice as large: is there a factor 1/2?": lambda x: 2.0 * x,
    "it is half as large: is there a factor 2?": lambda x: 0.5 * x,
    "it is in degrees; expected radians": np.rad2deg,
    "it is zero": lambda x: 0.0 * x,
}


def _other(changed: Array, x: Array) -> Array:
    if changed.shape != x.shape or np.allclose(changed, x):
        raise ValueError
    return changed


def _close(x: Array, y: Array) -> bool:
    return x.shape == y.shape and bool(
        np.abs(x - y).max(initial=0.0) <= TOLERANCE * max(1.0, np.abs(y).max(initial=0.0))
    )


def _array(value: Any) -> Array:
    return np.asarray(value, dtype=float)
