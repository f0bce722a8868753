"""Identification: whether its intervals hold the truth, how well it predicts, and how long a million samples take.

Experiments are those of tests/identification_experiments.py: Panda and UR5 in MuJoCo, with friction, steps of encoders
and noise on torques, each seed with other inertias. Plain least squares gets the same logs: it finds inertias that no
body has.

    python identification.py [number of seeds]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from measure import save
from robots import load
from table import show

import kinetree as kt

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from identification_experiments import SPEED, covered, experiment, left_of_another_motion, nominal

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


def times() -> list[dict[str, Any]]:
    """Best of three runs, after one that compiles."""
    rows: list[dict[str, Any]] = []
    for name in ROBOTS:
        robot = load(name).robot
        whole = recording(robot)
        for words, columns in (
            ("t, q, v, a, tau", whole),
            ("t, q, tau", {key: whole[key] for key in ("t", "q", "tau")}),
        ):
            kt.identification.identify(robot, {key: column[:5000] for key, column in columns.items()}, armature=True)
            taken, work = [], []
            for _ in range(3):
                start, processor = time.perf_counter(), time.process_time()
                kt.identification.identify(robot, columns, armature=True)
                taken.append(time.perf_counter() - start)
                work.append(time.process_time() - processor)
            rows.append({"robot": name, "recording": words, "time [s]": min(taken), "processor [s]": min(work)})
    return rows


def evidence(name: str, seeds: int) -> dict[str, Any]:
    """Of one robot in many experiments: how often intervals hold the truth, how far predictions are from the noise, and
    for how many plain least squares alone gives inertias that no body has."""
    held, left, errors, plain_errors, impossible, links = [], [], [], [], 0, set()
    for seed in range(seeds):
        truth, theta, log, result, noise = experiment(name, seed)
        held.append(covered(theta, result))
        left.append(left_of_another_motion(name, truth, result, noise, 10_000 + seed))
        plain = kt.identification.identify(
            nominal(name), log, armature=True, min_speed=SPEED, consistent=False, prior=None
        )
        scale = np.linalg.norm(theta)
        errors.append(np.linalg.norm(result.parameters - theta) / scale)
        plain_errors.append(np.linalg.norm(plain.parameters - theta) / scale)
        impossible += bool(plain.inconsistent)
        links.update(plain.inconsistent)
        assert not result.inconsistent
    counts = np.mean(held, axis=0)
    return {
        "robot": name,
        "seeds": seeds,
        "base parameters": len(counts),
        "in their 95 % intervals": float(np.mean(held)),
        "median over parameters": float(np.median(counts)),
        "least of a parameter": float(np.min(counts)),
        "left / noise, mean": float(np.mean(left)),
        "left / noise, largest": float(np.max(left)),
        "relative error of parameters": float(np.median(errors)),
        "by least squares alone": float(np.median(plain_errors)),
        "seeds with impossible inertias by least squares alone": impossible,
        "links": sorted(links),
    }


def main() -> None:
    """Measure, print, save."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    taken = times()
    show("Identification from a million samples", taken)
    rows = [evidence(name, seeds) for name in ("ur5", "panda")]
    for row in rows:
        print(row)
    print("saved", save("identification", {"samples": SAMPLES, "times": taken, "evidence": rows}))


if __name__ == "__main__":
    main()
