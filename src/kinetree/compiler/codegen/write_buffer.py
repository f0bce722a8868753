"""The size of the write buffer, in which rows of results are aligned before they go to memory in whole cache lines."""

from __future__ import annotations

from kinetree.compiler.codegen.ir import Width

LINE = 64
"""The size of a cache line in bytes."""
COLUMNS = 64
"""The numbers of every row in the buffer at a time; shorter rows are written directly."""


def row_size(width: Width) -> int:
    """The size of one row of the buffer in bytes."""
    return LINE + width.size * COLUMNS + LINE


def buffer_size(width: Width) -> int:
    """The size of the buffer in bytes."""
    return row_size(width) * width.lanes
