"""From nothing to the first result, each in a fresh process that keeps its own time.

`KINETREE_CACHE_DIR` is an empty folder for the cold start, and the one that start has filled for the warm ones.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from measure import environment
from robots import ARMS, find
from robots import ROBOTS as FILES

ROBOTS = ("UR5", "G1")
RUNS = 5
IMPORT = 0.25
COLD = {"arm": 0.5, "legged": 2.0}
WARM = {"arm": 0.05, "legged": 0.25}
"""Budgets [s]."""

IMPORTING = """
import time
start = time.perf_counter()
import {module}
print(time.perf_counter() - start)
"""

KINETREE = """
import sys, time
import numpy as np
import kinetree as kt
start = time.perf_counter()
robot = kt.load(sys.argv[1], sys.argv[2])
ones = np.ones(robot.nv)
robot.inverse_dynamics(robot.neutral(), ones, ones)
print(time.perf_counter() - start)
"""

PIN = """
import sys, time
import numpy as np
import pinocchio as pin
start = time.perf_counter()
root = (pin.JointModelFreeFlyer(),) if sys.argv[2] == "floating" else ()
model = pin.buildModelFromUrdf(sys.argv[1], *root)
ones = np.ones(model.nv)
pin.rnea(model, model.createData(), pin.neutral(model), ones, ones)
print(time.perf_counter() - start)
"""


def rows() -> list[dict[str, Any]]:
    """The best of a few runs each."""
    with tempfile.TemporaryDirectory() as cache:
        table = [
            _row(f"import {module}", "", _best(IMPORTING.format(module=module), (), cache), budget)
            for module, budget in (("numpy", None), ("kinetree", IMPORT), ("pinocchio", None))
        ]
    for name in ROBOTS:
        ending, base, _ = FILES[name]
        arguments = (str(find(ending)), base)
        kind = "arm" if name in ARMS else "legged"
        cold, warm = [], []
        for _ in range(RUNS):
            with tempfile.TemporaryDirectory() as cache:
                cold.append(_seconds(KINETREE, arguments, cache))
                warm.append(_seconds(KINETREE, arguments, cache))
        table += [
            _row("kinetree, cold: load, first inverse dynamics", name, min(cold), COLD[kind]),
            _row("kinetree, warm: load, first inverse dynamics", name, min(warm), WARM[kind]),
            _row("pin: load, first inverse dynamics", name, _best(PIN, arguments, ""), None),
        ]
    return table


def _row(what: str, robot: str, seconds: float, budget: float | None) -> dict[str, Any]:
    return {"what": what, "robot": robot, "seconds": seconds, "at most": budget}


def _best(code: str, arguments: tuple[str, ...], cache: str) -> float:
    return min(_seconds(code, arguments, cache) for _ in range(RUNS))


def _seconds(code: str, arguments: tuple[str, ...], cache: str) -> float:
    """What the process prints; it runs elsewhere, so that no file of this folder is in its way."""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *arguments],
        cwd=Path(tempfile.gettempdir()),
        env=environment(**({"KINETREE_CACHE_DIR": cache} if cache else {})),
        capture_output=True,
        text=True,
        check=True,
    )
    return float(run.stdout.split()[-1])
