"""Machine code of one kernel, with what one must know to call it."""

from __future__ import annotations

import struct
from typing import Literal, NamedTuple, Protocol

from kinetree.compiler.runtime.jit import Target

Kind = Literal["single", "batch", "loop"]
"""For one state, for a batch, or for many steps of a batch."""

SINGLE = "kinetree_single"
"""void kinetree_single(inputs, outputs, workspace): tables of addresses, one per array."""
BATCH = "kinetree_batch"
"""void kinetree_batch(start, stop, descriptor, workspace)."""
LOOP = "kinetree_loop"
"""void kinetree_loop(start, stop, steps, until, every, words, states, workspace)."""

_HEAD = struct.Struct("<QQ")


class Layout(NamedTuple):
    """Sizes of the input and output arrays, in numbers of one state."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class LoopCarry(NamedTuple):
    """How the results of one step become the arguments of the next: the first `states` outputs are the first inputs of
    the next step. Of the other inputs, those that are `moving` have new numbers at every step."""

    states: int
    moving: tuple[bool, ...]


class Code(NamedTuple):
    """An object file, the operations it does for one state, and the bytes it needs to work in."""

    object_file: bytes
    operations: int
    workspace: int

    def to_bytes(self) -> bytes:
        return _HEAD.pack(self.operations, self.workspace) + self.object_file

    @staticmethod
    def from_bytes(data: bytes) -> Code:
        return Code(data[_HEAD.size :], *_HEAD.unpack_from(data))


class Source(Protocol):
    """Where a kernel's code comes from: a program, or the disk."""

    @property
    def layout(self) -> Layout: ...

    @property
    def target(self) -> Target: ...

    def code(self, kind: Kind) -> Code: ...
