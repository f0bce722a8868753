"""Names and units of the coordinates of a robot, and of what is recorded of it."""

from __future__ import annotations

from collections.abc import Mapping

from kinetree.ops import Array
from kinetree.robot import Robot

Labels = list[tuple[str, str]]
"""Names and units."""


def labels_of(robot: Robot, name: str) -> Labels:
    """Names and units of all entries of "q", "v" or "tau", once for every robot."""
    kept: dict[str, Labels] = robot.__dict__.setdefault("_labels", {})
    if name not in kept:
        kept[name] = _made(robot, name)
    return kept[name]


def _made(robot: Robot, name: str) -> Labels:
    found = []
    for joint in robot.model.owners:
        base = "base" if joint is robot.model.floating_base else joint.name
        labels = {"q": joint.q_labels, "v": joint.v_labels, "tau": joint.tau_labels}[name]
        found += [(f"{base}{ending}", unit) for ending, unit in labels]
    return found


def names_and_units(
    robot: Robot, series: Mapping[str, Array], others: Mapping[str, Labels]
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Of the entries of those series that are coordinates, or that others are known of."""
    found = {name: others[name] for name in series if name in others}
    found |= {name: labels_of(robot, name) for name in series if name in ("q", "v", "tau")}
    names, units = ({name: tuple(pair[k] for pair in labels) for name, labels in found.items()} for k in (0, 1))
    return names, units
