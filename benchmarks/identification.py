"""How long identification takes for a million samples: with accelerations, and with positions and torques alone."""

from __future__ import annotations

import time

import numpy as np
from robots import load
from table import show

import kinetree as kt

SAMPLES = 1_000_000
ROBOTS = ("UR5", "xArm7")


def recording(robot: kt.Robot) -> dict[str, np.ndarray]:
    """A sum of sines at 1 kHz, with noise on the torques."""
    rng = np.random.default_rng(0)
    t = 1e-3 * np.arange(SAMPLES)
    q, v, a = (np.zeros((SAMPLES, robot.nv)) for _ in range(3))
    for w, phase in zip(rng.uniform(0.5, 4.0, (3, robot.nv)), rng.uniform(0.0, 6.0, (3, robot.nv)), strict=True):
        x = np.outer(t, w) + phase
        q += 0.3 * np.sin(x)
        v += 0.3 * w * np.cos(x)
        a -= 0.3 * w**2 * np.sin(x)
    tau = robot.inverse_dynamics(q, v, a)
    return {"t": t, "q": q, "v": v, "a": a, "tau": tau + 0.1 * rng.normal(size=tau.shape)}


def measured() -> list[dict[str, object]]:
    """Best of three runs, after one that compiles."""
    rows: list[dict[str, object]] = []
    for name in ROBOTS:
        robot = load(name).robot
        whole = recording(robot)
        for words, columns in (
            ("t, q, v, a, tau", whole),
            ("t, q, tau", {key: whole[key] for key in ("t", "q", "tau")}),
        ):
            kt.identification.identify(robot, {key: column[:5000] for key, column in columns.items()}, armature=True)
            times, work = [], []
            for _ in range(3):
                start, processor = time.perf_counter(), time.process_time()
                kt.identification.identify(robot, columns, armature=True)
                times.append(time.perf_counter() - start)
                work.append(time.process_time() - processor)
            rows.append({"robot": name, "recording": words, "time [s]": min(times), "processor [s]": min(work)})
    return rows


if __name__ == "__main__":
    show("Identification from a million samples", measured())
