"""Configurations for poses: kinetree beside Robotics Toolbox and a loop over Pinocchio, on UR5 and Panda.

A thousand random reachable targets, the same for all; tolerances 1e-4 m and 1e-3 rad, limits respected, restarts until
it is found. What each returns is checked by forward kinematics. One call from Python a target; kinetree also all of
100,000 at once, on one core.

    python benchmarks/ik.py        # needs roboticstoolbox-python
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from measure import save
from peers_pose import Solve, of_pinocchio, of_toolbox
from robots import find, without_geometry
from table import show

import kinetree as kt

POSITION, ROTATION = 1e-4, 1e-3
TARGETS, MANY, REPEATS = 1000, 100_000, 3
ARMS: dict[str, tuple[str, str, list[str]]] = {
    "UR5": ("ur5_robot.urdf", "tool0", []),
    "Panda": ("panda.urdf", "panda_hand", ["panda_finger_joint1", "panda_finger_joint2"]),
}


def of_kinetree(robot: kt.Robot, frame: str) -> Solve:
    """One call."""

    def solve(target: np.ndarray) -> tuple[np.ndarray, bool]:
        solution = robot.ik(frame, target, position_tolerance=POSITION, rotation_tolerance=ROTATION)
        return solution.q, solution.success

    return solve


def reached(robot: kt.Robot, frame: str, q: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Which configurations are within limits and tolerances."""
    T = robot.frame(frame).pose(q)
    gap = np.linalg.norm(T[:, :3, 3] - targets[:, :3, 3], axis=-1)
    quaternions = (kt.rotations.quaternion_from_matrix(pose[:, :3, :3]) for pose in (T, targets))
    angle = kt.rotations.distance(*quaternions)
    inside = ((q >= robot.limits.lower - 1e-9) & (q <= robot.limits.upper + 1e-9)).all(axis=-1)
    return (gap <= POSITION * 1.001) & (angle <= ROTATION * 1.001) & inside


def measured(name: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Rows of one arm, target by target, and all at once."""
    ending, frame, locked = ARMS[name]
    urdf = without_geometry(find(ending))
    robot = kt.load(urdf)
    if locked:
        robot = kt.edit.lock(robot, {joint: 0.0 for joint in locked if joint in robot.joint_names})
    targets = robot.frame(frame).pose(robot.random(np.random.default_rng(1), TARGETS))
    contenders = {
        "kinetree": of_kinetree(robot, frame),
        "Robotics Toolbox ik_LM (C++)": of_toolbox(robot, frame, POSITION),
        "Pinocchio loop": of_pinocchio(robot, urdf, frame, locked, POSITION, ROTATION),
    }
    best = dict.fromkeys(contenders, np.inf)
    found = {}
    for repeat in range(REPEATS):
        for title, solve in contenders.items():
            if repeat and title == "Pinocchio loop":
                continue
            solve(targets[0])
            start = time.perf_counter()
            results = [solve(target) for target in targets]
            best[title] = min(best[title], (time.perf_counter() - start) / TARGETS)
            found[title] = reached(robot, frame, np.array([q for q, _ in results]), targets).mean()
    rows = [
        {
            "robot": name,
            "solver": title,
            "µs a target": 1e6 * seconds,
            "reached [%]": 100.0 * found[title],
            "times kinetree": seconds / best["kinetree"],
        }
        for title, seconds in best.items()
    ]
    return rows, batched(name, robot, frame)


def batched(name: str, robot: kt.Robot, frame: str) -> dict[str, Any]:
    """All targets in one call, on one core."""
    targets = robot.frame(frame).pose(robot.random(np.random.default_rng(2), MANY))
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        solution = robot.ik(frame, targets, position_tolerance=POSITION, rotation_tolerance=ROTATION)
        best = min(best, time.perf_counter() - start)
    return {
        "robot": name,
        "targets": MANY,
        "µs a target": 1e6 * best / MANY,
        "reached [%]": 100.0 * reached(robot, frame, solution.q, targets).mean(),
        "million a minute": 60e-6 * MANY / best,
        "steps a target": float(solution.iterations.mean()),
        "starts a target": float(solution.attempts.mean()),
    }


def main() -> None:
    """Measure, print, save."""
    kt.set_num_threads(1)
    pairs = [measured(name) for name in ARMS]
    rows, batches = [row for singles, _ in pairs for row in singles], [batch for _, batch in pairs]
    show("Inverse kinematics to 1e-4 m and 1e-3 rad within limits, one target a call", rows)
    show("All targets in one call, on one core", batches)
    print("saved", save("ik", {"rows": rows, "batches": batches}))


if __name__ == "__main__":
    main()
