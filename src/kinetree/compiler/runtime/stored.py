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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.base.originals import replaced
from kinetree.compiler.runtime import cache as disk
from kinetree.compiler.runtime.code import Code, Kind, Layout, Source
from kinetree.compiler.runtime.jit import compile_object, versions
from kinetree.compiler.runtime.target import Target


class CachedCode:
    """Machine code of a program, by the digest of its graph: read from disk, or compiled and stored."""

    def __init__(self, digest: str, layout: Layout, target: Target, program: Callable[[], Source]) -> None:
        self.digest, self.layout, self.target, self._program = digest, layout, target, program

    def code(self, kind: Kind) -> Code:
        key = key_of(self.target, kind, self.digest)
        data = disk.read(key)
        if data is not None:
            return Code.from_bytes(data)
        code = self._program().code(kind)
        _store(key, code.to_bytes())
        return code


def stored_object(
    name: str,
    assembly: Callable[[], str],
    target: Target,
    compiled: Callable[[str, Target], bytes] = compile_object,
) -> bytes:
    """The object file of a fixed module of the library, from disk if it was compiled before."""
    found = replaced()
    if found:
        return compiled(assembly(), target)
    key = key_of(target, "module", name, found=found)
    data = disk.read(key)
    if data is None:
        data = compiled(assembly(), target)
        if not replaced():
            _store(key, data)
    return data


def load_record(identity: str, target: Target) -> Any:
    """The record of the function with this identity; None if there is none."""
    found = replaced()
    if found:
        return None
    data = disk.read(key_of(target, "record", identity, found=found))
    return None if data is None else json.loads(data)


def save_record(identity: str, target: Target, record: Any) -> None:
    """Store the record of a function: lists, dicts, strings and numbers."""
    if not replaced():
        _store(key_of(target, "record", identity), json.dumps(record).encode())


def _affects_code(name: str) -> bool:
    """Whether the object of this name has a part in compiling graphs."""
    return name.startswith("kinetree.compiler") or not name.startswith("kinetree.")


def key_of(target: Target, *identity: str, found: frozenset[str] | None = None) -> str:
    """The key of an entry, a hash of everything that the code depends on.

    The key is empty, and nothing is stored, if the library's sources are not available or part of its compiler was
    replaced. `found` is the result of `replaced()`, if the caller has it.
    """
    if not _SOURCES or any(map(_affects_code, replaced() if found is None else found)):
        return ""
    parts = [_SOURCES, versions(), np.__version__, sys.platform, platform.machine(), repr(target), *identity]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _store(key: str, data: bytes) -> None:
    """Write to the disk, unless the library's files were edited since they were loaded, or part of the compiler was
    replaced in this process."""
    if _sources() == _SOURCES and not any(map(_affects_code, replaced())):
        disk.write(key, data)


def _sources() -> str:
    """A hash of all source files of the library; empty if they cannot be read, as in a zip archive."""
    state, count = hashlib.sha256(), 0
    root = Path(__file__).parents[2]
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(files):
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                try:
                    with open(path, "rb") as file:
                        text = file.read()
                except OSError:
                    return ""
                state.update(f"{os.path.relpath(path, root)}\0{len(text)}\0".encode() + text)
                count += 1
    return state.hexdigest() if count else ""


_SOURCES = _sources()
