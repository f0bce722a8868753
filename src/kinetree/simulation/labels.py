"""Names and units of the coordinates of a robot, and of what is recorded of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.robot.configurations import labels

Labels = list[tuple[str, str]]
"""Names and units."""


def labels_of(robot: Robot, name: Literal["q", "v", "tau"]) -> Labels:
    """Names and units of all entries of "q", "v" or "tau", once for every robot."""
    kept: dict[str, Labels] = robot.__dict__.setdefault("_labels", {})
    if name not in kept:
        kept[name] = labels(robot.model, name)
    return kept[name]


def names_and_units(
    robot: Robot, series: Mapping[str, Array], others: Mapping[str, Labels]
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Of the entries of those series that are coordinates, or that others are known of."""
    found = {name: others[name] for name in series if name in others}
    found |= {name: labels_of(robot, name) for name in ("q", "v", "tau") if name in series}
    columns = {name: tuple(zip(*labels, strict=True)) or ((), ()) for name, labels in found.items()}
    return {name: each[0] for name, each in columns.items()}, {name: each[1] for name, each in columns.items()}
