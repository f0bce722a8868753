"""Machine code from the disk, if it was made before: for the same graph, by the same sources, for the same CPU.

A function of the library has an identity besides, under which a record says what its graph was, so that it need not be
traced. That holds only while the library is what its sources say (`originals`): where a program has replaced part of
it, all functions are traced, and where it has replaced part of the compiler, nothing is read from the disk or written
to it.
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
from kinetree.compiler.runtime.jit import Target, compile_object, versions


class CachedCode:
    """Machine code of a program, which the digest of its graph names: from the disk if it was made before."""

    def __init__(self, digest: str, layout: Layout, target: Target, program: Callable[[], Source]) -> None:
        self.digest, self.layout, self.target, self._program = digest, layout, target, program

    def code(self, kind: Kind) -> Code:
        key = key_of(self.target, kind, self.digest)
        data = disk.read(key)
        if data is not None:
            return Code.from_bytes(data)
        code = self._program().code(kind)
        _keep(key, code.to_bytes())
        return code


def stored_object(
    name: str,
    assembly: Callable[[], str],
    target: Target,
    compiled: Callable[[str, Target], bytes] = compile_object,
) -> bytes:
    """The object file of a module of the library's own, from the disk if it was compiled before."""
    found = replaced()
    if found:
        return compiled(assembly(), target)
    key = key_of(target, "module", name, found=found)
    data = disk.read(key)
    if data is None:
        data = compiled(assembly(), target)
        if not replaced():
            _keep(key, data)
    return data


def load_record(identity: str, target: Target) -> Any:
    """What was kept of the function of this identity; None if nothing was."""
    found = replaced()
    if found:
        return None
    data = disk.read(key_of(target, "record", identity, found=found))
    return None if data is None else json.loads(data)


def save_record(identity: str, target: Target, record: Any) -> None:
    """Keep what is known of a function, made of lists, dicts, strings and numbers."""
    if not replaced():
        _keep(key_of(target, "record", identity), json.dumps(record).encode())


def _makes_code(name: str) -> bool:
    """Whether what has this name has a part in carry graphs into code."""
    return name.startswith("kinetree.compiler") or not name.startswith("kinetree.")


def key_of(target: Target, *identity: str, found: frozenset[str] | None = None) -> str:
    """The name under which code is kept: changes with everything that the code depends on. Empty, under which nothing
    is kept, where the library's own text is not to be had, or does not say what its compiler does. `found` is what is
    `replaced`, if that was just asked."""
    if not _SOURCES or any(map(_makes_code, replaced() if found is None else found)):
        return ""
    parts = [_SOURCES, versions(), np.__version__, sys.platform, platform.machine(), repr(target), *identity]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _keep(key: str, data: bytes) -> None:
    """Write to the disk, unless the library's files were edited since it was loaded: then this is what the old text
    made, or a mixture; or this process has a compiler of its own."""
    if _sources() == _SOURCES and not any(map(_makes_code, replaced())):
        disk.write(key, data)


def _sources() -> str:
    """A hash of the library's own text, algorithms and compiler alike; empty if there is none, as in an archive."""
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
