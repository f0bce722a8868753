"""Trajectories on disk: NPZ, which NumPy reads, and Parquet, which everything that deals with tables reads.

NPZ holds every array under its name, and beside them one text, in JSON, with names, units and events. Parquet holds one
row for every state of the batch and time: the index of the state, the time, and a column for each number of each
series, called as the entry is, such as "q.elbow"; where a series belongs to steps, the first row of a state is empty.
The schema's metadata hold the rest.
"""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError, KinetreeError
from kinetree.files import replaced
from kinetree.ops import Array
from kinetree.simulation.trajectory import Occurrence, Trajectory

VERSION = 1
_KEY = b"kinetree"


def save(trajectory: Trajectory, path: str | os.PathLike[str]) -> None:
    """To .npz or .parquet, by the ending of the name."""
    kinds: dict[str, Callable[[Trajectory, Path], None]] = {".npz": _save_npz, ".parquet": _save_parquet}
    target = Path(path)
    write = kinds.get(target.suffix.lower())
    if write is None:
        raise ArgumentError(f"path is {str(target)!r}; expected a name that ends with .npz or .parquet")
    with replaced(target) as file:
        write(trajectory, file)


def load(path: str | os.PathLike[str]) -> Trajectory:
    """What `save` wrote."""
    source = Path(path)
    if source.suffix.lower() == ".npz":
        return _load_npz(source)
    if source.suffix.lower() == ".parquet":
        return _load_parquet(source)
    raise ArgumentError(f"path is {str(source)!r}; expected a name that ends with .npz or .parquet")


def _head(trajectory: Trajectory) -> dict[str, Any]:
    """Everything but the large arrays."""
    return {
        "version": VERSION,
        "shapes": {name: array.shape for name, array in trajectory.series.items()},
        "names": dict(trajectory.names),
        "units": dict(trajectory.units),
        "events": [
            {"name": e.name, "index": e.index, "t": e.t, "q": e.q.tolist(), "v": e.v.tolist()}
            for e in trajectory.events
        ],
    }


def _assembled(
    source: Path, head: dict[str, Any], t: Array, series: dict[str, Array], ends: tuple[Array, Array]
) -> Trajectory:
    if head.get("version") != VERSION:
        raise ArgumentError(f"{source} was written in format {head.get('version')}; expected {VERSION}")
    events = tuple(
        Occurrence(e["name"], tuple(e["index"]), e["t"], np.array(e["q"]), np.array(e["v"])) for e in head["events"]
    )
    names, units = ({name: tuple(words) for name, words in head[kind].items()} for kind in ("names", "units"))
    return Trajectory(t, series, *ends, names, units, events)


# -- NPZ ---------------------------------------------------------------------------------------------------------------


def _save_npz(trajectory: Trajectory, path: Path) -> None:
    arrays: dict[str, Any] = {f"series.{name}": array for name, array in trajectory.series.items()}
    arrays |= {"t": trajectory.t, "diverged": trajectory.diverged, "steps": trajectory.steps}
    with open(path, "wb") as file:  # to a name that ends otherwise, as .NPZ, NumPy would add .npz
        np.savez(file, head=np.array(json.dumps(_head(trajectory))), **arrays)


def _load_npz(path: Path) -> Trajectory:
    try:
        with np.load(path, allow_pickle=False) as file:
            head = json.loads(str(file["head"]))
            series = {name: file[f"series.{name}"] for name in head["shapes"]}
            return _assembled(path, head, file["t"], series, (file["diverged"], file["steps"]))
    except (KeyError, TypeError, ValueError, zipfile.BadZipFile, EOFError) as error:
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError(f"{path} is not a trajectory; expected a file that Trajectory.save wrote") from error


# -- Parquet -----------------------------------------------------------------------------------------------------------


def _parquet() -> tuple[Any, Any]:
    try:
        import pyarrow  # noqa: PLC0415 - an extra
        import pyarrow.parquet  # noqa: PLC0415
    except ModuleNotFoundError:
        raise KinetreeError("Parquet is written by the package pyarrow: pip install 'kinetree[recording]'") from None
    return pyarrow, pyarrow.parquet


def _column_names(name: str, shape: tuple[int, ...], labels: tuple[str, ...] | None) -> list[str]:
    if labels is not None and shape and len(labels) == prod(shape):
        return [f"{name}.{label}" for label in labels]
    return [".".join(map(str, (name, *index))) for index in np.ndindex(*shape)]


def _save_parquet(trajectory: Trajectory, path: Path) -> None:
    pyarrow, parquet = _parquet()
    times, axes = len(trajectory.t), len(trajectory.batch)
    states = trajectory.diverged.size
    columns: dict[str, Any] = {"state": np.repeat(np.arange(states), times), "t": np.tile(trajectory.t, states)}
    units = {"t": "s"}
    for name, array in trajectory.series.items():
        shape = array.shape[axes + 1 :]
        flat = array.reshape(states, array.shape[axes], -1)
        if flat.shape[1] == times - 1:  # of steps: what belongs to the instant at which they end
            flat = np.concatenate([np.full((states, 1, flat.shape[2]), np.nan), flat], axis=1)
        listed = _column_names(name, shape, trajectory.names.get(name))
        for column in listed:
            if column in columns:
                raise ArgumentError(f"two columns of the table would be called {column!r}; expected a path with .npz")
        columns |= {column: flat[..., k].reshape(-1) for k, column in enumerate(listed)}
        own = trajectory.units.get(name, ())
        units |= dict(zip(listed, own, strict=True)) if len(own) == len(listed) else {}
    head = _head(trajectory) | {"diverged": trajectory.diverged.tolist(), "steps": trajectory.steps.tolist()}
    fields = [
        pyarrow.field(name, pyarrow.array(data).type, metadata={"unit": units[name]} if name in units else None)
        for name, data in columns.items()
    ]
    schema = pyarrow.schema(fields, metadata={_KEY: json.dumps(head).encode()})
    parquet.write_table(pyarrow.table([pyarrow.array(data) for data in columns.values()], schema=schema), path)


def _load_parquet(path: Path) -> Trajectory:
    pyarrow, parquet = _parquet()
    try:
        table = parquet.read_table(path)
    except pyarrow.ArrowInvalid as error:
        raise ArgumentError(f"{path} is not a Parquet file: {error}") from error
    metadata = table.schema.metadata or {}
    if _KEY not in metadata:
        raise ArgumentError(f"{path} is not a trajectory: its metadata do not say so")
    head = json.loads(metadata[_KEY])
    diverged, steps = np.array(head["diverged"], dtype=bool), np.array(head["steps"], dtype=np.int64)
    states, axes = diverged.size, diverged.ndim
    t = table["t"].to_numpy()
    t = t[: len(t) // max(1, states)]
    series = {}
    for name, shape in head["shapes"].items():
        listed = _column_names(name, tuple(shape[axes + 1 :]), tuple(head["names"].get(name, ())) or None)
        columns = [table[column].to_numpy().reshape(states, len(t)) for column in listed]
        whole = np.stack(columns, axis=-1) if columns else np.empty((states, len(t), 0))
        series[name] = np.ascontiguousarray(whole[:, len(t) - shape[axes] :]).reshape(shape)
    return _assembled(path, head, t, series, (diverged, steps))
