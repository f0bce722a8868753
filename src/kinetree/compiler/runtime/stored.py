"""Machine code from the disk, if it was made before: for the same function, by the same sources, for the same CPU.

A function is known by its name, or by the graph that is left of it when it is traced. Names hold only while the library
is what its sources say (`originals`); where a program has replaced part of it, all functions are traced and known by
their graphs, and where it has replaced part of the compiler, nothing is read from the disk or written to it.
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
from kinetree.compiler.runtime.jit import Target, compile_object, lazy_code, versions


class Stored:
    """A source of code that asks the disk first, and builds the program only if it must."""

    def __init__(
        self, identity: str | None, layout: Layout, target: Target, build: Callable[[], Source], is_graph: bool = False
    ) -> None:
        """`identity` names the function: equal names must mean equal functions, in every process. It may be the digest
        of its graph; a function that has no name is known by its graph as well."""
        self.layout, self._is_graph = layout, is_graph
        self.target = target
        self._identity = identity
        self._build = build

    @lazy_code
    def program(self) -> Any:
        return self._build()

    def code(self, kind: Kind) -> Code:
        found = replaced()
        by_name = self._identity is not None and (self._is_graph or not found)
        identity = self._identity if by_name else f"graph {self.program.digest}"
        key = key_of(self.target, kind, str(identity), found=found)
        data = disk.read(key)
        if data is not None:
            return Code.from_bytes(data)
        code: Code = self.program.code(kind)
        if self._is_graph or not by_name or not replaced():
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


def recalled(identity: str, target: Target) -> Any:
    """What was remembered of the function of this name; None if nothing was."""
    found = replaced()
    if found:
        return None
    data = disk.read(key_of(target, "record", identity, found=found))
    return None if data is None else json.loads(data)


def remember(identity: str, target: Target, record: Any) -> None:
    """Keep what is known of a function, made of lists, dicts, strings and numbers."""
    if not replaced():
        _keep(key_of(target, "record", identity), json.dumps(record).encode())


def _makes_code(name: str) -> bool:
    """Whether what has this name has a part in turning graphs into code."""
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
