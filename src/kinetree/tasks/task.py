"""What all tasks have in common: what a residual counts, and what it is called."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.base.arguments import as_flag, as_numbers
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.ops import Array

Numbers = float | tuple[float, ...]
"""One for all rows, or one for every row."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A residual to minimise, weighted against those of other tasks.

    weight     of the residual, a number or one for every row, among tasks of one priority
    priority   tasks with a smaller number come first, and later ones do not change their residuals
    hard       whether it is an equality constraint, which may make the problem infeasible; in whole-body control only
    name       in references, weights and errors
    """

    weight: Numbers = 1.0
    priority: int = 0
    hard: bool = False
    name: str | None = None

    def __post_init__(self) -> None:
        self._read_numbers("weight")
        if isinstance(self.priority, bool) or not isinstance(self.priority, (int, np.integer)):
            raise ArgumentTypeError(f"priority is {short(self.priority)}; expected an integer, smaller ones first")
        object.__setattr__(self, "priority", int(self.priority))
        object.__setattr__(self, "hard", as_flag("hard", self.hard))
        object.__setattr__(self, "name", self.default_name if self.name is None else str(self.name))

    @property
    def default_name(self) -> str:
        """Unless another is given: that of its class, in lower case."""
        return snake(type(self).__name__)

    def per_row(self, setting: str, size: int) -> Array:
        """A setting as one number for every row, (size,)."""
        numbers = getattr(self, setting)
        if isinstance(numbers, tuple) and len(numbers) != size:
            raise ArgumentError(
                f"{setting} of task {self.name!r} has {len(numbers)} numbers; expected one, or {size} for its rows"
            )
        return np.broadcast_to(np.asarray(numbers, dtype=float), (size,))

    def _read_numbers(self, setting: str) -> None:
        """Keep a setting as a number or a tuple of them; none is negative."""
        given = getattr(self, setting)
        numbers = as_numbers(setting, given)
        if not np.size(numbers) or not np.isfinite(numbers).all() or np.min(numbers) < 0.0:
            raise ArgumentError(f"{setting} is {short(given)}; expected positive numbers, or zero")
        object.__setattr__(self, setting, numbers)


def snake(name: str) -> str:
    """The name of a class as that of an argument: center_of_mass of CenterOfMass."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
