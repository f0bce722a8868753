"""Long modules in several pieces, each compiled by a process of its own: LLVM uses one core.

A kernel is a sequence of parts, functions that only its entry calls. A piece has some of them, with all that they call;
the first piece has the entry and everything that uses the C library. Pieces find each other's parts by name when they
are loaded together.
"""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LONG_PIECE = 1_000_000
"""Characters of assembly from which on a piece is worth a process, which takes 0.1 s to start."""
MOST_PIECES = 8
MOST_CALLS = 400
"""The number of parts of other pieces that the first may call. LLVM keeps an address of 8 bytes for each, reserves no
memory for them, and ends the process if they do not fit beside other data in a page of 4096."""
_DEFINITION = re.compile(r"define (internal )?(?:fastcc )?[^@\n]*@([\w.]+)\(([^)\n]*)\)")
_NAME = re.compile(r"@([\w.]+)")
_PART = re.compile(r"\.part\d+$")
_MAGIC, _COUNT, _SIZE = b"kinetree objects", struct.Struct("<Q"), struct.Struct("<Q")
WORKER = Path(__file__).with_name("object_worker.py")


def pieces_of(assembly: str, count: int) -> list[str]:
    """The module as at most so many modules of similar size, which together define the same functions; as it is if
    the first would call too many parts of others."""
    blocks = [block for block in assembly.strip().split("\n\n") if block]
    owner: dict[str, int] = {}
    for k, block in enumerate(blocks):
        owner.update((found.group(2), k) for found in _DEFINITION.finditer(block))
        owner.update((name, k) for name in re.findall(r"^@([\w.]+) =", block, re.MULTILINE))
    parts = {k: name for name, k in owner.items() if _PART.search(name)}
    used = [{owner[name] for name in _NAME.findall(block) if name in owner} - {*parts} for block in blocks]

    def with_all_it_calls(k: int) -> set[int]:
        """A block and those that it needs beside parts."""
        found, left = {k}, [k]
        while left:
            new = used[left.pop()] - found
            found |= new
            left += new
        return found

    def size(piece: set[int]) -> int:
        return sum(len(blocks[k]) for k in piece)

    needs = {k: with_all_it_calls(k) for k in range(len(blocks))}
    movable = [k for k in parts if not any("@kinetree.library" in blocks[each] for each in needs[k])]
    first = [k for k, block in enumerate(blocks) if k in parts or not block.startswith("define internal")]
    chosen = [set().union(*(needs[k] for k in first if k not in movable)), *(set[int]() for _ in range(count - 1))]
    for k in sorted(movable, key=lambda k: -size(needs[k])):
        smallest = min(chosen, key=lambda piece: size(piece | needs[k]))
        smallest |= needs[k]
    if len(parts.keys() - chosen[0]) > MOST_CALLS:
        return [assembly]
    return [_module(blocks, sorted(piece), parts, is_first=piece is chosen[0]) for piece in chosen if piece]


def _module(blocks: Sequence[str], piece: Sequence[int], parts: dict[int, str], is_first: bool) -> str:
    """The blocks of a piece. Others may call its parts, and the first, which calls all, declares those it lacks."""
    texts = [blocks[k].replace("define internal ", "define ", 1) if k in parts else blocks[k] for k in piece]
    for k in parts.keys() - set(piece) if is_first else ():
        found = _DEFINITION.search(blocks[k])
        assert found is not None
        kinds = ", ".join(parameter.split()[0] for parameter in found.group(3).split(","))
        texts.append(f"declare fastcc void @{parts[k]}({kinds})")
    return "\n\n".join(texts) + "\n"


def processes_for(assembly: str, cores: int) -> int:
    """The number of processes that compile a module: one if another does not pay, or if Python cannot be started."""
    name = os.path.basename(sys.executable or "").lower()
    can_start = name.startswith("python") and not getattr(sys, "frozen", False) and WORKER.is_file()
    return max(1, min(cores, MOST_PIECES, len(assembly) // LONG_PIECE)) if can_start else 1


class Workers:
    """Processes that compile modules while this one goes on; all are ended when the context is left."""

    def __init__(self, modules: Sequence[str], request: dict[str, Any]) -> None:
        self._processes: list[subprocess.Popen[bytes]] = []
        hidden = getattr(subprocess, "CREATE_NO_WINDOW", 0)
        try:
            for text in modules:
                process = subprocess.Popen(
                    [sys.executable, "-I", str(WORKER)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,  # an interrupt from the terminal is this process's to handle
                    creationflags=hidden,
                )
                self._processes.append(process)
                assert process.stdin is not None
                process.stdin.write(json.dumps({**request, "modules": [(text, False)], "exported": None}).encode())
                process.stdin.close()
                process.stdin = None  # all was sent
        except OSError:
            self.end()
            raise

    def results(self) -> list[bytes]:
        """The object files, in order; OSError if a process could not make one."""
        found = [process.communicate()[0] for process in self._processes]
        if any(process.returncode or not data for process, data in zip(self._processes, found, strict=True)):
            raise OSError("a process that compiles a part of a module has failed")
        return found

    def end(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def joined(objects: Sequence[bytes]) -> bytes:
    """One or several object files in one file."""
    if len(objects) == 1:
        return objects[0]
    sizes = b"".join(_SIZE.pack(len(data)) for data in objects)
    return _MAGIC + _COUNT.pack(len(objects)) + sizes + b"".join(objects)


def separated(data: bytes) -> list[bytes]:
    """The object files that were joined."""
    if not data.startswith(_MAGIC):
        return [data]
    (count,) = _COUNT.unpack_from(data, len(_MAGIC))
    start = len(_MAGIC) + _COUNT.size
    position, found = start + count * _SIZE.size, []
    for k in range(count):
        (size,) = _SIZE.unpack_from(data, start + k * _SIZE.size)
        found.append(data[position : position + size])
        position += size
    return found
