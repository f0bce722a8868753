"""The demo from beginning to end: text on the way, pictures and pages in a folder, the viewer at last.

Dynamics and speed need nothing but the core; pictures need matplotlib, the walk mujoco, the viewer viser.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import kinetree as kt
from kinetree.cli.demo import arm, speed
from kinetree.cli.demo.reach import Reach
from kinetree.cli.demo.walk import SOLES, Walk

TEXT, PAGE = "demo.txt", "walk.html"
MILLION = 1_000_000


def run(folder: Path | None = None, states: int = MILLION, walks: bool = True) -> None:
    """Print the demo; with a folder, leave text, plots and an animated page there; on a terminal, serve the viewer."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    robot = kt.load("arm6")
    reach, lines = Reach(robot, states), []
    walk = Walk() if walks and find_spec("mujoco") is not None else None
    with np.printoptions(precision=3, suppress=True, linewidth=110):
        for line in _lines(robot, reach, walk, walks):
            print(line, flush=True)
            lines.append(line)
    if folder is not None:
        (folder / TEXT).write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"\nwritten to {folder / TEXT}")
        _draw(reach, walk, folder)
    if walk is not None:
        _view(walk, folder)


def _lines(robot: kt.Robot, reach: Reach, walk: Walk | None, walks: bool) -> Iterator[str]:
    yield from arm.dynamics(robot)
    yield from arm.checks(robot)
    yield from speed.table(speed.ROBOTS if walks else speed.ROBOTS[:1])
    yield from reach.million()
    yield from reach.law()
    if walk is not None:
        yield from walk.lines()
    elif walks:
        yield "\nno walk: it needs mujoco (pip install 'kinetree[mujoco]')"


def _draw(reach: Reach, walk: Walk | None, folder: Path) -> None:
    if find_spec("matplotlib") is None:
        print("no plots: they need matplotlib (pip install 'kinetree[plot]')")
        return
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    figure: Any = Figure(figsize=(11, 4.2), layout="constrained")
    print(f"drawn in {reach.draw(figure, folder)}")
    if walk is not None:
        larger: Any = Figure(figsize=(12, 8), layout="constrained")
        print(f"drawn in {walk.draw(larger, folder)}")


def _view(walk: Walk, folder: Path | None) -> None:
    """The walk in the browser: a page in the folder, and a server for as long as someone sits at the terminal."""
    if find_spec("viser") is None:
        print("no viewer: it needs viser (pip install 'kinetree[viewer]')")
        return
    seen, some = walk.recording, slice(None, None, 10)
    forces = {sole: seen.force(sole)[some] for sole in SOLES}
    with walk.robot.view(q=walk.stand, show=("visual", "com", "forces")) as viewer:
        viewer.play((seen.t[some], seen.q[some]), wrenches=forces)
        if folder is not None:
            print(f"animated in {viewer.export(folder / PAGE)}: open it in a browser, it needs no server")
        print(f"the viewer: {viewer.url}", flush=True)
        if sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty():
            print("Ctrl-C ends it.", flush=True)
            viewer.wait()
