"""Torques and centroidal momentum of millions of states on disk, by two workers, with the speed of every partition.

States are written to NPZ files first, as logs would be there. Each worker reads a partition, computes and writes it;
nothing but partitions is ever in memory. A second run finds all of it done. Ten million states of a Unitree G1:

    python 40_millions_of_states.py [folder for the picture] [states, 200000] [robot, humanoid] [engine, local]
    python 40_millions_of_states.py pictures 10000000 g1_29dof.urdf dask
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt
from kinetree.scale import annotate

WORKERS, FILES = 2, 10
QUANTITIES = ["inverse_dynamics", "centroidal_momentum"]


def write_logs(folder, robot, count):
    """So many files of random states."""
    for k in range(FILES):
        rng = np.random.default_rng(k)
        v, a = rng.standard_normal((2, count // FILES, robot.nv))
        np.savez(folder / f"log{k}.npz", q=robot.random(rng, count // FILES), v=v, a=a)


def draw(report, robot, path):
    """Seconds of every partition, by what they were spent for, and states done over time."""
    done = sorted((each.partition, each.value) for each in report.values)
    figure = Figure(figsize=(9.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    bottom = np.zeros(len(done))
    for kind in ("read", "compute", "write"):
        seconds = np.array([value["seconds"][kind] for _, value in done])
        left.bar(np.arange(len(done)), seconds, bottom=bottom, label=kind)
        bottom += seconds
    left.set(title=f"partitions of {robot.name}", xlabel="partition", ylabel="[s]")
    left.legend()
    rows = np.array([partition.rows for partition, _ in done])
    right.bar(np.arange(len(done)), rows / bottom / 1e6, color="C4")
    right.axhline(report.rate / 1e6, color="black", label="the whole run, two workers")
    right.set(title="throughput of a worker", xlabel="partition", ylabel="million states/s")
    right.legend()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":  # processes of a pool import this file
    arguments = dict(enumerate(sys.argv))
    folder = Path(arguments.get(1, "pictures"))
    count, name, engine = int(arguments.get(2, 200_000)), arguments.get(3, "humanoid"), arguments.get(4, "local")
    robot = kt.load(name, base="floating")
    work = Path(tempfile.mkdtemp(prefix="kinetree-"))
    try:
        write_logs(work, robot, count)
        began = time.perf_counter()
        report = annotate(work, robot, QUANTITIES, work / "results", engine, workers=WORKERS)
        print(f"{report.rows} states of {robot.name} in {time.perf_counter() - began:.1f} s, {report.done} partitions")
        again = annotate(work, robot, QUANTITIES, work / "results", engine, workers=WORKERS)
        print(f"a second run: {again.kept} partitions are there, {again.done} to do")
        with np.load(work / "log3.npz") as given, np.load(work / "results" / "log3.0000.npz") as found:
            rows = len(found["inverse_dynamics"])
            tau = robot.inverse_dynamics(given["q"][:rows], given["v"][:rows], given["a"][:rows])
            assert np.array_equal(found["inverse_dynamics"], tau)
        assert report.complete and again.done == 0
        folder.mkdir(parents=True, exist_ok=True)
        draw(report, robot, folder / "40_millions_of_states.png")
        print("drawn in", folder / "40_millions_of_states.png")
    finally:
        shutil.rmtree(work)
