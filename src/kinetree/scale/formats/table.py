"""What the formats share: the columns that are asked for, and the interface of a format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kinetree.base.files import replaced
from kinetree.errors import ArgumentError, short
from kinetree.ops import Array
from kinetree.scale.partition import Partition


class Column(NamedTuple):
    """An array that calls take: its name, its length for one state if that is known, and the names of its entries."""

    name: str
    size: int | None = None
    entries: tuple[str, ...] = ()

    @property
    def by_entry(self) -> tuple[str, ...]:
        """Names of the columns where each coordinate has its own: "q.elbow"."""
        return tuple(f"{self.name}.{entry}" for entry in self.entries)


class Field(NamedTuple):
    """An array that is written: its name, its shape for one state, and its unit."""

    name: str
    shape: tuple[int, ...]
    unit: str = ""


class Format(ABC):
    """How states are read from a kind of collection, and how results are written. A partition becomes one file."""

    suffix: str

    @abstractmethod
    def bounds(self, path: Path) -> list[int]:
        """Rows at which a source is best cut, from 0 to its end."""

    @abstractmethod
    def read(self, path: Path, start: int, stop: int, columns: Sequence[Column]) -> dict[str, Array]:
        """Arrays (stop - start, …) by name."""

    @abstractmethod
    def write(self, path: Path, arrays: Mapping[str, Array], fields: Sequence[Field], metadata: str) -> None:
        """Write a file with these arrays."""

    def prepare(  # noqa: B027 - files need nothing
        self, out: Path, partitions: Sequence[Partition], fields: Sequence[Field], metadata: str
    ) -> None:
        """What is to be there before the first partition is written."""

    def store(
        self, out: Path, partition: Partition, arrays: Mapping[str, Array], fields: Sequence[Field], metadata: str
    ) -> dict[str, int]:
        """Write the results of a partition, all or nothing; the files and their sizes in bytes."""
        path = out / f"{partition.name}{self.suffix}"
        with replaced(path) as file:
            self.write(file, arrays, fields, metadata)
        return {path.name: path.stat().st_size}


def chosen(path: Path, names: Iterable[str], column: Column) -> tuple[str, ...]:
    """The names in a source that make up a column: its own, or one for every entry."""
    known = set(names)
    if column.name in known:
        return (column.name,)
    if column.entries and known.issuperset(column.by_entry):
        return column.by_entry
    raise ArgumentError(f"{path} has no column {column.name!r}{_hint(known, column)}; there are {_listed(names)}")


def _hint(known: set[str], column: Column) -> str:
    missing = [name for name in column.by_entry if name not in known]
    return f", and none {missing[0]!r}" if missing and len(missing) < len(column.entries) else ""


def _listed(names: Iterable[str]) -> str:
    listed = sorted(names)
    return ", ".join(map(short, listed[:8])) + (f" and {len(listed) - 8} more" if len(listed) > 8 else "") or "none"


def checked(path: Path, array: Any, column: Column, rows: int) -> Array:
    """An array as numbers of the expected shape."""
    found = np.asarray(array)
    if found.dtype.kind not in "fiu":
        raise ArgumentError(f"{path} has {column.name!r} of type {found.dtype}; expected real numbers")
    if column.size is not None and found.shape[1:] != (column.size,):
        raise ArgumentError(f"{path} has {column.name!r} of shape {found.shape[1:]} a row; expected ({column.size},)")
    if len(found) != rows:
        raise ArgumentError(f"{path} has {len(found)} rows of {column.name!r}; expected {rows}")
    return found


def gathered(
    path: Path, names: Iterable[str], columns: Sequence[Column], rows: int, get: Callable[[str], Any]
) -> dict[str, Array]:
    """Every column, from `get(name)` of the one or the several that make it up."""
    listed = list(names)
    found = {}
    for column in columns:
        parts = chosen(path, listed, column)
        arrays = [get(part) for part in parts]
        whole = arrays[0] if parts == (column.name,) else np.stack(arrays, axis=-1)
        found[column.name] = checked(path, whole, column, rows)
    return found
