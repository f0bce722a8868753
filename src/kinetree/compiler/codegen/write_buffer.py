"""The place where rows of results are put in order before they leave for memory, line by line."""

from __future__ import annotations

LINE = 64
"""Bytes of a cache line."""
COLUMNS = 64
"""Numbers of every row on the stage at a time; shorter rows are written as they are."""
ROW = LINE + 8 * COLUMNS + LINE
"""Bytes of one row of the stage."""


def stage_size(lanes: int) -> int:
    """Bytes of the stage."""
    return ROW * lanes
