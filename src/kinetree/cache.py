"""The machine code that is kept on disk between processes: where it is, how much, and how to fill or empty it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from kinetree.compiler import cache as _disk
from kinetree.errors import unknown
from kinetree.quantities import OF_ROBOT
from kinetree.robot import Robot


def where() -> Path | None:
    """The folder; None if the cache is switched off (``KINETREE_CACHE=0``). ``KINETREE_CACHE_DIR`` names another."""
    return _disk.folder()


def size() -> int:
    """Bytes on disk."""
    return _disk.size()


def clear() -> int:
    """Remove everything, and return how many entries that were. Code already in memory stays."""
    return _disk.clear()


def warm(
    robot: Robot, *quantities: str, batch: bool = True, report: Callable[[str, int, int], None] | None = None
) -> None:
    """Compile quantities now, all of the robot's if none is named, so that later processes only load them.

    For one state, and with `batch` for batches too. Quantities that this robot does not have are left out. `report` is
    called before each, with its name, how many came before it and how many there are; without it, a terminal shows it.
    """
    names = quantities or tuple(name for name in OF_ROBOT if robot.mass > 0.0 or not name.startswith("center_of_mass"))
    for name in names:
        if name not in OF_ROBOT:
            raise unknown("quantity", name, OF_ROBOT)
    show = report is None and sys.stderr.isatty()
    for k, name in enumerate(names):
        if report is not None:
            report(name, k, len(names))
        elif show:
            print(f"\r\x1b[K[{k + 1}/{len(names)}] {name}", end="", file=sys.stderr, flush=True)
        robot.prepare(name)
        if batch:
            robot.prepare(name, batch=True)
    if show:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
