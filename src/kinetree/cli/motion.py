"""A simulated motion: what is to be said of it, and its files."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import kinetree as kt
from kinetree.base.files import replaced
from kinetree.cli.numbers import coordinate_names, position_names

if TYPE_CHECKING:
    from kinetree.simulation.trajectory import Trajectory


def lost(motion: Trajectory) -> float | None:
    """The time [s] at which a motion that diverged was last well; None for others."""
    return float(motion.t[int(motion.steps)]) if motion.diverged else None


def energy(robot: kt.Robot, motion: Trajectory, k: int) -> float:
    """Kinetic and potential energy at a step [J]."""
    return float(robot.kinetic_energy(motion.q[k], motion.v[k]) + robot.potential_energy(motion.q[k]))


def outside(robot: kt.Robot, motion: Trajectory) -> list[str]:
    """Coordinates that leave their limits."""
    beyond = (motion.q < robot.limits.lower - 1e-9) | (motion.q > robot.limits.upper + 1e-9)
    return [name for name, column in zip(position_names(robot), beyond.T, strict=True) if column.any()]


def save(robot: kt.Robot, motion: Trajectory, path: Path) -> None:
    """Writes .npz or .parquet, or .csv with a line of titles."""
    if path.suffix.lower() != ".csv":
        motion.save(path)
        return
    titles = [f"q:{name}" for name in position_names(robot)] + [f"v:{name}" for name in coordinate_names(robot)]
    with replaced(path) as place, place.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["t", *titles])
        rows.writerows(np.column_stack([motion.t, motion.q, motion.v]).tolist())


def draw(robot: kt.Robot, motion: Trajectory, path: Path) -> None:
    """Draws positions and velocities over time."""
    from kinetree.plot.canvas import new_figure  # noqa: PLC0415 - other commands do without

    figure = new_figure((9, 6))
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(motion.t, motion.q, label=position_names(robot))
    below.plot(motion.t, motion.v, label=coordinate_names(robot))
    above.set(title=robot.name, ylabel="positions [rad or m]")
    below.set(xlabel="time [s]", ylabel="velocities [rad/s or m/s]", xlim=(motion.t[0], motion.t[-1]))
    for axes in (above, below):
        axes.grid(alpha=0.3)
    if motion.q.shape[1] <= 14:  # more have no legend
        above.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    try:
        with replaced(path) as file:
            figure.savefig(file, dpi=120)
    except ValueError as problem:
        raise kt.ArgumentError(f"--plot is {path.name}: {problem}") from None
