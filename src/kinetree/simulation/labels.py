"""Names and units of the coordinates of a robot, and of what is recorded of it."""

from __future__ import annotations

from collections.abc import Mapping

from kinetree.model.joints import Joint
from kinetree.ops import Array
from kinetree.robot import Robot

Labels = list[tuple[str, str]]
"""Endings of names, and units."""

_QUATERNION: Labels = [(f".q{axis}", "1") for axis in "xyzw"]
_TURNING: Labels = [(f".w{axis}", "rad/s") for axis in "xyz"]
_PLACE: Labels = [(f".{axis}", "m") for axis in "xyz"]
_MOVING: Labels = [(f".v{axis}", "m/s") for axis in "xyz"]
_POSITIONS: Mapping[str, Labels] = {
    "Prismatic": [("", "m")],
    "Universal": [(".1", "rad"), (".2", "rad")],
    "Planar": [(".x", "m"), (".y", "m"), (".angle", "rad")],
    "Spherical": _QUATERNION,
    "Free": _PLACE + _QUATERNION,
}
_EFFORTS = {"rad/s": "N m", "m/s": "N"}


def _of_positions(joint: Joint) -> Labels:
    return _POSITIONS.get(type(joint).__name__, [("", "rad")])


def _of_velocities(joint: Joint) -> Labels:
    kind = type(joint).__name__
    if kind == "Spherical":
        return _TURNING
    if kind == "Free":
        is_linear_first = getattr(joint, "order", "linear-first") == "linear-first"
        return _MOVING + _TURNING if is_linear_first else _TURNING + _MOVING
    return [(ending, f"{unit}/s") for ending, unit in _of_positions(joint)]


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
        for ending, unit in _of_positions(joint) if name == "q" else _of_velocities(joint):
            found.append((f"{base}{ending}", _EFFORTS[unit] if name == "tau" else unit))
    return found


def names_and_units(
    robot: Robot, series: Mapping[str, Array], others: Mapping[str, Labels]
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Of the entries of those series that are coordinates, or that others are known of."""
    found = {name: others[name] for name in series if name in others}
    found |= {name: labels_of(robot, name) for name in series if name in ("q", "v", "tau")}
    names, units = ({name: tuple(pair[k] for pair in labels) for name, labels in found.items()} for k in (0, 1))
    return names, units
