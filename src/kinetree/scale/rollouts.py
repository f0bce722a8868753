"""Rollouts of many samples: what Monte Carlo and sweeps have in common."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinetree import __version__
from kinetree.base.arguments import as_count, as_flag
from kinetree.base.files import replaced
from kinetree.errors import ArgumentError, ArgumentTypeError, DivergenceError, DivergenceWarning, short
from kinetree.functions.law import Law
from kinetree.ops import Array
from kinetree.robot import Robot, as_robot
from kinetree.scale.computed import code_of
from kinetree.scale.ledger import Ledger
from kinetree.scale.partition import Done, Partition
from kinetree.scale.run import Report, as_workers, run
from kinetree.scale.samples import BLOCK, Drawn, Grid, Metric
from kinetree.simulation.labels import labels_of
from kinetree.simulation.trajectory import Trajectory

MOST_BYTES = 128 * 2**20
"""Of the trajectories of a partition."""
PER_WORKER = 16
"""Partitions for each worker, at least, if samples suffice: the last ones should end together."""


@dataclass(frozen=True)
class Rollouts:
    """Runs the samples of a partition, and reduces their trajectories by `reduce(values, partition)`."""

    robot: Robot
    law: Any
    samples: Drawn | Grid
    dt: float
    steps: int
    metrics: Mapping[str, Metric]
    options: Mapping[str, Any]
    reduce: Callable[[Mapping[str, Array], Partition], dict[str, Array]]
    ledger: Ledger | None = None

    def __call__(self, partition: Partition) -> dict[str, Array]:
        begun = time.perf_counter()
        reduced = self.reduce(self.values(partition.start, partition.stop), partition)
        if self.ledger is not None:
            path = self.ledger.out / f"{partition.name}.npz"
            with replaced(path) as place, open(place, "wb") as file:
                np.savez(file, **dict[str, Any](reduced))
            facts = {"seconds": time.perf_counter() - begun}
            self.ledger.receive(partition, {path.name: path.stat().st_size}, facts)
        return reduced

    def values(self, start: int, stop: int) -> dict[str, Array]:
        """The metrics of these samples, (stop - start,); NaN for samples that diverged, of which "diverged" is 1."""
        given = self.samples.take(start, stop)
        count = stop - start
        try:
            motion = self.motion(given, count)
        except DivergenceError:
            return {"diverged": np.ones(count)} | {name: np.full(count, np.nan) for name in self.metrics}
        found = {"diverged": motion.diverged.astype(float)}
        for name, metric in self.metrics.items():
            numbers = np.asarray(metric(motion), dtype=float)
            if numbers.shape != (count,):
                raise ArgumentError(f"metric {name!r} has shape {numbers.shape}; expected ({count},)")
            found[name] = np.where(motion.diverged, np.nan, numbers)
        return found

    def motion(self, given: Mapping[str, Array], count: int) -> Trajectory:
        """The trajectories of samples."""
        parameters = {name: array for name, array in given.items() if name not in ("q0", "v0")}
        q0 = given.get("q0", np.broadcast_to(self.robot.neutral(), (count, self.robot.nq)))
        v0 = given.get("v0", np.zeros((count, self.robot.nv)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DivergenceWarning)  # they are counted
            return self.robot.rollout(
                q0, v0, self.law, self.dt, self.steps, parameters=parameters or None, **self.options
            )


def as_metrics(robot: Any, metrics: Any) -> dict[str, Metric]:
    """Metrics by name; by default the last position and the largest speed of every coordinate."""
    robot = as_robot(robot)
    if metrics is None:
        found: dict[str, Metric] = {f"last {name}": Last(k) for k, (name, _) in enumerate(labels_of(robot, "q"))}
        return found | {f"fastest {name}": Fastest(k) for k, (name, _) in enumerate(labels_of(robot, "v"))}
    if not isinstance(metrics, Mapping) or not all(map(callable, metrics.values())):
        raise ArgumentTypeError(f"metrics is {short(metrics)}; expected a dict from names to functions of trajectories")
    if "diverged" in metrics:
        raise ArgumentError("metrics has 'diverged', which is there anyway; expected another name")
    return dict(metrics)


@dataclass(frozen=True)
class Last:
    """The last value of a position."""

    k: int

    def __call__(self, motion: Trajectory) -> Array:
        return np.asarray(motion.q[..., -1, self.k])


@dataclass(frozen=True)
class Fastest:
    """The largest absolute value of a velocity."""

    k: int

    def __call__(self, motion: Trajectory) -> Array:
        return np.abs(motion.v[..., self.k]).max(axis=-1)


def performed(
    name: str, work: Rollouts, identity: Mapping[str, Any], add: Callable[[Done], None], engine: str,
    workers: int | None, rows: int | None, out: Any, overwrite: bool, client: Any,
) -> tuple[Rollouts, Report]:  # fmt: skip
    """Run all samples, or those that are missing in the folder `out`. `add` gets the reduced values of every partition,
    in any order; `identity` is what a second run must have in common with the first."""
    replaces, count = as_flag("overwrite", overwrite), as_workers(workers, engine, client)
    ledger = None if out is None else Ledger(out)
    partitions = _partitions(name, work, rows, ledger, count)
    done: set[Partition] = set()
    facts = {"kinetree": __version__, "robot": {"name": work.robot.name, "digest": work.robot.model.digest}}
    if ledger is not None:
        ledger.begin(_identity(work, partitions, identity), replaces)
        work = replace(work, ledger=ledger)
        done = {each for each in partitions if ledger.is_done(each)}
        for each in done:
            with np.load(ledger.out / f"{each.name}.npz", allow_pickle=False) as file:
                add(Done(each, {array: file[array] for array in file.files}))
    where = engine, count, client, ledger, facts
    return work, run("rollouts", name, work, partitions, *where, kept=done, arrived=add)


def _partitions(name: str, work: Rollouts, rows: int | None, ledger: Ledger | None, workers: int) -> list[Partition]:
    """Partitions of whole blocks: of `rows`, or as an earlier run had them, or of as many samples as fit in memory."""
    known = (ledger.manifest or {}).get("identity", {}).get(_SIZE) if ledger is not None else None
    count = work.samples.count
    if rows is None:
        every = max(1, as_count("every", work.options.get("every", 1)))
        each = 8 * (work.robot.nq + work.robot.nv) * (work.steps // every + 1)
        rows = known or max(1, min(MOST_BYTES // each, -(-count // (PER_WORKER * workers))))
    size = max(1, -(-as_count("rows", rows, 1) // BLOCK)) * BLOCK
    starts = range(0, count, size)
    digits = len(str(len(starts)))
    return [Partition(f"{name}.{k:0{digits}}", name, start, min(start + size, count)) for k, start in enumerate(starts)]


_SIZE = "partition"


def _identity(work: Rollouts, partitions: Sequence[Partition], own: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "robot": work.robot.model.digest,
        "version": __version__,
        "dt": work.dt,
        "steps": work.steps,
        "options": {name: repr(value) for name, value in sorted(work.options.items())},
        _SIZE: -(-partitions[0].rows // BLOCK) * BLOCK,
        "law": code_of(work.law.inspect(work.robot) if isinstance(work.law, Law) else work.law),
        "metrics": code_of(work.metrics),
        **own,
    }
