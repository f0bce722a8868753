"""Zarr: a group with an array for every name, states along the first axis. A partition is one chunk of every result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.base.lazy_imports import extra
from kinetree.errors import ArgumentError, KinetreeError
from kinetree.ops import Array
from kinetree.scale.formats.table import Column, Field, Format, chosen, gathered
from kinetree.scale.partition import Partition


class Zarr(Format):
    """Groups of arrays in a folder. Rows that are not done yet are NaN."""

    suffix = ".zarr"

    def bounds(self, path: Path) -> list[int]:
        group = _opened(path)
        arrays = dict(group.arrays())
        counts = {array.shape[0] for array in arrays.values() if array.shape}
        if len(counts) != 1:
            raise ArgumentError(f"{path} has arrays of {sorted(counts) or 'no'} states; expected as many in all")
        return [0, int(counts.pop())]

    def read(self, path: Path, start: int, stop: int, columns: Sequence[Column]) -> dict[str, Array]:
        group = _opened(path)
        names = [name for name, _ in group.arrays()]
        for column in columns:
            chosen(path, names, column)
        try:
            return gathered(path, names, columns, stop - start, lambda name: group[name][start:stop])
        except (KinetreeError, FileNotFoundError):
            raise
        except Exception as error:  # codecs raise anything for a damaged chunk
            raise ArgumentError(f"{path} is damaged: {error}") from error

    def prepare(self, out: Path, partitions: Sequence[Partition], fields: Sequence[Field], metadata: str) -> None:
        if not partitions:
            return
        rows, total = max(partition.rows for partition in partitions), max(each.stop for each in partitions)
        group = _zarr().open_group(str(out), mode="a", attributes={"kinetree": json.loads(metadata)})
        for field in fields:
            shape = (total, *field.shape)
            if field.name not in group or group[field.name].shape != shape:
                group.create_array(
                    field.name, shape=shape, chunks=(max(1, rows), *(max(1, n) for n in field.shape)),
                    dtype=np.float64, compressors=None, fill_value=np.nan, attributes={"unit": field.unit},
                    overwrite=True,
                )  # fmt: skip

    def store(
        self, out: Path, partition: Partition, arrays: Mapping[str, Array], fields: Sequence[Field], metadata: str
    ) -> dict[str, int]:
        group = _opened(out, "r+")
        for field in fields:
            group[field.name][partition.start : partition.stop] = arrays[field.name]
        return {}

    def write(self, path: Path, arrays: Mapping[str, Array], fields: Sequence[Field], metadata: str) -> None:
        raise NotImplementedError  # `store` writes chunks


def _zarr() -> Any:
    with extra("zarr", "Zarr is read and written by the package zarr"):
        import zarr  # noqa: PLC0415 - an extra
    return zarr


def _opened(path: Path, mode: str = "r") -> Any:
    try:
        return _zarr().open_group(str(path), mode=mode)
    except KinetreeError:
        raise
    except Exception as error:  # a damaged group can make it raise anything
        raise ArgumentError(f"{path} is not a Zarr group: {error}") from error
