"""A simulated motion: what is to be said of it, and its files."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import kinetree as kt
from kinetree.base.files import replaced
from kinetree.cli.numbers import coordinate_names, position_names
from kinetree.ops import Array

if TYPE_CHECKING:
    from kinetree.simulation.trajectory import Trajectory

MOST_LINES = 14
"""More have no legend."""


@dataclass(frozen=True, eq=False)
class Motion:
    """A robot and how it moved."""

    robot: kt.Robot
    path: Trajectory

    @property
    def t(self) -> Array:
        """(n,) [s]."""
        return self.path.t

    @property
    def q(self) -> Array:
        """(n, nq)."""
        return self.path.q

    @property
    def v(self) -> Array:
        """(n, nv)."""
        return self.path.v

    @property
    def lost(self) -> float | None:
        """When it was last well, if it did not stay so [s]."""
        return float(self.t[int(self.path.steps)]) if self.path.diverged else None

    def energy(self, k: int) -> float:
        """Kinetic and potential, at a step [J]."""
        return float(self.robot.kinetic_energy(self.q[k], self.v[k]) + self.robot.potential_energy(self.q[k]))

    def outside(self) -> list[str]:
        """Coordinates that leave their limits."""
        limits = self.robot.limits
        beyond = (self.q < limits.lower - 1e-9) | (self.q > limits.upper + 1e-9)
        return [name for name, column in zip(position_names(self.robot), beyond.T, strict=True) if column.any()]


def save(motion: Motion, path: Path) -> None:
    """As .npz or .parquet, or as .csv with a line of titles."""
    if path.suffix.lower() != ".csv":
        motion.path.save(path)
        return
    titles = [f"q:{name}" for name in position_names(motion.robot)]
    titles += [f"v:{name}" for name in coordinate_names(motion.robot)]
    with replaced(path) as place, place.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["t", *titles])
        rows.writerows(np.column_stack([motion.t, motion.q, motion.v]).tolist())


def draw(motion: Motion, path: Path) -> None:
    """Positions and velocities over time."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    except ModuleNotFoundError:
        raise kt.KinetreeError("plots are drawn by the package matplotlib: pip install 'kinetree[plot]'") from None
    figure: Any = Figure(figsize=(9, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(motion.t, motion.q, label=position_names(motion.robot))
    below.plot(motion.t, motion.v, label=coordinate_names(motion.robot))
    above.set(title=motion.robot.name, ylabel="positions [rad or m]")
    below.set(xlabel="time [s]", ylabel="velocities [rad/s or m/s]", xlim=(motion.t[0], motion.t[-1]))
    for axes in (above, below):
        axes.grid(alpha=0.3)
    if motion.q.shape[1] <= MOST_LINES:
        above.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    try:
        with replaced(path) as file:
            figure.savefig(file, dpi=120)
    except ValueError as problem:
        raise kt.ArgumentError(f"--plot is {path.name}: {problem}") from None
