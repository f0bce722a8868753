"""From a URDF file to a robot, meshes not read, beside Pinocchio, which reads kinematics and inertias only."""

from __future__ import annotations

import warnings
from typing import Any

import pinocchio as pin
from measure import best_times, save
from robots import ARMS, ROBOTS, find
from table import show

import kinetree as kt

FILES = {name: (ending, base) for name, (ending, base, _) in ROBOTS.items()} | {
    "Talos": ("talos_full_v2.urdf", "floating"),
    "PR2": ("pr2.urdf", "fixed"),
    "TIAGo dual": ("tiago_dual.urdf", "fixed"),
}
HUMANOIDS = ("iCub", "G1", "Talos")
BUDGET = 0.05
"""Seconds for a humanoid."""


def main() -> None:
    """Measure, print, save."""
    rows = [row(name) for name in FILES]
    show("From a file to a robot", rows)
    print("saved", save("loading", {"loading": rows}))


def row(name: str) -> dict[str, Any]:
    """One file, read by both in turn."""
    ending, base = FILES[name]
    path = str(find(ending))
    root = (pin.JointModelFreeFlyer(),) if base == "floating" else ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.ModelWarning)
        robot = kt.load(path, base)
        best = best_times(
            {"kinetree": lambda: kt.load(path, base), "pin": lambda: pin.buildModelFromUrdf(path, *root)}, repeats=10
        )
    shapes = [(*link.visuals, *link.collisions) for link in robot.model.description.links.values()]
    return {
        "robot": name,
        "kind": "arm" if name in ARMS else "legged" if base == "floating" else "mobile arm",
        "links": len(shapes),
        "shapes": sum(map(len, shapes)),
        "seconds": best["kinetree"],
        "pin [s]": best["pin"],
        "at most": BUDGET if name in HUMANOIDS else None,
    }


if __name__ == "__main__":
    main()
