"""A controller in C: exported, compiled by a C compiler, and run at 1 kHz in a loop without Python, on an arm that
MuJoCo simulates. The loop is c/loop.c.

Needs a C compiler, and MuJoCo's wheel for its library and headers: pip install '.[mujoco,plot]'.

    python 38_control_in_c.py [folder for the picture]
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import mujoco
import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.control import ComputedTorque

SECONDS = 2.0
LOOP = Path(__file__).parent / "c" / "loop.c"
MUJOCO = Path(mujoco.__path__[0])


def main(folder="pictures"):
    """The loop in numbers and in a picture."""
    arm = kt.load("arm7")
    with tempfile.TemporaryDirectory() as work:
        kt.to_c(ComputedTorque(arm, stiffness=400.0), work, name="arm")
        (Path(work) / "arm.xml").write_text(arm.to_mjcf())
        (library,) = [path for path in MUJOCO.glob("libmujoco.*") if ".so" in path.name or path.suffix == ".dylib"]
        compiler = [os.environ.get("CC", "cc"), "-std=c99", "-O2", f"-I{MUJOCO / 'include'}", f"-I{work}"]
        sources = [LOOP, Path(work) / "arm.c", library, f"-Wl,-rpath,{MUJOCO}", "-lm"]
        subprocess.run([*compiler, *sources, "-o", f"{work}/loop"], check=True)
        command = [f"{work}/loop", f"{work}/arm.xml", str(SECONDS), f"{work}/numbers.csv"]
        print(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        late, took, error = np.loadtxt(f"{work}/numbers.csv", delimiter=",", unpack=True)
    file = Path(folder) / "38_control_in_c.png"
    file.parent.mkdir(parents=True, exist_ok=True)
    draw(late, took, error, file)
    print("drawn in", file)


def draw(late, took, error, file):
    """Latencies and errors."""
    figure = Figure(figsize=(10, 3.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    edges = np.geomspace(0.05, max(100.0, late.max(), took.max()), 60)
    left.hist(np.maximum(took, edges[0]), edges, label="the controller takes")
    left.hist(np.maximum(late, edges[0]), edges, alpha=0.6, label="the loop wakes up late by")
    left.set(xscale="log", yscale="log", xlabel="time [µs]", ylabel="ticks", title=f"{len(took)} ticks of 1 ms")
    left.legend(fontsize=8)
    right.plot(1e-3 * np.arange(len(error)), 1e3 * error)
    right.set(xlabel="time [s]", ylabel="error [mrad]", title="the joint that is farthest from its reference")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:2])
