"""What contact tells of the steps of a rollout: by which names, and in which units."""

from __future__ import annotations

from collections import Counter

from kinetree.robot import Robot
from kinetree.simulation.contact.meeting import Pair
from kinetree.simulation.contact.stops import Stop
from kinetree.simulation.labels import Labels, labels_of

FORCES, GAPS, RESIDUAL, STOPS = "contact_forces", "contact_gaps", "contact_residual", "stop_efforts"


def pair_names(pairs: tuple[Pair, ...]) -> list[str]:
    """That of the frame that touches, with a number behind it, from 1, where it does so more than once."""
    total, seen, names = Counter(pair.name for pair in pairs), Counter[str](), []
    for pair in pairs:
        seen[pair.name] += 1
        names.append(pair.name if total[pair.name] == 1 else f"{pair.name}.{seen[pair.name]}")
    return names


def labels(robot: Robot, pairs: tuple[Pair, ...], stops: tuple[Stop, ...] = ()) -> dict[str, Labels]:
    """Of the entries of everything that may be recorded."""
    names = pair_names(pairs)
    efforts = labels_of(robot, "tau")
    return {
        FORCES: [(f"{name}.{axis}", "N") for name in names for axis in "xyz"],
        GAPS: [(name, "m") for name in names],
        RESIDUAL: [(RESIDUAL, "m/s")],
        STOPS: [efforts[stop.iv] for stop in stops],
    }
