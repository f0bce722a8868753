"""The size of the write buffer, in which rows of results are aligned before they go to memory in whole cache lines."""

from __future__ import annotations

LINE = 64
"""The size of a cache line in bytes."""
COLUMNS = 64
"""The numbers of every row in the buffer at a time; shorter rows are written directly."""
ROW = LINE + 8 * COLUMNS + LINE
"""The size of one row of the buffer in bytes."""


def buffer_size(lanes: int) -> int:
    """The size of the buffer in bytes."""
    return ROW * lanes
