"""The machine code that is kept on disk between processes: where it is, how much, and how to fill or empty it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from kinetree.compiler import cache as _disk
from kinetree.errors import ArgumentTypeError, short
from kinetree.robot import Robot
from kinetree.robot.quantity import prepared, quantities_of


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

    Derivatives and other large ones are compiled only if they are named. For one state, and with `batch` for batches
    too. Quantities that this robot does not have are left out. `report` is called before each, with its name, how many
    came before it and how many there are; without it, a terminal shows it.
    """
    if not isinstance(robot, Robot):
        raise ArgumentTypeError(f"robot is {short(robot)}; expected a kinetree.Robot")
    names = quantities or tuple(
        name
        for name, quantity in quantities_of(Robot).items()
        if not quantity.is_large and quantity.refusal(robot.model) is None
    )
    listed = prepared(robot, names)
    shows = report is None and sys.stderr is not None and sys.stderr.isatty()
    try:
        for k, (function, key) in enumerate(listed):
            if report is not None:
                report(names[k], k, len(names))
            elif shows:
                print(f"\r\x1b[K[{k + 1}/{len(names)}] {names[k]}", end="", file=sys.stderr, flush=True)
            function.prepare(key)
            if batch:
                function.prepare(key, batch=True)
    finally:
        if shows:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
