"""Quantities of every state of a collection that does not fit in memory, partition by partition."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from kinetree import __version__
from kinetree.base.arguments import as_count, as_flag
from kinetree.errors import ArgumentError, one_of
from kinetree.ops import Array
from kinetree.robot import Robot, as_robot
from kinetree.scale.collection import FORMATS, files_of, partitions_of
from kinetree.scale.computed import Computed, as_computed, columns_of, fields_of
from kinetree.scale.formats.table import Column, Field
from kinetree.scale.ledger import Ledger
from kinetree.scale.partition import Partition
from kinetree.scale.run import Engine, Report, as_workers, run

MOST_ROWS = 1_000_000
MOST_BYTES = 256 * 2**20
"""Of a partition, arguments and results together, unless `rows` says otherwise."""
NOT_FINITE = ("refuse", "keep")


def annotate(
    source: Any,
    robot: Robot,
    quantities: Any,
    out: Any,
    engine: Engine = "local",
    *,
    workers: int | None = None,
    rows: int | None = None,
    format: str | None = None,
    nan: str = "refuse",
    overwrite: bool = False,
    client: Any = None,
) -> Report:
    """Compute quantities of all states of `source` and write them to the folder `out`, in the same order.

    source      a folder, a file or a list of files: Parquet, NPZ, or one Zarr group. Arrays are columns called as the
                arguments of the quantities, q, v, a, tau, …: lists of fixed size, or a column "q.elbow" for every
                coordinate
    quantities  names of the robot's quantities, "pose@tool0" for those of a frame, or a dict from names of columns to
                these or to calls whose arguments are columns: bound laws, controllers, frames' calls, plain functions
    engine      "local" in this process, or in so many `workers`; "dask" on the cluster of `client`, "ray" on that of
                `ray.init`, or else on new ones of so many workers on this machine
    rows        states of a partition, which is read, computed and written at once; by default a million, fewer where
                that takes more than 256 MB
    format      "parquet" or "npz", if results are not to have the format of the source
    nan         "refuse" lists a partition with NaN or infinity among its arguments as failed; "keep" computes it
    overwrite   replaces results of another robot or of other quantities

    Each partition is written completely or not at all. A second run does only what is missing; it refuses a folder with
    results of another robot, version, quantity or source format. `out/_kinetree/manifest.json` says what is there. A
    partition that fails is listed in the report, with its reason, and the others are done.
    """
    robot = as_robot(robot)
    one_of("nan", nan, NOT_FINITE)
    count = as_workers(workers, engine, client)
    computed = as_computed(robot, quantities)
    columns = columns_of(robot, computed)
    kind, paths = files_of(source)
    written = _as_format(format, kind)
    ledger = Ledger(out)
    first = _first_state(kind, paths, columns)
    fields = fields_of(robot, computed, first)
    inputs = sum(column.size or first[column.name].size for column in columns)
    size = _rows(rows, ledger, 8 * (inputs + sum(prod(field.shape) for field in fields)))
    ledger.begin(_identity(robot, computed, fields, written, size), as_flag("overwrite", overwrite))
    partitions, unreadable = partitions_of(kind, paths, size)
    facts = _facts(robot, source, fields)
    work = Annotation(computed, columns, fields, kind, written, ledger, json.dumps(facts), nan == "refuse")
    kept = {partition for partition in partitions if ledger.is_done(partition)}
    FORMATS[written].prepare(ledger.out, partitions, fields, work.metadata)
    settings = engine, count, client, ledger, facts
    return run("annotate", "states", work, partitions, *settings, kept=kept, failed=unreadable)


@dataclass(frozen=True)
class Annotation:
    """The function of all tasks: reads a partition, computes its quantities, and writes them."""

    computed: tuple[Computed, ...]
    columns: tuple[Column, ...]
    fields: tuple[Field, ...]
    kind: str
    written: str
    ledger: Ledger
    metadata: str
    refuses: bool

    def __call__(self, partition: Partition) -> dict[str, Any]:
        times = [_clock()]
        arrays = FORMATS[self.kind].read(Path(partition.source), partition.start, partition.stop, self.columns)
        broken = _not_finite(arrays)
        if len(broken) and self.refuses:
            raise ArgumentError(_what_is_broken(arrays, broken, partition.start))
        times.append(_clock())
        results: dict[str, Array] = {}
        for each in self.computed:
            results |= each.results(arrays, partition.rows)
        _check(results, self.fields)
        times.append(_clock())
        files = FORMATS[self.written].store(self.ledger.out, partition, results, self.fields, self.metadata)
        facts = {"not_finite": len(broken), "bytes_read": sum(array.nbytes for array in arrays.values())}
        self.ledger.receive(partition, files, facts)
        times.append(_clock())
        names = ("read", "compute", "write")
        wall, cpu = (dict(zip(names, row, strict=True)) for row in np.diff(times, axis=0).T.tolist())
        written = sum(array.nbytes for array in results.values())
        return {**facts, "bytes_written": written, "seconds": wall, "cpu": cpu}


def _clock() -> tuple[float, float]:
    """Seconds on the wall, and of this process on CPUs."""
    return time.perf_counter(), time.process_time()


def _not_finite(arrays: Mapping[str, Array]) -> Array:
    """Rows that have NaN or infinity. Sums tell in one pass that there are none."""
    with np.errstate(all="ignore"):
        doubtful = [array for array in arrays.values() if not np.isfinite(np.sum(array))]
    if not doubtful:
        return np.empty(0, dtype=np.int64)
    bad = [~np.isfinite(array).reshape(len(array), -1).all(axis=1) for array in doubtful]
    return np.flatnonzero(np.logical_or.reduce(bad))


def _what_is_broken(arrays: Mapping[str, Array], broken: Array, start: int) -> str:
    row = broken[0]
    name = next(name for name, array in arrays.items() if not np.isfinite(array[row]).all())
    place = np.argwhere(~np.isfinite(arrays[name][row]))[0].tolist()
    index = f"[{', '.join(map(str, place))}]" if place else ""
    others = f", as have {len(broken) - 1} other rows" if len(broken) > 1 else ""
    value = arrays[name][row][tuple(place)]
    return f"row {start + row} has {name}{index} = {value:g}{others}; expected finite numbers, or nan='keep'"


def _check(results: Mapping[str, Array], fields: Sequence[Field]) -> None:
    for field in fields:
        if field.name not in results or results[field.name].shape[1:] != field.shape:
            found = results[field.name].shape[1:] if field.name in results else "nothing"
            raise ArgumentError(f"{field.name} has shape {found} a state; expected {field.shape}, as at the start")


def _as_format(format: str | None, kind: str) -> str:
    if format is None:
        return kind
    one_of("format", format, tuple(FORMATS))
    if "zarr" in (format, kind) and format != kind:
        raise ArgumentError(f"format is {format!r} for a source of {kind}; expected {kind!r}")
    return format


def _first_state(kind: str, paths: Sequence[Path], columns: Sequence[Column]) -> dict[str, Array]:
    """The first state of the columns that are no coordinates, whose shapes only the source knows."""
    unknown = [column for column in columns if column.size is None]
    if not unknown:
        return {}
    problem: Exception | None = None
    for path in paths:
        try:
            return FORMATS[kind].read(path, 0, 1, unknown)
        except (ArgumentError, OSError) as found:
            problem = problem or found
    raise ArgumentError(f"no file of the source can be read: {problem}")


def _rows(rows: int | None, ledger: Ledger, bytes_per_state: int) -> int:
    """The size of a partition: the one that is asked for, or that of the earlier run, or one that fits."""
    known = (ledger.manifest or {}).get("identity", {}).get("rows per partition")
    if rows is None:
        return int(known or min(MOST_ROWS, max(1, MOST_BYTES // max(1, bytes_per_state))))
    return as_count("rows", rows, 1)


def _identity(
    robot: Robot, computed: Sequence[Computed], fields: Sequence[Field], written: str, rows: int
) -> dict[str, Any]:
    """What a second run must have in common with the first."""
    return {
        "robot": robot.model.digest,
        "version": __version__,
        "dtype": str(robot.dtype),
        "quantities": {each.name: each.identity for each in computed},
        "columns": [field.name for field in fields],
        "written as": written,
        "rows per partition": rows,
    }


def _facts(robot: Robot, source: Any, fields: Sequence[Field]) -> dict[str, Any]:
    """What the manifest and every file say."""
    return {
        "kinetree": __version__,
        "robot": {"name": robot.name, "digest": robot.model.digest, "nq": robot.nq, "nv": robot.nv},
        "source": [str(each) for each in ([source] if isinstance(source, (str, Path)) else source)],
        "columns": {field.name: {"shape": field.shape, "unit": field.unit} for field in fields},
    }
