"""The machine code that is kept on disk between processes: where it is, how much, how to fill or empty it, and how to
take it to other machines."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from kinetree.base.files import replaced
from kinetree.compiler import archive as _archive
from kinetree.compiler import cache as _disk
from kinetree.compiler import cpu_names, native
from kinetree.errors import ArgumentError, ArgumentTypeError, one_of, short
from kinetree.robot import Robot
from kinetree.robot.quantity import prepared, quantities_of


def where() -> Path | None:
    """The folder; None if the cache is switched off (``KINETREE_CACHE=0``). ``KINETREE_CACHE_DIR`` names another."""
    return _disk.folder()


def size() -> int:
    """Bytes on disk."""
    return _disk.size()


def clear() -> int:
    """Remove all entries and return their number. Code in memory stays."""
    return _disk.clear()


def warm(
    robot: Robot,
    *quantities: str,
    batch: bool = True,
    cpus: Iterable[str] = (),
    report: Callable[[str, int, int], None] | None = None,
) -> None:
    """Compile quantities now, all of the robot's if none is named, so that later processes only load them.

    Derivatives and other large ones are compiled only if they are named. For one state, and with `batch` for batches
    too. Quantities that this robot does not have are left out. `cpus` names the CPUs that code is made for, as
    ``KINETREE_CPU`` does, and may have some that cannot run here. `report` is called before each quantity, with its
    name, how many came before it and how many there are; without it, a terminal shows it.
    """
    if not isinstance(robot, Robot):
        raise ArgumentTypeError(f"robot is {short(robot)}; expected a kinetree.Robot")
    names = quantities or tuple(
        name
        for name, quantity in quantities_of(Robot).items()
        if not quantity.is_large and quantity.refusal(robot.model) is None
    )
    listed = prepared(robot, names)
    targets = _checked(cpus)
    shows = report is None and sys.stderr is not None and sys.stderr.isatty()
    try:
        for cpu in targets:
            native.store(cpu)
        for k, (function, key) in enumerate(listed):
            if report is not None:
                report(names[k], k, len(names))
            elif shows:
                print(f"\r\x1b[K[{k + 1}/{len(names)}] {names[k]}", end="", file=sys.stderr, flush=True)
            for cpu in targets:
                function.store(key, cpu, batch)
            if not targets:
                function.prepare(key)
                if batch:
                    function.prepare(key, batch=True)
    finally:
        if shows:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Archive:
    """Entries of the cache in a file: how many there are for each CPU, how many of them an import has added to this
    cache, and the size of the file in bytes and its SHA-256."""

    cpus: dict[str, int]
    added: int
    bytes: int
    sha256: str

    @property
    def entries(self) -> int:
        """The number of entries, each with one kernel or the record of a formula."""
        return sum(self.cpus.values())


def export_archive(path: str | os.PathLike[str], *, cpus: Iterable[str] = ()) -> Archive:
    """Write the entries of the cache into a file: all of this installation of kinetree, or those for named CPUs.

    `warm` fills the cache for named CPUs, and so does any program under ``KINETREE_CPU``. The file is replaced at once
    or not at all.
    """
    wanted = _checked(cpus)
    listed = [key for cpu in wanted or (None,) for key in _archive.keys_here(cpu)]
    entries = {key: data for key in listed if (data := _disk.read(key)) is not None}
    counts = _archive.counted(entries)
    missing = next((cpu for cpu in wanted if cpu not in counts), None)
    if not entries or missing is not None:
        raise ArgumentError(f"the cache holds no code {f'for {missing}' if missing else 'of this installation'}")
    digest, count = hashlib.sha256(), 0
    with replaced(path) as temporary:
        with open(temporary, "wb") as file:
            for piece in _archive.packed(entries):
                file.write(piece)
                digest.update(piece)
                count += len(piece)
        temporary.chmod(temporary.stat().st_mode & ~0o022)  # others may not change what will be run
    return Archive(counts, 0, count, digest.hexdigest())


def import_archive(path: str | os.PathLike[str], *, sha256: str | None = None) -> Archive:
    """Take the entries of a file that `export_archive` wrote, on this machine or another one, into the cache.

    They will be run: import nothing from whom you would not run a program. A file that another user can have written
    is refused, unless it has the SHA-256 that is given; so is one that is damaged or of another installation (version
    of kinetree, LLVM or NumPy, operating system, architecture). Then nothing is stored. Entries that are there stay.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentTypeError(f"path is {short(path)}; expected the name of a file")
    if sha256 is not None and not isinstance(sha256, str):
        raise ArgumentTypeError(f"sha256 is {short(sha256)}; expected 64 hexadecimal digits")
    if where() is None:
        raise ArgumentError("the cache is switched off, so nothing can be imported")
    name = os.fsdecode(path)
    content = _archive.trusted_content(name, sha256)
    entries = _archive.unpacked(content, name)
    added = _archive.store(entries)
    return Archive(_archive.counted(entries), added, len(content), hashlib.sha256(content).hexdigest())


def _checked(cpus: Iterable[str]) -> tuple[str, ...]:
    """Names of CPUs, each once."""
    if isinstance(cpus, str):
        raise ArgumentTypeError(f"cpus is {short(cpus)}; expected a list of names")
    names = tuple(dict.fromkeys(one_of("cpu", cpu, cpu_names()) for cpu in cpus))
    if names and where() is None:
        raise ArgumentError("the cache is switched off, so nothing would be kept")
    return names
