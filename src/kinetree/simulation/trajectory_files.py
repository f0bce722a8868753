"""Trajectories on disk: NPZ, which NumPy reads, and Parquet, which everything that deals with tables reads.

NPZ holds every array under its name, and beside them one text, in JSON, with names, units and events. Parquet holds one
row for every state of the batch and time: the index of the state, the time, and a column for each number of each
series, called as the entry is, such as "q.elbow"; where a series belongs to steps, the first row of a state is empty.
The schema's metadata hold the rest.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

import numpy as np

from kinetree.base.files import replaced
from kinetree.base.lazy_imports import extra
from kinetree.errors import ArgumentError, ArgumentTypeError, KinetreeError, short
from kinetree.ops import Array
from kinetree.simulation.trajectory import Occurrence, Trajectory

VERSION = 1
UNPACKED = 256 * 2**20
NPZ_RATIO, PARQUET_RATIO = 20, 2000
"""How many times its size a file may take in memory, if that is more than `UNPACKED`: NPZ is written as it is, and
Parquet has few bytes for a column of equal numbers."""
_KEY, _SUM = b"kinetree", b"kinetree.sha256"


def save(trajectory: Trajectory, path: str | os.PathLike[str]) -> None:
    """Writes .npz or .parquet, by the ending of the name; through a link, to where it leads."""
    kinds: dict[str, Callable[[Trajectory, Path], None]] = {".npz": _save_npz, ".parquet": _save_parquet}
    given = _named(path)
    _check(trajectory.t, trajectory.series, trajectory.diverged)
    with replaced(given) as file:
        kinds[given.suffix.lower()](trajectory, file)


def _named(path: Any) -> Path:
    """A path with one of the endings that say what is in a file."""
    try:
        named = Path(path)
    except TypeError:
        raise ArgumentTypeError(f"path is {short(path)}; expected the name of a file") from None
    if named.suffix.lower() not in (".npz", ".parquet") or "\0" in str(named):
        raise ArgumentError(f"path is {str(named)!r}; expected a name that ends with .npz or .parquet")
    return named


def load(path: str | os.PathLike[str]) -> Trajectory:
    """The trajectory that `save` wrote."""
    source = _named(path)
    read = _load_npz if source.suffix.lower() == ".npz" else _load_parquet
    with open(source, "rb") as file:  # what the system has to say of it is said as it is
        try:
            return read(source, file)
        except KinetreeError:
            raise
        except Exception as error:  # a damaged file can make readers raise anything
            raise ArgumentError(f"{source} is not a trajectory; expected a file that Trajectory.save wrote") from error


def _check(t: Array, series: Mapping[str, Array], diverged: Array) -> None:
    """Raises where arrays do not belong together."""
    batch = np.shape(diverged)
    for name, array in series.items():
        shape = np.shape(array)
        leading, times = shape[: len(batch)], shape[len(batch) : len(batch) + 1]
        if np.ndim(t) != 1 or leading != batch or times not in ((len(t),), (len(t) - 1,)):
            listed = ", ".join(map(str, (*batch, len(t))))
            raise ArgumentError(f"series {name!r} has shape {shape}; expected ({listed}, …), or one time fewer")


def _head(trajectory: Trajectory) -> dict[str, Any]:
    """All of a trajectory but the large arrays."""
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


def _read_head(source: Path, text: str | bytes) -> dict[str, Any]:
    """The text that stands beside the arrays, after checking that its values have the types they are used as."""
    head = json.loads(text)
    if not isinstance(head, dict) or head.get("version") != VERSION:
        version = head.get("version") if isinstance(head, dict) else None
        raise ArgumentError(f"{source} was written in format {short(version)}; expected {VERSION}")
    shapes = [size for shape in head["shapes"].values() for size in shape]
    words = [word for kind in ("names", "units") for listed in head[kind].values() for word in listed]
    whole = [*shapes, *(index for event in head["events"] for index in event["index"])]
    if not all(type(number) is int and number >= 0 for number in whole):
        raise ValueError("a shape or an index is not of whole numbers")
    if not all(isinstance(word, str) for word in (*words, *(event["name"] for event in head["events"]))):
        raise ValueError("a name or a unit is not a word")
    return head


def _assembled(
    source: Path, head: dict[str, Any], t: Array, series: dict[str, Array], ends: tuple[Array, Array]
) -> Trajectory:
    for name, shape in head["shapes"].items():
        if series[name].shape != tuple(shape) or series[name].dtype.kind not in "fiub":
            raise ValueError(f"{name} was changed after it was written")
    diverged, steps = ends
    if diverged.dtype.kind != "b" or steps.dtype.kind not in "iu" or steps.shape != diverged.shape:
        raise ArgumentError(
            f"{source} is not a trajectory: which states diverged, or how many steps they made, is lost"
        )
    if t.ndim != 1 or t.dtype.kind not in "fiu":
        raise ArgumentError(f"{source} is not a trajectory: t has shape {t.shape} of {t.dtype}; expected real numbers")
    if not (np.isfinite(t).all() and (np.diff(t) >= 0).all()):
        raise ArgumentError(f"{source} is not a trajectory: its times t are not finite, or do not ascend")
    _check(t, series, diverged)
    events = tuple(
        Occurrence(e["name"], tuple(e["index"]), float(e["t"]), np.array(e["q"], float), np.array(e["v"], float))
        for e in head["events"]
    )
    names, units = ({name: tuple(words) for name, words in head[kind].items()} for kind in ("names", "units"))
    return Trajectory(t.astype(float, copy=False), series, diverged, steps, names, units, events)


def _check_unpacked(path: Path, source: IO[bytes], unpacked: int, ratio: int) -> None:
    """Raises where a file is packed so tight that it was made to fill the memory; leaves it at its start."""
    size = source.seek(0, os.SEEK_END)
    source.seek(0)
    if unpacked > max(ratio * size, UNPACKED):
        raise ArgumentError(f"{path} has {size >> 10} kB that unpack to {unpacked >> 20} MB; expected a trajectory")


# -- NPZ ---------------------------------------------------------------------------------------------------------------


def _save_npz(trajectory: Trajectory, path: Path) -> None:
    arrays: dict[str, Any] = {f"series.{name}": array for name, array in trajectory.series.items()}
    arrays |= {"t": trajectory.t, "diverged": trajectory.diverged, "steps": trajectory.steps}
    with open(path, "wb") as file:  # to a name that ends otherwise, as .NPZ, NumPy would add .npz
        np.savez(file, head=np.array(json.dumps(_head(trajectory))), **arrays)


def _load_npz(path: Path, source: IO[bytes]) -> Trajectory:
    with ZipFile(source) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    _check_unpacked(path, source, unpacked, NPZ_RATIO)
    with np.load(source, allow_pickle=False) as file:
        head = _read_head(path, str(file["head"]))
        series = {name: file[f"series.{name}"] for name in head["shapes"]}
        return _assembled(path, head, file["t"], series, (file["diverged"], file["steps"]))


# -- Parquet -----------------------------------------------------------------------------------------------------------


def _parquet() -> tuple[Any, Any]:
    with extra("recording", "Parquet is written by the package pyarrow"):
        import pyarrow  # noqa: PLC0415
        import pyarrow.parquet  # noqa: PLC0415
    return pyarrow, pyarrow.parquet


def column_labels(shape: tuple[int, ...], labels: tuple[str, ...] | None) -> tuple[str, ...]:
    """A word for every number of a series: its name, else its index; that of a series of single numbers is empty."""
    if labels is not None and shape and len(labels) == prod(shape):
        return tuple(labels)
    return tuple(".".join(map(str, index)) for index in np.ndindex(*shape))


def _column_names(name: str, shape: tuple[int, ...], labels: tuple[str, ...] | None) -> list[str]:
    return [f"{name}.{label}" if label else name for label in column_labels(shape, labels)]


def _save_parquet(trajectory: Trajectory, path: Path) -> None:
    pyarrow, parquet = _parquet()
    times, axes = len(trajectory.t), len(trajectory.batch)
    states = trajectory.diverged.size
    columns: dict[str, Any] = {"state": np.repeat(np.arange(states), times), "t": np.tile(trajectory.t, states)}
    units = {"t": "s"}
    for name, array in trajectory.series.items():
        shape = array.shape[axes + 1 :]
        flat = array.reshape(states, array.shape[axes], prod(shape))
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
    head |= {} if states else {"t": trajectory.t.tolist(), "batch": trajectory.batch}  # which no row tells
    text = json.dumps(head).encode()
    fields = [
        pyarrow.field(name, pyarrow.array(data).type, metadata={"unit": units[name]} if name in units else None)
        for name, data in columns.items()
    ]
    schema = pyarrow.schema(fields, metadata={_KEY: text, _SUM: sha256(text).hexdigest().encode()})
    table = pyarrow.table([pyarrow.array(data) for data in columns.values()], schema=schema)
    parquet.write_table(table, path, write_page_checksum=True)


def _load_parquet(path: Path, source: IO[bytes]) -> Trajectory:
    pyarrow, parquet = _parquet()
    try:
        told = parquet.ParquetFile(source).metadata
        _check_unpacked(path, source, 8 * told.num_rows * told.num_columns, PARQUET_RATIO)
        table = parquet.read_table(source, page_checksum_verification=True)
    except pyarrow.ArrowInvalid as error:
        raise ArgumentError(f"{path} is not a Parquet file: {error}") from error
    metadata = table.schema.metadata or {}
    if _KEY not in metadata:
        raise ArgumentError(f"{path} is not a trajectory: its metadata do not say so")
    if metadata.get(_SUM, b"") not in (b"", sha256(metadata[_KEY]).hexdigest().encode()):
        raise ValueError("its metadata have changed")
    head = _read_head(path, metadata[_KEY])
    diverged, steps = np.array(head["diverged"], dtype=bool), np.array(head["steps"], dtype=np.int64)
    if "batch" in head:
        diverged, steps = diverged.reshape(head["batch"]), steps.reshape(head["batch"])
    states, axes = diverged.size, diverged.ndim
    t = table["t"].to_numpy()
    t = t[: len(t) // states] if states else np.array(head["t"])
    series = {}
    if sum(prod(shape[axes + 1 :]) for shape in head["shapes"].values()) > table.num_columns:
        raise ValueError("columns are missing")
    for name, shape in head["shapes"].items():
        listed = _column_names(name, tuple(shape[axes + 1 :]), tuple(head["names"].get(name, ())) or None)
        columns = [table[column].to_numpy().reshape(states, len(t)) for column in listed]
        whole = np.stack(columns, axis=-1) if columns else np.empty((states, len(t), 0))
        series[name] = np.ascontiguousarray(whole[:, len(t) - shape[axes] :]).reshape(shape)
    return _assembled(path, head, t, series, (diverged, steps))
