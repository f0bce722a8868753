"""Memory of large results, which is used again once no array refers to it.

The operating system clears every page of new memory, which takes longer than most kernels take to fill it. So large
results live in blocks that are kept for a while: a loop that overwrites its result alternates between two of them.
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.base.locks import FREE_THREADED
from kinetree.base.precision import FLOAT64
from kinetree.errors import ArgumentError, short
from kinetree.ops import Array

LARGE = 2**21
"""Size in bytes from which on a result comes from a block; the allocator itself keeps smaller ones."""
TOGETHER = 2**20
"""The same for all results of a call together, if there are several: the allocator gives those back to the system."""
ALIGNED = 2**14
"""Size in bytes from which on a result begins at a cache line, because its rows are then written in whole vectors."""
LINE = 64
"""The size of a cache line in bytes."""
SHARE = 32
"""All blocks together take at most one part in `SHARE` of the memory of this process, unless the limit is set."""


def _bytes(size: int) -> Array:
    """A block for so many bytes from a cache line on."""
    return np.empty(size + LINE, dtype=np.uint8)


def _within(block: Array, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """The array in a block of bytes that begins at its first cache line."""
    first = -block.__array_interface__["data"][0] % LINE
    return block[first : first + dtype.itemsize * prod(shape)].view(dtype).reshape(shape)


class Blocks:
    """Blocks of memory, the last used last.

    There is no lock: operations on lists are atomic, and a thread that takes a block out of the list owns it. So no
    signal handler and no forked child can find a lock taken. In free-threaded builds a count of references has two
    parts, which cannot be read at once: no block is used again there.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._blocks: list[Array] = []

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any] = FLOAT64, least: int = LARGE) -> Array:
        """An uninitialized array, in a block if it has at least so many bytes."""
        size = dtype.itemsize * prod(shape)
        if FREE_THREADED or not least <= size <= self.limit:
            return np.empty(shape, dtype) if size < ALIGNED else _within(_bytes(size), shape, dtype)
        block = self._free(size + LINE)
        if block is None:
            block = _bytes(size)
        result = _within(block, shape, dtype)
        self._blocks.append(block)  # only now that the result refers to it
        self._shrink()
        return result

    def _free(self, size: int) -> Array | None:
        """A block that is large enough but not much larger and that no array uses, taken out of the list."""
        for k in range(len(self._blocks)):
            try:
                taken = [self._blocks.pop(k)]
            except IndexError:  # another thread has taken some
                return None
            if size <= len(taken[0]) <= size + size // 4 and _count(taken) == UNUSED:
                return taken[0]
            self._blocks.insert(k, taken[0])
        return None

    def set_limit(self, size: int) -> None:
        """Keep at most `size` bytes from now on."""
        self.limit = size
        self._shrink()

    def _shrink(self) -> None:
        """Drop the oldest blocks until the rest fits; arrays in them stay valid."""
        while sum(map(len, self._blocks)) > self.limit:
            with suppress(IndexError):  # another thread has dropped it
                del self._blocks[0]


def _count(blocks: list[Array]) -> int:
    """The reference count of the first block."""
    return sys.getrefcount(blocks[0])


UNUSED = _count([np.empty(1, dtype=np.uint8)])
"""The reference count of an array that only a list refers to."""


def _physical_memory() -> int:
    try:
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return 2**33


def _granted_memory() -> int:
    """The memory that this process may use, in bytes: that of the machine, or the lowest limit of the control groups
    (version 1 or 2) of its container, service or job."""
    limits = [_physical_memory()]
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, kinds, group = line.split(":", 2)
            if kinds in ("", "memory"):
                root, name = ("", "memory.max") if not kinds else ("memory", "memory.limit_in_bytes")
                limits += _limits(Path("/sys/fs/cgroup", root), group.strip("/"), name)
    return min(limits)


def _limits(root: Path, group: str, name: str) -> Iterator[int]:
    """The limits of a control group and of its parents, innermost first; a container may have its group as the root."""
    folder = root / group
    for each in (folder, *folder.parents):
        with suppress(OSError, ValueError):  # "max" is no number
            yield int((each / name).read_text())
        if each == root:
            return


_blocks = Blocks(_granted_memory() // SHARE)
empty = _blocks.empty


def empty_results(shapes: Sequence[tuple[int, ...]], dtype: np.dtype[Any] = FLOAT64) -> list[Array]:
    """Uninitialized arrays for the results of a call."""
    together = len(shapes) > 1 and dtype.itemsize * sum(map(prod, shapes)) >= TOGETHER
    return [_blocks.empty(shape, dtype, TOGETHER // 16 if together else LARGE) for shape in shapes]


def set_result_memory(size: int) -> None:
    """Keep at most `size` bytes of memory of dropped large results for reuse; 0 keeps none.

    The default is 1/32 of the memory of the machine, or of the limit of the process's control group (container).
    """
    try:
        wanted = operator.index(size)
    except TypeError:
        wanted = -1
    if wanted < 0 or isinstance(size, bool):
        raise ArgumentError(f"size is {short(size)}; expected a number of bytes of at least 0")
    _blocks.set_limit(wanted)
