"""Exercises: text, given data, reference answer, and typical mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinetree.errors import known
from kinetree.ops import Array
from kinetree.spatial.rotation import matrix_from_rpy

Function = Callable[..., Any]
EXERCISES: dict[str, Exercise] = {}
"""By number, in the order of the course."""


@dataclass(frozen=True, eq=False)
class Exercise:
    """One exercise.

    The answer is an array if there is something given, and a function of the arguments that `draw` makes otherwise.
    """

    number: str
    title: str
    text: str
    answer: Function
    """The answer from what is given, or for one draw of arguments."""
    given: Mapping[str, Any]
    draw: Callable[[np.random.Generator], tuple[Any, ...]] | None
    holds: Function | None
    """Where several answers are right: (answer, *given or drawn) → whether this is one."""
    mistakes: dict[str, Function] = field(default_factory=dict)
    """Hints, with the wrong answers that they are for."""

    def __repr__(self) -> str:
        return f"<Exercise {self.number}: {self.title}>"

    def __str__(self) -> str:
        return f"{self.number} {self.title}: {self.text}"

    @property
    def sheet(self) -> str:
        """The number of its sheet."""
        return self.number.partition(".")[0]

    @property
    def arguments(self) -> str:
        """Names of what the answer is a function of, as in a signature."""
        code = self.answer.__code__
        return ", ".join(code.co_varnames[: code.co_argcount])

    def mistake(self, hint: str) -> Callable[[Function], Function]:
        """A decorator of functions that give a typical wrong answer."""

        def add(wrong: Function) -> Function:
            self.mistakes[hint] = wrong
            return wrong

        return add

    def cases(self, count: int = 4) -> list[tuple[Any, ...]]:
        """What the answer is a function of: all that is given, or some draws of arguments, always the same."""
        if self.draw is None:
            return [tuple(self.given.values())]
        rng = np.random.default_rng(int(self.number.replace(".", "")))
        return [self.draw(rng) for _ in range(count)]


def exercise(
    number: str,
    title: str,
    *,
    draw: Callable[[np.random.Generator], tuple[Any, ...]] | None = None,
    holds: Function | None = None,
    **given: Any,
) -> Callable[[Function], Exercise]:
    """A decorator that makes an exercise of its solution: the docstring is what is asked."""

    def make(answer: Function) -> Exercise:
        made = Exercise(number, title, " ".join((answer.__doc__ or "").split()), answer, given, draw, holds)
        assert number not in EXERCISES
        EXERCISES[number] = made
        return made

    return make


def find(number: str) -> Exercise:
    """The exercise with this number."""
    return EXERCISES[known("exercise", str(number), EXERCISES)]


def swapped(x: Array) -> Array:
    """Linear and angular rows changed."""
    return np.concatenate([x[3:6], x[:3], x[6:]])


def turned(z: float, y: float, x: float) -> Array:
    """The rotation matrix of ZYX Euler angles; nothing is compiled before an exercise is asked for."""
    return matrix_from_rpy((x, y, z))
