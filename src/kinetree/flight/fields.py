"""How the fields of flying parts are read: finite numbers, three of them, positive ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.base.arguments import as_constant, as_real, number_that
from kinetree.equations.lagrange import as_nonnegative as nonnegative
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.simulation.contact.touch import as_positive as positive
from kinetree.simulation.contact.touch import as_share as fraction

__all__ = ["finite", "fraction", "nonnegative", "positive", "some", "text", "three", "turn"]

finite = number_that(lambda x: bool(np.isfinite(x)), "a finite number")


def three(name: str, value: Any) -> tuple[float, ...]:
    """Three finite numbers as a tuple, which is hashable."""
    return some(name, value, 3)


def some(name: str, value: Any, count: int | None = None) -> tuple[float, ...]:
    """Finite numbers as a tuple, `count` of them if it is given."""
    if count is not None:
        numbers = as_constant(name, value, (count,))
    else:
        numbers = as_real(name, value, "an array of shape (n,)")
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise ArgumentError(f"{name} is {short(value)}; expected {count or 'some'} finite numbers")
    return tuple(numbers.tolist())


def turn(name: str, value: Any) -> int:
    """A sense of rotation: 1 counter-clockwise about the axis, -1 clockwise."""
    if isinstance(value, bool) or value not in (1, -1):
        raise ArgumentError(f"{name} is {short(value)}; expected 1, counter-clockwise about the axis, or -1")
    return int(value)


def text(name: str, value: Any) -> str:
    """A name."""
    if not isinstance(value, str):
        raise ArgumentTypeError(f"{name} is {short(value)}; expected a name")
    return value
