"""Names of the six directions in which a frame moves, and of those that a task has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kinetree.errors import ArgumentError, ArgumentTypeError, known, short, unknown
from kinetree.spatial.packing import SpatialOrder, halves

DIRECTIONS = ("x", "y", "z", "rx", "ry", "rz")
"""Along the axes, and about them."""
TASKS = {"pose": DIRECTIONS, "position": DIRECTIONS[:3], "orientation": DIRECTIONS[3:]}


def directions(name: str, given: Any) -> tuple[int, ...]:
    """Names among x, y, z, rx, ry, rz as numbers, in that order."""
    if isinstance(given, str) and given not in DIRECTIONS:
        raise unknown(name, given, (*TASKS, *DIRECTIONS))
    if not isinstance(given, (str, Iterable)):
        raise ArgumentTypeError(f"{name} is {short(given)}; expected names among {', '.join(DIRECTIONS)}")
    names = [given] if isinstance(given, str) else list(given)
    for word in names:
        known("direction", word, DIRECTIONS)
    if not names:
        raise ArgumentError(f"{name} is empty; expected names among {', '.join(DIRECTIONS)}")
    for word in names:
        if names.count(word) > 1:
            raise ArgumentError(f"{name} has {word!r} {names.count(word)} times; expected each direction once")
    return tuple(sorted({DIRECTIONS.index(word) for word in names}))


def task_directions(task: Any) -> tuple[str, ...]:
    """The directions of a task: of "pose", "position" or "orientation", or those that are named, in their order."""
    named = TASKS.get(task, task) if isinstance(task, str) else task
    return tuple(DIRECTIONS[row] for row in directions("task", named))


def task_rows(task: Any, order: SpatialOrder) -> list[int]:
    """The entries of 6-vectors of this order that have these directions, ascending."""
    linear, angular = halves(order)
    places = [*range(6)[linear], *range(6)[angular]]
    return sorted(places[row] for row in directions("task", task_directions(task)))
