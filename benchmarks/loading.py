"""From a file to a robot, meshes not read, beside Pinocchio, which reads kinematics and inertias only; how the time
grows with the number of links; and scenes of many equal robots, from a document to the first result."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import textwrap
import time
import warnings
from typing import Any

import pinocchio as pin
from measure import best_times, environment, save
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
    growing = [growth(kind, shape) for kind, shape in ((urdf, "chain"), (urdf, "star"), (mjcf, "star"))]
    show("Milliseconds a link, by the number of links", growing)
    scenes = [scene(count) for count in (1, 10, 100)]
    show("Humanoids in a scene, from a document to the first inverse dynamics, no cache", scenes)
    print("saved", save("loading", {"loading": rows, "growth": growing, "scenes": scenes}))


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


# -- growth ------------------------------------------------------------------------------------------------------------

COUNTS = (100, 1000, 3000, 10_000)
MUJOCO = 3000
"""Links from which on MuJoCo itself, whose time grows with their square, takes more of the time or of the memory."""


def urdf(count: int, shape: str) -> str:
    """Links one behind the other, or all on the first."""
    inertial = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    links = [f'<link name="l{i}">{inertial}</link>' for i in range(count)]
    joints = [
        f'<joint name="j{i}" type="revolute"><parent link="l{0 if shape == "star" else i - 1}"/><child link="l{i}"/>'
        '<origin xyz="0 0 0.2"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="10" velocity="3"/></joint>'
        for i in range(1, count)
    ]
    return f'<robot name="{shape}">{"".join([*links, *joints])}</robot>'


def mjcf(count: int, shape: str) -> str:
    """Links on the world; MuJoCo refuses a chain of 500."""
    bodies = [
        f'<body name="l{i}"><joint name="j{i}" axis="0 1 0"/>'
        '<inertial pos="0 0 0.1" mass="1" diaginertia="1 1 1"/></body>'
        for i in range(count)
    ]
    return f'<mujoco model="{shape}"><worldbody>{"".join(bodies)}</worldbody></mujoco>'


def growth(kind: Any, shape: str) -> dict[str, Any]:
    """CPU time of this process for a link, which is the same for all numbers of links if time grows with them."""
    row: dict[str, Any] = {"format": kind.__name__.upper(), "shape": shape}
    for count in COUNTS:
        if kind is urdf or count <= MUJOCO:
            row[f"{count} links"] = 1e3 * min(_seconds(kind(count, shape)) for _ in range(2)) / count
    return row


def _seconds(text: str) -> float:
    begun = time.process_time()
    kt.load(text)
    return time.process_time() - begun


# -- scenes ------------------------------------------------------------------------------------------------------------

FIRST = """
    import sys, time
    import numpy as np
    import kinetree as kt
    text = sys.stdin.read()
    begun, used = time.perf_counter(), time.process_time()
    robot = kt.load(text)
    loaded = time.perf_counter()
    tau = robot.inverse_dynamics(robot.neutral(), np.zeros(robot.nv), np.ones(robot.nv))
    print(robot.nv, loaded - begun, time.perf_counter() - loaded, time.process_time() - used)
"""
SCENE = 10.0
"""Seconds for a hundred humanoids."""


def scene(count: int) -> dict[str, Any]:
    """So many bundled humanoids, each with a free joint, in a row."""
    one = kt.load("humanoid", "floating").to_mjcf(lossy=True)
    start, end = one.index("<worldbody>") + len("<worldbody>"), one.index("</worldbody>")
    bodies = f'<replicate count="{count}" offset="1 0 0">{one[start:end]}</replicate>'
    text = f'<mujoco><compiler angle="radian"/><worldbody>{bodies}</worldbody></mujoco>'
    with tempfile.TemporaryDirectory() as folder:
        run = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(FIRST)]
        found = subprocess.run(
            run, input=text, capture_output=True, text=True, check=True, env=environment(KINETREE_CACHE_DIR=folder)
        )
    nv, loaded, first, used = map(float, found.stdout.split())
    row = {"humanoids": count, "nv": int(nv), "load [s]": loaded, "first result [s]": first, "both [s]": loaded + first}
    return {**row, "CPU time without MuJoCo [s]": used, "at most": SCENE if count == 100 else None}


if __name__ == "__main__":
    main()
