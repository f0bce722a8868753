"""Samples of a run, by their numbers: drawn at random, or the points of a grid.

Random samples come in blocks. Each block has its own stream of random numbers, Philox with the seed and the number of
the block as its key, so sample i is the same whoever draws it, and with whatever others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.ops import Array

BLOCK = 256
"""Samples that are drawn together."""


@dataclass(frozen=True)
class Drawn:
    """Samples of a distribution: a function of (rng, size) that returns arrays (size, …) by name, or a dict of such
    functions and of constants by name."""

    distribution: Any
    seed: int
    count: int

    def __post_init__(self) -> None:
        if not callable(self.distribution) and not isinstance(self.distribution, Mapping):
            raise ArgumentTypeError(
                f"distribution is {short(self.distribution)}; expected a function of (rng, size) that returns arrays "
                "by name, or a dict of such functions"
            )
        if not 0 <= self.seed < 2**64:
            raise ArgumentError(f"seed is {self.seed}; expected a whole number below 2**64")

    def take(self, start: int, stop: int) -> dict[str, Array]:
        """The samples start … stop, arrays (stop - start, …) by name."""
        first, last = start // BLOCK, -(-stop // BLOCK)
        blocks = [self._block(k) for k in range(first, last)]
        return {
            name: np.concatenate([block[name] for block in blocks])[start - first * BLOCK :][: stop - start]
            for name in blocks[0]
        }

    def _block(self, k: int) -> dict[str, Array]:
        rng = np.random.Generator(np.random.Philox(key=np.array([self.seed, k], dtype=np.uint64)))
        if isinstance(self.distribution, Mapping):
            parts = self.distribution.items()
            given = {name: each(rng, BLOCK) if callable(each) else _spread(each) for name, each in parts}
        else:
            given = self.distribution(rng, BLOCK)
        if not isinstance(given, Mapping) or not given:
            raise ArgumentTypeError(f"distribution returns {short(given)}; expected a dict of arrays by name")
        arrays = {name: np.asarray(value, dtype=float) for name, value in given.items()}
        for name, array in arrays.items():
            if array.shape[:1] != (BLOCK,):
                raise ArgumentError(
                    f"distribution returns {name!r} of shape {array.shape} for size {BLOCK}; expected ({BLOCK}, …)"
                )
        return arrays


def _spread(value: Any) -> Array:
    array = np.asarray(value, dtype=float)
    return np.broadcast_to(array, (BLOCK, *array.shape))


@dataclass(frozen=True)
class Grid:
    """All combinations of values, the last name fastest."""

    axes: Mapping[str, Array]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(len, self.axes.values()))

    @property
    def count(self) -> int:
        return prod(self.shape)

    def take(self, start: int, stop: int) -> dict[str, Array]:
        """The points start … stop, arrays (stop - start, …) by name."""
        places = np.unravel_index(np.arange(start, stop), self.shape)
        return {name: axis[place] for (name, axis), place in zip(self.axes.items(), places, strict=True)}


def as_grid(grid: Any) -> Grid:
    """A dict from names to values, (k, …) for k points along that axis."""
    if not isinstance(grid, Mapping) or not grid:
        raise ArgumentTypeError(f"grid is {short(grid)}; expected a dict of lists, as {{'gain': [1, 2, 5]}}")
    axes = {}
    for name, values in grid.items():
        array = np.asarray(values)
        if array.dtype.kind not in "fiu" or not array.shape or not len(array):
            raise ArgumentError(f"grid[{name!r}] is {short(values)}; expected a list of numbers or of arrays")
        axes[str(name)] = array.astype(float)
    return Grid(axes)


Metric = Callable[[Any], Any]
