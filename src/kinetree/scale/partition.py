"""Partitions: what one task of a long run does, and what it leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple


class Partition(NamedTuple):
    """Rows start … stop of a source: those of a file, or numbers of samples."""

    name: str
    """Of what is written for it, unique in a run."""
    source: str
    start: int
    stop: int
    version: str = ""
    """What tells that the source has changed: size and time of a file."""

    @property
    def rows(self) -> int:
        return self.stop - self.start

    @property
    def place(self) -> str:
        """Where the rows are, for a sentence."""
        return f"{self.source}, rows {self.start} to {self.stop - 1}"


class Failed(NamedTuple):
    """A partition that failed, and the reason in one sentence."""

    partition: Partition
    reason: str
    stops: bool = False
    """Whether others would fail for the same reason, as on a full disk."""

    @property
    def sentence(self) -> str:
        """Where and why."""
        is_told = self.partition.source in self.reason
        return self.reason if is_told else f"{self.partition.place}: {self.reason}"


class Done(NamedTuple):
    """A partition that was done, and what its task returned."""

    partition: Partition
    value: Any


def split(name: str, source: str, bounds: Iterable[int], rows: int, version: str = "") -> Iterator[Partition]:
    """Partitions of at most so many rows. `bounds` are the rows at which a file is best cut, from 0 to its end: ranges
    between them are joined while they fit, and cut where one alone is too long."""
    cuts = list(bounds)
    ends: list[int] = []
    start = cuts[0]
    for before, after in pairwise(cuts):
        if after - start > rows and before > start:
            ends.append(before)
            start = before
        while after - start > rows:
            start += rows
            ends.append(start)
    if cuts[-1] > start or not ends:
        ends.append(cuts[-1])
    digits = max(4, len(str(len(ends) - 1)))
    for k, (first, last) in enumerate(pairwise([cuts[0], *ends])):
        yield Partition(f"{name}.{k:0{digits}}", source, first, last, version)
