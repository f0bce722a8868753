"""Collections of states: which files belong to a source, and where they are cut into partitions."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kinetree.errors import ArgumentError, ArgumentTypeError, KinetreeError, short
from kinetree.scale.formats.npz import Npz
from kinetree.scale.formats.parquet import Parquet
from kinetree.scale.formats.table import Format
from kinetree.scale.formats.zarr import Zarr
from kinetree.scale.ledger import FOLDER
from kinetree.scale.partition import Failed, Partition, split

FORMATS: dict[str, Format] = {"parquet": Parquet(), "npz": Npz(), "zarr": Zarr()}
_ZARR = ("zarr.json", ".zgroup")


def files_of(source: Any) -> tuple[str, list[Path]]:
    """The format of a source and its files in order: a folder, a file, or several files of one format."""
    given = [source] if isinstance(source, (str, os.PathLike)) else source
    if not isinstance(given, Iterable):
        raise ArgumentTypeError(f"source is {short(source)}; expected a folder, a file, or a list of files")
    paths: list[Path] = []
    for each in given:
        if not isinstance(each, (str, os.PathLike)):
            raise ArgumentTypeError(f"source has {short(each)}; expected the name of a file or folder")
        path = Path(each)
        if not path.exists():
            raise ArgumentError(f"source is {str(path)!r}, which does not exist")
        paths += _inside(path) if path.is_dir() and not _is_zarr(path) else [path]
    kinds = {_format_of(path) for path in paths}
    if len(kinds) != 1:
        listed = " and ".join(sorted(map(str, kinds))) or "no files"
        raise ArgumentError(f"source has {listed}; expected files of one format, {', '.join(FORMATS)}")
    kind = kinds.pop()
    if kind is None:
        raise ArgumentError(f"source has {str(paths[0])!r}; expected a name that ends with .parquet, .npz or .zarr")
    if kind == "zarr" and len(paths) > 1:
        raise ArgumentError(f"source has {len(paths)} Zarr groups; expected one for each run")
    return kind, paths


def _inside(folder: Path) -> list[Path]:
    """Files of a folder and of those in it, in the order of their names. Left out are names that begin with a dot or an
    underscore, and folders in it with the results of a run."""
    found = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "_")) or (path / FOLDER).is_dir():
            continue
        if path.is_dir() and not _is_zarr(path):
            found += _inside(path)
        elif _format_of(path) is not None:
            found.append(path)
    return found


def _is_zarr(path: Path) -> bool:
    return any((path / name).exists() for name in _ZARR)


def _format_of(path: Path) -> str | None:
    if path.is_dir():
        return "zarr" if _is_zarr(path) else None
    return next((name for name, kind in FORMATS.items() if path.suffix.lower() == kind.suffix != ".zarr"), None)


def partitions_of(kind: str, paths: list[Path], rows: int) -> tuple[list[Partition], list[Failed]]:
    """All partitions of the files, and the files that cannot be read."""
    names = _names(paths)
    good: list[Partition] = []
    bad: list[Failed] = []
    for path, name in zip(paths, names, strict=True):
        try:
            status = (path / next(n for n in _ZARR if (path / n).exists()) if path.is_dir() else path).stat()
            version = f"{status.st_size} bytes of {status.st_mtime_ns}"
            bounds = FORMATS[kind].bounds(path)
            good += split(name, str(path), bounds, rows, version)
        except (KinetreeError, OSError) as problem:
            bad.append(Failed(Partition(f"{name}.0000", str(path), 0, 0), str(problem)))
    return [each for each in good if each.rows], bad


def _names(paths: list[Path]) -> list[str]:
    """A name for every file: its stem, with that of folders where stems are not unique."""
    stems = [path.stem for path in paths]
    if max(Counter(stems).values(), default=0) > 1:
        parent = os.path.commonpath([path.resolve().parent for path in paths])
        stems = ["-".join(path.resolve().relative_to(parent).with_suffix("").parts) for path in paths]
    repeated = [name for name, count in Counter(stems).items() if count > 1]
    if repeated:
        raise ArgumentError(f"source has several files {repeated[0]!r}; expected another name for each")
    return stems
