"""Tables of one and two variables, piecewise linear, as sums of ramps: without a branch, in compiled functions too."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

import numpy as np

from kinetree import ops
from kinetree.base.arguments import read_fields
from kinetree.errors import ArgumentError
from kinetree.flight.fields import some


def ramps(x: Any, knots: tuple[float, ...]) -> list[Any]:
    """For every interval, how much of it lies below x, from 0 to 1: a table is f₀ + Σ (f_{k+1} - f_k) r_k(x).

    With r₀ unbounded below and the last one above, the table goes on in straight lines beyond its ends. Derivatives at
    a knot are those of the interval above it.
    """
    found = []
    for k, (a, b) in enumerate(pairwise(knots)):
        r = (x - a) * (1.0 / (b - a))
        r = r if k == 0 else ops.maximum(r, 0.0)
        found.append(r if k == len(knots) - 2 else ops.minimum(1.0, r))  # at a knot, the slope of the 1
    return found


def _growing(name: str, value: Any) -> tuple[float, ...]:
    knots = some(name, value)
    if len(knots) < 2 or (np.diff(knots) <= 0.0).any():
        raise ArgumentError(f"{name} is {knots}; expected two or more numbers that grow")
    return knots


@final
@dataclass(frozen=True)
class Table:
    """f(x) through points (x_k, f_k), linear between them and beyond."""

    x: Any
    f: Any

    def __post_init__(self) -> None:
        read_fields(self, x=_growing)
        object.__setattr__(self, "f", some("f", self.f, len(self.x)))

    def __call__(self, x: Any) -> Any:
        return _interpolated(x, self.x, self.f)


@final
@dataclass(frozen=True)
class Table2:
    """f(x, y) at the points of a grid, bilinear between them and beyond; f has a row for every x."""

    x: Any
    y: Any
    f: Any

    def __post_init__(self) -> None:
        read_fields(self, x=_growing, y=_growing)
        if np.shape(self.f) != (len(self.x), len(self.y)):
            raise ArgumentError(f"f has shape {np.shape(self.f)}; expected {(len(self.x), len(self.y))}")
        object.__setattr__(self, "f", tuple(some("f", row, len(self.y)) for row in self.f))

    def __call__(self, x: Any, y: Any) -> Any:
        rows = [_interpolated(y, self.y, row) for row in self.f]
        return _interpolated(x, self.x, rows)


def _interpolated(x: Any, knots: tuple[float, ...], values: Any) -> Any:
    total = values[0]
    for k, r in enumerate(ramps(x, knots)):
        total = total + (values[k + 1] - values[k]) * r
    return total
