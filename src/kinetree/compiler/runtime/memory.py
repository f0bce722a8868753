"""Memory of large results, used again when nobody refers to them any more.

The system clears every page of new memory before it hands it out, which takes longer than most kernels take to fill it.
So large results live in blocks that are kept for a while: a loop that overwrites its result uses two of them in turn.
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from math import prod
from pathlib import Path

import numpy as np

from kinetree.errors import ArgumentError, short
from kinetree.ops import Array

LARGE = 2**21
"""Bytes from which on a result comes from a block; smaller ones are kept by the allocator itself."""
SHARE = 32
"""All blocks together are at most this part of the memory that this process may have, unless set."""


class Blocks:
    """Blocks of memory, the last used last.

    There is no lock: whoever takes a block out of the list has it alone, and lists change in one piece. So nothing here
    can be found locked, not by a signal handler and not by a forked child.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._blocks: list[Array] = []

    def empty(self, shape: tuple[int, ...]) -> Array:
        """An array of float64 with any content."""
        size = 8 * prod(shape)
        if not LARGE <= size <= self.most:
            return np.empty(shape)
        block = self._free(size)
        if block is None:
            block = np.empty(size, dtype=np.uint8)
        result = block[:size].view(np.float64).reshape(shape)
        self._blocks.append(block)  # now that somebody else has it too
        self._shrink()
        return result

    def _free(self, size: int) -> Array | None:
        """A block that is large enough but not much larger, taken out of the list if nobody else has it."""
        for k in range(len(self._blocks)):
            try:
                taken = [self._blocks.pop(k)]
            except IndexError:  # another thread has taken some
                return None
            if size <= len(taken[0]) <= size + size // 4 and _count(taken) == ALONE:
                return taken[0]
            self._blocks.insert(k, taken[0])
        return None

    def set_most(self, size: int) -> None:
        """Keep at most so many bytes from now on."""
        self.most = size
        self._shrink()

    def _shrink(self) -> None:
        """Let go of the oldest blocks, used or not; arrays in them live on."""
        while sum(map(len, self._blocks)) > self.most:
            with suppress(IndexError):  # another thread has
                del self._blocks[0]


def _count(blocks: list[Array]) -> int:
    """What sys.getrefcount says of the first."""
    return sys.getrefcount(blocks[0])


ALONE = _count([np.empty(1, dtype=np.uint8)])
"""That of an array that only a list refers to."""


def _physical_memory() -> int:
    try:
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return 2**33


def _granted_memory() -> int:
    """The machine's memory, or what a container, a service or a job is given of it: the least of the limits of this
    process's control groups, of both versions, in bytes."""
    limits = [_physical_memory()]
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, kinds, place = line.split(":", 2)
            if kinds in ("", "memory"):
                root, name = ("", "memory.max") if not kinds else ("memory", "memory.limit_in_bytes")
                limits += _limits(Path("/sys/fs/cgroup", root), place.strip("/"), name)
    return min(limits)


def _limits(root: Path, place: str, name: str) -> Iterator[int]:
    """Of a group and of all around it, the innermost first; in a container its own group may be the root."""
    folder = root / place
    for each in (folder, *folder.parents):
        with suppress(OSError, ValueError):  # "max" is no number
            yield int((each / name).read_text())
        if each == root:
            return


_blocks = Blocks(_granted_memory() // SHARE)
empty = _blocks.empty


def set_result_memory(size: int) -> None:
    """Keep at most `size` bytes of large results that you dropped, to be used again; 0 keeps none.

    Unless set, a 32nd part of the machine's memory, or of what the process's control group (container) may have.
    """
    try:
        wanted = operator.index(size)
    except TypeError:
        wanted = -1
    if wanted < 0 or isinstance(size, bool):
        raise ArgumentError(f"size is {short(size)}; expected a whole number of bytes from 0 up")
    _blocks.set_most(wanted)
