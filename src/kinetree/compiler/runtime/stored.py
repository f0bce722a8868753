"""Machine code on disk, found by its graph, the library's sources and the CPU.

A function of the library also has an identity. A record under that identity names the graph, so that the function need
not be traced. Records are valid only while the library is what its sources say (`originals`): if a program has replaced
part of it, all functions are traced; if it has replaced part of the compiler, the disk is neither read nor written.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.base.originals import replaced
from kinetree.base.precision import FLOAT64
from kinetree.compiler.runtime import cache as disk
from kinetree.compiler.runtime.cache_lock import first_on_this_host
from kinetree.compiler.runtime.code import Code, Kind, Layout, Source
from kinetree.compiler.runtime.jit import compile_object, versions
from kinetree.compiler.runtime.target import Target


class CachedCode:
    """Machine code of a program, by the digest of its graph: read from disk, or compiled and stored."""

    def __init__(self, digest: str, layout: Layout, target: Target, program: Callable[[], Source]) -> None:
        self.digest, self.layout, self.target, self._program = digest, layout, target, program

    def code(self, kind: Kind) -> Code:
        return Code.from_bytes(
            _read_or_made(key_of(self.target, kind, self.digest), lambda: self._program().code(kind).to_bytes())
        )


def _read_or_made(key: str, make: Callable[[], bytes], of_library: bool = False) -> bytes:
    """The data of a key from disk, or made and stored; one process of this host makes it.

    Data `of_library`, not of a graph, is stored only if no part of the library was replaced."""
    data = disk.read(key)
    if data is None:
        with first_on_this_host(key):
            data = disk.read(key)  # another process may have made it meanwhile
            if data is None:
                data = make()
                found = replaced()
                if not (of_library and found):
                    _store(key, data, found)
    return data


def stored_object(
    name: str, assembly: Callable[[], str], target: Target, compiled: Callable[[str, Target], bytes] = compile_object
) -> bytes:
    """The object file of a fixed module of the library, from disk if it was compiled before."""
    found = replaced()
    if found:
        return compiled(assembly(), target)
    key = key_of(target, "module", name, found=found)
    return _read_or_made(key, lambda: compiled(assembly(), target), of_library=True)


def stored_library(
    identity: str | None, modules: Callable[[], tuple[list[str], list[str]]], target: Target,
    linked: Callable[[list[str], list[str], Target], bytes],
) -> bytes:  # fmt: skip
    """The library that is linked of modules with exported functions, from disk if it was made before: by its identity,
    or else by the text of its modules."""
    if identity is None or replaced():
        texts, exported = modules()
        return _read_or_made(key_of(target, "library", *texts), lambda: linked(texts, exported, target))
    key = key_of(target, "library of", identity)
    return _read_or_made(key, lambda: linked(*modules(), target), of_library=True)


@contextmanager
def record_or_lock(identity: str | None, target: Target) -> Iterator[Any]:
    """The record of the function with this identity; or None, and then no other process of this host traces the
    function in this context."""
    found = frozenset() if identity is None else replaced()
    if identity is None or found:
        yield None
        return
    key = key_of(target, "record", identity, found=found)
    data = disk.read(key)
    if data is not None:
        yield json.loads(data)
        return
    with first_on_this_host(key):
        data = disk.read(key)  # another process may have traced it meanwhile
        yield None if data is None else json.loads(data)


def save_record(identity: str, target: Target, record: Any) -> None:
    """Store the record of a function: lists, dicts, strings and numbers."""
    found = replaced()
    if not found:
        _store(key_of(target, "record", identity, found=found), json.dumps(record).encode(), found)


def _affects_code(name: str) -> bool:
    """Whether the object of this name has a part in compiling graphs."""
    return name.startswith("kinetree.compiler") or not name.startswith("kinetree.")


def key_of(target: Target, *identity: str, found: frozenset[str] | None = None) -> str:
    """The key of an entry: a hash of everything that the code depends on, behind the tags of build and CPU.

    The key is empty, and nothing is stored, if the library's sources are not available or part of its compiler was
    replaced. `found` is the result of `replaced()`, if the caller has it.
    """
    if not _SOURCES or any(map(_affects_code, replaced() if found is None else found)):
        return ""
    made_by = build()
    return build_tag(made_by) + cpu_tag(target) + _hash(*made_by.values(), repr(target), *identity)


def build() -> dict[str, str]:
    """What makes the code, apart from the CPU: code of another build is not found."""
    return {
        "source files of kinetree": _SOURCES,
        "LLVM": versions(),
        "NumPy": np.__version__,
        "system": sys.platform,
        "architecture": platform.machine(),
    }


def build_tag(made_by: Mapping[str, str]) -> str:
    """The first 16 digits of the keys of a build."""
    return _hash(*made_by.values())[:16]


def cpu_tag(target: Target) -> str:
    """The next 8 digits of keys: they tell CPUs apart, and not the types of numbers."""
    return _hash(repr(target.computing_in(FLOAT64)))[:8]


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _store(key: str, data: bytes, found: frozenset[str]) -> None:
    """Write to the disk, unless the library's files were edited since they were loaded, or part of the compiler was
    replaced in this process: `found` is the result of `replaced()`."""
    is_edited = _file_times() != _LOADED_TIMES and _sources() != _SOURCES
    if not is_edited and not any(map(_affects_code, found)):
        disk.write(key, data)


def _source_files() -> Iterator[os.DirEntry[str]]:
    """All source files of the library, in the same order everywhere."""
    folders = [str(_ROOT)]
    while folders:
        with os.scandir(folders.pop()) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
        yield from (entry for entry in entries if entry.name.endswith(".py"))
        folders += [entry.path for entry in reversed(entries) if entry.is_dir()]


def _file_times() -> list[tuple[int, int]]:
    """When the content or the state of each source file last changed; empty if that is not known."""
    try:
        return [(stat.st_mtime_ns, stat.st_ctime_ns) for stat in (entry.stat() for entry in _source_files())]
    except OSError:
        return []


def _sources() -> str:
    """A hash of all source files of the library; empty if they cannot be read, as in a zip archive."""
    state, count = hashlib.sha256(), 0
    try:
        for entry in _source_files():
            with open(entry.path, "rb") as file:
                text = file.read()
            state.update(f"{os.path.relpath(entry.path, _ROOT)}\0{len(text)}\0".encode() + text)
            count += 1
    except OSError:
        return ""
    return state.hexdigest() if count else ""


_ROOT = Path(__file__).parents[2]
_LOADED_TIMES = _file_times()
_SOURCES = _sources()
