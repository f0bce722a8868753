"""Parquet: an array of a state is a list of fixed size in one column, or every entry has a column of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.base.lazy_imports import extra
from kinetree.errors import ArgumentError
from kinetree.ops import Array
from kinetree.scale.formats.table import Column, Field, Format, chosen, gathered

BUFFER = 2**18
"""Bytes that are read at a time, so that they are decoded in the CPU's cache."""


class Parquet(Format):
    """Files that every tool for tables reads. Row groups are read whole: what is cut at their bounds is read once."""

    suffix = ".parquet"

    def bounds(self, path: Path) -> list[int]:
        metadata = _opened(path).metadata
        rows = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
        return [0, *map(int, np.cumsum(rows))] if rows else [0, 0]

    def read(self, path: Path, start: int, stop: int, columns: Sequence[Column]) -> dict[str, Array]:
        file = _opened(path)
        names = file.schema_arrow.names
        bounds = self.bounds(path)
        groups = [k for k, (a, b) in enumerate(pairwise(bounds)) if a < stop and b > start]
        wanted = [name for column in columns for name in chosen(path, names, column)]
        table = file.read_row_groups(groups, columns=wanted, use_threads=False)
        table = table.slice(start - (bounds[groups[0]] if groups else 0), stop - start)
        return gathered(path, names, columns, stop - start, lambda name: _numbers(path, name, table[name]))

    def write(self, path: Path, arrays: Mapping[str, Array], fields: Sequence[Field], metadata: str) -> None:
        pyarrow, parquet = _packages()
        columns, schema = [], []
        for field in fields:
            flat = pyarrow.array(np.ascontiguousarray(arrays[field.name], dtype=np.float64).reshape(-1))
            kind = pyarrow.list_(pyarrow.field("element", flat.type, nullable=False), prod(field.shape))
            column = pyarrow.FixedSizeListArray.from_arrays(flat, type=kind) if field.shape else flat
            about = {"unit": field.unit, "shape": json.dumps(field.shape)}
            columns.append(column)
            schema.append(pyarrow.field(field.name, column.type, nullable=False, metadata=about))
        table = pyarrow.table(columns, schema=pyarrow.schema(schema, metadata={"kinetree": metadata}))
        parquet.write_table(
            table,
            path,
            row_group_size=131_072,  # of files that are written
            use_dictionary=False,
            compression="none",
            write_statistics=False,
            write_page_checksum=True,
        )


def _packages() -> tuple[Any, Any]:
    with extra("recording", "Parquet needs the package pyarrow"):
        import pyarrow  # noqa: PLC0415 - an extra
        import pyarrow.parquet  # noqa: PLC0415
    return pyarrow, pyarrow.parquet


def _opened(path: Path) -> Any:
    pyarrow, parquet = _packages()
    try:
        return parquet.ParquetFile(path, page_checksum_verification=True, buffer_size=BUFFER, pre_buffer=False)
    except (pyarrow.ArrowInvalid, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        first_line = str(error).strip().partition("\n")[0].rstrip(".")
        raise ArgumentError(f"{path} is not a Parquet file: {first_line}") from error


def _numbers(path: Path, name: str, column: Any) -> Array:
    """A column as an array (rows,) or (rows, n)."""
    pyarrow, _ = _packages()
    whole = column.combine_chunks()
    if isinstance(whole, pyarrow.ChunkedArray):  # of no chunks
        whole = pyarrow.concat_arrays(whole.chunks) if whole.num_chunks else pyarrow.array([], type=whole.type)
    rows, size = len(whole), None
    if pyarrow.types.is_fixed_size_list(whole.type):
        size = whole.type.list_size
    elif pyarrow.types.is_list(whole.type) or pyarrow.types.is_large_list(whole.type):
        lengths = np.unique(np.diff(whole.offsets.to_numpy()))
        if len(lengths) > 1:
            raise ArgumentError(f"{path} has rows of {name!r} with {lengths[0]} and with {lengths[-1]} numbers")
        size = int(lengths[0]) if len(lengths) else 0
    if whole.null_count:
        where = np.flatnonzero(whole.is_null().to_numpy(zero_copy_only=False))[0]
        raise ArgumentError(f"{path} has no value of {name!r} in row {where} of the partition")
    flat = whole if size is None else whole.flatten()
    if flat.null_count:
        flat = flat.fill_null(float("nan"))
    numbers = flat.to_numpy(zero_copy_only=False)
    return numbers if size is None else numbers.reshape(rows, size)
