"""Many numbers in little memory: count, extremes, mean, deviation, quantiles, and the largest with their places.

Summaries of parts are merged in any order, and the result has the same bits: counts are whole numbers, extremes do not
depend on an order, and means are merged along the numbers of their blocks. Quantiles are read from counts of intervals
whose bounds are floats with ten bits behind the first, so they are right to 5·10⁻⁴ of their value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from kinetree.base.arguments import as_number
from kinetree.errors import ArgumentError
from kinetree.ops import Array

SHIFT = 42
"""Bits of a float64 that an interval does not tell apart."""
TINY = 1e-300
_POSITIVE = np.int64(2**63 - 1)


@dataclass(frozen=True)
class Summary:
    """A summary of one number per sample; NaN values are counted and otherwise ignored."""

    keys: Array = field(default_factory=lambda: np.empty(0, np.int64))
    counts: Array = field(default_factory=lambda: np.empty(0, np.int64))
    """Numbers in each interval, in ascending order of the intervals."""
    blocks: Array = field(default_factory=lambda: np.empty((0, 4)))
    """For each block: its number, how many numbers it has, their mean, and the sum of squared differences from it."""
    largest: Array = field(default_factory=lambda: np.empty((0, 2)))
    """The largest numbers and their samples, the largest first."""
    extremes: Array = field(default_factory=lambda: np.array([np.inf, -np.inf]))
    missing: int = 0
    """How many were NaN."""

    @staticmethod
    def of(values: Array, start: int, block: int, worst: int) -> Summary:
        """A summary of the samples start, start + 1, …, in blocks of this size, with so many of the largest."""
        keys, counts = np.unique(_keys(values[~np.isnan(values)]), return_counts=True)
        rows = []
        for k in range(0, len(values), block):
            part = values[k : k + block]
            part = part[~np.isnan(part)]
            with np.errstate(all="ignore"):
                mean = float(part.mean()) if len(part) else 0.0
                rows.append(((start + k) // block, len(part), mean, float(((part - mean) ** 2).sum())))
        there = np.flatnonzero(~np.isnan(values))
        order = there[np.lexsort((there, -values[there]))][:worst]
        largest = np.column_stack([values[order], (order + start).astype(float)])
        found = values[there]
        extremes = np.array([found.min(), found.max()]) if len(found) else np.array([np.inf, -np.inf])
        missing = len(values) - len(there)
        return Summary(keys, counts, np.array(rows, float).reshape(-1, 4), largest, extremes, missing)

    @staticmethod
    def merged(parts: Sequence[Summary], worst: int) -> Summary:
        """The summary of all parts, in any order."""
        keys, places = np.unique(np.concatenate([part.keys for part in parts]), return_inverse=True)
        counts = np.zeros(len(keys), np.int64)
        np.add.at(counts, places, np.concatenate([part.counts for part in parts]))
        largest = np.concatenate([part.largest for part in parts])
        largest = largest[np.lexsort((largest[:, 1], -largest[:, 0]))][:worst]
        extremes = np.array([part.extremes for part in parts])
        extremes = np.array([extremes[:, 0].min(), extremes[:, 1].max()])
        blocks = np.concatenate([part.blocks for part in parts])
        return Summary(keys, counts, blocks, largest, extremes, sum(part.missing for part in parts))

    # -- read --------------------------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """The count of numbers, without NaN."""
        return int(self.counts.sum())

    @property
    def min(self) -> float:
        return float(self.extremes[0]) if self.count else np.nan

    @property
    def max(self) -> float:
        return float(self.extremes[1]) if self.count else np.nan

    @property
    def mean(self) -> float:
        return self._moments()[1] if self.count else np.nan

    @property
    def std(self) -> float:
        """The standard deviation of a sample, with n - 1."""
        count, _, squares = self._moments()
        return float(np.sqrt(squares / (count - 1))) if count > 1 else np.nan

    def _moments(self) -> tuple[float, float, float]:
        """Count, mean and squared differences, merged along the numbers of the blocks."""
        count, mean, squares = 0.0, 0.0, 0.0
        for _, n, own, spread in self.blocks[np.argsort(self.blocks[:, 0], kind="stable")].tolist():
            if n:
                total, apart = count + n, own - mean
                mean += apart * n / total
                squares += spread + apart * apart * count * n / total
                count = total
        return count, mean, squares

    def quantile(self, p: float) -> float:
        """The number that a share p of all does not exceed, to 5·10⁻⁴ of its value."""
        share = as_number("p", p)
        if not 0.0 <= share <= 1.0:
            raise ArgumentError(f"p is {share:g}; expected a number from 0 to 1")
        if not self.count:
            return np.nan
        k = int(np.searchsorted(np.cumsum(self.counts), max(1.0, np.ceil(share * self.count)), side="left"))
        return float(np.clip(_middle(self.keys[k]), self.min, self.max))

    @property
    def worst(self) -> list[tuple[float, int]]:
        """The largest numbers, each with the number of its sample."""
        return [(value, int(sample)) for value, sample in self.largest.tolist()]

    # -- on disk -----------------------------------------------------------------------------------------------

    def to_arrays(self, name: str) -> dict[str, Array]:
        """All of it as arrays, under names that begin with this one."""
        return {f"{name}/{part}": np.asarray(value) for part, value in vars(self).items()}

    @staticmethod
    def from_arrays(name: str, arrays: Mapping[str, Array]) -> Summary:
        """The summary of the arrays of `to_arrays`."""
        own: dict[str, Any] = {each.name: arrays[f"{name}/{each.name}"] for each in fields(Summary)}
        return Summary(**{**own, "missing": int(own["missing"])})


def _keys(values: Array) -> Array:
    """The interval of each number: whole numbers in the order of the floats."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return _ordered(bits) >> SHIFT


def _ordered(bits: Array) -> Array:
    """Bits of floats as whole numbers in the same order, and back."""
    return bits ^ ((bits >> 63) & _POSITIVE)


def _middle(key: Array) -> float:
    middle = np.array([(int(key) << SHIFT) + (1 << (SHIFT - 1))], dtype=np.int64)
    value = float(_ordered(middle).view(np.float64)[0])
    if np.isnan(value):  # beyond the last float there is only infinity
        return float(np.copysign(np.inf, int(key)))
    return 0.0 if abs(value) < TINY else value
