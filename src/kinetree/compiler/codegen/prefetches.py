"""Prefetches of what the next block reads, spread over the operations of this one.

All at once they would wait for each other, and operations for them: a core has few misses under way at a time. What is
much goes to the L2 cache, because it would evict what this block works on from the L1 cache.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.compiler.codegen.ir import Lines, Width

LINE = 64
"""The size of a cache line in bytes."""
APART = 4
"""The minimum number of operations from one prefetch to the next."""
MANY = 128
"""The number of lines from which on they go to the L2 cache: a quarter of an L1 cache of 32 KB."""


class Prefetches:
    """Of inputs with so many numbers each, in a kernel of so many operations.

    Line k of input j is k · %hop_j bytes behind %ahead_j: the next number of column k, or the next line of the rows.
    """

    def __init__(self, inputs: Sequence[int], width: Width, operations: int) -> None:
        lines = [(j, k) for j, n in enumerate(inputs) for k in range(-(-n * width.bytes // LINE))]
        self._left = lines[: operations // APART][::-1]
        self._locality = 3 if len(lines) < MANY else 2
        self._apart = operations / max(1, len(self._left))
        self._since = 0.0

    def after_operation(self, lines: Lines) -> None:
        """Write the prefetch that is due, if any."""
        self._since += 1.0
        if self._left and self._since >= self._apart:
            self._since -= self._apart
            j, k = self._left.pop()
            line = lines.at(f"%ahead{j}", lines.i64("mul", f"%hop{j}", k))
            lines.add(f"call void @llvm.prefetch.p0(ptr {line}, i32 0, i32 {self._locality}, i32 1)")
