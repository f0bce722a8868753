"""Cells of the comparison in other libraries: robots with states, one row of times, and a check that results agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from measure import best_times
from peers_casadi import merged_urdf
from robots import ROBOTS as FILES
from robots import Contender, find
from table import show

import kinetree as kt

ROBOTS = ("UR5", "ANYmal", "G1")
POSES, STATES, BUDGET = 10_000, 1_000, 5.0
GRAVITY = (0.0, 0.0, -9.81, 0.0, 0.0, 0.0)
Calls = dict[str, Callable[[], Any]]
"""Contenders by name; that of kinetree is "kinetree"."""


def row(
    name: str, quantity: str, calls: Calls, states: int, repeats: int, budget: float | None = BUDGET
) -> dict[str, Any]:
    """Times of one cell, in microseconds a call; the ratio is that of the best other contender."""
    times = best_times(calls, repeats=repeats, least=0.0)
    own = times.pop("kinetree")
    best = min(times, key=lambda peer: times[peer])
    found = {
        "robot": name,
        "quantity": quantity,
        "states": states,
        "kinetree [µs]": 1e6 * own,
        "best peer": best,
        "peer [µs]": 1e6 * times[best],
        "ratio": times[best] / own,
        "budget": budget,
        "all peers [µs]": {peer: 1e6 * seconds for peer, seconds in times.items()},
    }
    show(name, [{key: value for key, value in found.items() if key != "all peers [µs]"}])
    return found


def agree(*results: Any, tolerance: float = 1e-6) -> None:
    """Raise if arrays differ by more than a share of their largest entry."""
    first, *others = (np.asarray(result, dtype=float) for result in results)
    for other in others:
        worst = np.abs(first - other).max() / np.abs(first).max()
        if not worst < tolerance:
            raise AssertionError(f"results differ by {worst:.1e}")


def path_of(contender: Contender) -> Path:
    """Its URDF."""
    return find(FILES[contender.name][0])


def floating(contender: Contender) -> tuple[kt.Robot, np.ndarray, dict[str, np.ndarray]]:
    """The robot on a floating base, the pose of its base, and states."""
    robot = kt.load(path_of(contender), base="floating")
    rng = np.random.default_rng(0)
    q, v = robot.random(rng, STATES), rng.normal(size=(STATES, robot.nv))
    return robot, robot.poses(q)[:, 0].copy(), {"q": q, "v": v}


def merged(contender: Contender, robot: kt.Robot) -> str:
    """The URDF that adam gets: links that fixed joints hold together are one, as in kinetree."""
    return merged_urdf(replace(contender, robot=robot))
