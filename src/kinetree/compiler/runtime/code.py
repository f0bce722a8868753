"""Machine code of one kernel, with the layout of its arguments."""

from __future__ import annotations

import struct
from typing import Literal, NamedTuple, Protocol

from kinetree.compiler.runtime.target import Target

Kind = Literal["single", "batch", "loop"]
"""The kernel for one state, for a batch, or for many steps of a batch."""

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
    """How one step feeds the next: the first `states` outputs become the first inputs of the next step. Each other
    input has new values at every step if it is `moving`, else it is constant."""

    states: int
    moving: tuple[bool, ...]


class Code(NamedTuple):
    """An object file, its number of operations for one state, and the size of its workspace in bytes."""

    object_file: bytes
    operations: int
    workspace: int

    def to_bytes(self) -> bytes:
        return _HEAD.pack(self.operations, self.workspace) + self.object_file

    @staticmethod
    def from_bytes(data: bytes) -> Code:
        return Code(data[_HEAD.size :], *_HEAD.unpack_from(data))


class Source(Protocol):
    """The origin of a kernel's code: a program, or the disk."""

    @property
    def layout(self) -> Layout: ...

    @property
    def target(self) -> Target: ...

    def code(self, kind: Kind) -> Code: ...
