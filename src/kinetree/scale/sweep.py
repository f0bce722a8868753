"""Sweeps of rollouts: the metrics of every point of a grid of starts and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.base.arguments import as_count, as_number
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.scale.partition import Done, Partition
from kinetree.scale.rollouts import Rollouts, as_metrics, performed
from kinetree.scale.run import Engine, Report
from kinetree.scale.samples import as_grid


@dataclass(frozen=True)
class Sweep:
    """The result of a sweep: an array for every metric, with an axis for every name of the grid."""

    axes: Mapping[str, Array]
    values: Mapping[str, Array]
    """NaN at points that diverged, of which "diverged" is 1, and at points that were not done."""
    report: Report

    def __getitem__(self, name: str) -> Array:
        return self.values[name]


def _all(values: Mapping[str, Array], partition: Partition) -> dict[str, Array]:
    return {f"{name}/values": array for name, array in values.items()}


def sweep(
    robot: Robot,
    law: Any,
    grid: Any,
    *,
    dt: float,
    steps: int,
    metrics: Any = None,
    engine: Engine = "local",
    workers: int | None = None,
    rows: int | None = None,
    out: Any = None,
    overwrite: bool = False,
    client: Any = None,
    **options: Any,
) -> Sweep:
    """Roll out every combination of values. `grid` is a dict of lists: "q0", "v0", parameters of the law.

    Metrics, engine, `rows`, `out` and options are as in `monte_carlo`. The result has an axis for every name, in the
    order of the dict.
    """
    measured, points = as_metrics(robot, metrics), as_grid(grid)
    work = Rollouts(robot, law, points, as_number("dt", dt), as_count("steps", steps), measured, options, _all)
    values = {name: np.full(points.count, np.nan) for name in ("diverged", *measured)}

    def add(outcome: Done) -> None:
        for name, array in values.items():
            array[outcome.partition.start : outcome.partition.stop] = outcome.value[f"{name}/values"]

    identity = {"grid": {name: axis.tolist() for name, axis in points.axes.items()}}
    _, report = performed("points", work, identity, add, engine, workers, rows, out, overwrite, client)
    return Sweep(points.axes, {name: array.reshape(points.shape) for name, array in values.items()}, report)
