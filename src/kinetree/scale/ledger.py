"""The folder of a run: a manifest of what it computes, and a receipt for every partition that is done.

    out/_kinetree/manifest.json         robot, version, quantities with shapes and units, source, partitions, failures
    out/_kinetree/NAME.json             a receipt, written after the results of its partition are complete

A partition counts as done if its receipt names the same source, unchanged, and its files have the sizes that stand
there. All files are written completely or not at all, so a run that ends anywhere goes on where it was.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from kinetree.base.files import write_text
from kinetree.errors import ArgumentError, ArgumentTypeError, short
from kinetree.scale.partition import Failed, Partition

FOLDER = "_kinetree"
"""Readers of Parquet collections pass over names that begin so."""
MANIFEST = "manifest.json"


class Ledger:
    """What the folder of a run knows of it."""

    def __init__(self, out: Any) -> None:
        if not isinstance(out, (str, os.PathLike)):
            raise ArgumentTypeError(f"out is {short(out)}; expected the name of a folder")
        self.out = Path(out)
        if self.out.exists() and not self.out.is_dir():
            raise ArgumentError(f"out is {str(out)!r}, which is a file; expected a folder")
        self.folder = self.out / FOLDER
        self.manifest = self._read(self.folder / MANIFEST)

    def begin(self, identity: Mapping[str, Any], overwrite: bool) -> None:
        """Make the folder. Raises if it has results of something else, unless they are to be overwritten."""
        known = None if self.manifest is None else self.manifest.get("identity")
        if self.manifest is None and self.out.is_dir() and any(self.out.iterdir()) and not overwrite:
            raise ArgumentError(f"out is {str(self.out)!r}, which has other files; expected an empty or a new folder")
        if known is not None and known != json.loads(json.dumps(identity)):
            if not overwrite:
                raise ArgumentError(f"out is {str(self.out)!r}, which has {self._difference(known, identity)}")
            for receipt in self.folder.glob("*.json"):
                receipt.unlink()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.identity = dict(identity)
        self.key = sha256(json.dumps(self.identity, sort_keys=True).encode()).hexdigest()[:16]

    def _difference(self, known: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
        name = next(key for key in {**known, **wanted} if known.get(key) != json.loads(json.dumps(wanted.get(key))))
        return (
            f"results for another {name}, {short(known.get(name))}; expected {short(wanted.get(name))} as before, "
            "another folder, or overwrite=True"
        )

    def is_done(self, partition: Partition) -> bool:
        """Whether an earlier run has done this partition, and its files are there."""
        receipt = self._read(self._receipt(partition.name))
        if receipt is None or receipt.get("key") != self.key or receipt.get("partition") != list(partition):
            return False
        return all(_size(self.out / name) == size for name, size in receipt["files"].items())

    def receive(self, partition: Partition, files: Mapping[str, int], facts: Mapping[str, Any]) -> None:
        """Write the receipt of a partition, after its files."""
        content = {"key": self.key, "partition": partition, "files": files, **facts}
        write_text(self._receipt(partition.name), json.dumps(content))

    def finish(self, facts: Mapping[str, Any], partitions: Sequence[Partition], failed: Iterable[Failed]) -> None:
        """Write the manifest as things stand."""
        done = [partition for partition in partitions if self.is_done(partition)]
        planned = {partition.name for partition in partitions}
        written = {path.stem for path in self.folder.glob("*.json") if path.name != MANIFEST}
        self.manifest = {
            "format": 1,
            **facts,
            "identity": self.identity,
            "rows": sum(partition.rows for partition in partitions),
            "partitions": len(partitions),
            "done": len(done),
            "complete": len(done) == len(partitions) and not list(failed),
            "failed": [{**each.partition._asdict(), "reason": each.reason} for each in failed],
            "stale": sorted(written - planned),
        }
        write_text(self.folder / MANIFEST, json.dumps(self.manifest, indent=1))

    def _receipt(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    @staticmethod
    def _read(path: Path) -> dict[str, Any] | None:
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError, ValueError):  # a damaged one is as if it were not there
            return None
        return content if isinstance(content, dict) else None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
