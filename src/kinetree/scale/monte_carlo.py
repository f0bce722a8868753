"""Monte Carlo of rollouts: random starts and parameters, reduced while they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from kinetree.base.arguments import as_count, as_number
from kinetree.errors import ArgumentError
from kinetree.ops import Array
from kinetree.robot import Robot
from kinetree.scale.computed import code_of
from kinetree.scale.partition import Done, Partition
from kinetree.scale.rollouts import Rollouts, as_metrics, performed
from kinetree.scale.run import Engine, Report
from kinetree.scale.samples import BLOCK, Drawn
from kinetree.scale.summary import Summary

TOGETHER = 64
"""Summaries that are merged at a time."""


@dataclass(frozen=True)
class MonteCarlo:
    """The result of a Monte Carlo: a `Summary` for every metric, by name."""

    summaries: Mapping[str, Summary]
    samples: int
    """Samples that were run."""
    report: Report
    rollouts: Rollouts = field(repr=False)

    def __getitem__(self, name: str) -> Summary:
        return self.summaries[name]

    @property
    def diverged(self) -> float:
        """The share of samples that diverged."""
        return self.summaries["diverged"].mean

    def draw(self, sample: int) -> dict[str, Array]:
        """The start of a sample, by its number: "q0", "v0" and parameters of the law."""
        drawn = self.rollouts.samples
        if not 0 <= as_count("sample", sample) < drawn.count:
            raise ArgumentError(f"sample is {sample}; expected a number below {drawn.count}")
        return {name: array[0] for name, array in drawn.take(sample, sample + 1).items()}

    def rerun(self, sample: int) -> Any:
        """The trajectory of one sample, by its number."""
        return self.rollouts.motion(self.draw(sample), 1)


def _summarized(values: Mapping[str, Array], partition: Partition, worst: int) -> dict[str, Array]:
    """The reduction of a partition: a summary of every metric."""
    arrays: dict[str, Array] = {}
    for name, numbers in values.items():
        arrays |= Summary.of(numbers, partition.start, BLOCK, worst).to_arrays(name)
    return arrays


def monte_carlo(
    robot: Robot,
    law: Any,
    distribution: Any,
    *,
    samples: int,
    dt: float,
    steps: int,
    metrics: Any = None,
    seed: int = 0,
    worst: int = 10,
    engine: Engine = "local",
    workers: int | None = None,
    rows: int | None = None,
    out: Any = None,
    overwrite: bool = False,
    client: Any = None,
    **options: Any,
) -> MonteCarlo:
    """Roll out random samples, and keep of every metric count, mean, deviation, quantiles and the worst samples.

    distribution  a function of (rng, size) that returns arrays (size, …) by name: "q0", "v0", parameters of the law; or
                  a dict from such names to functions of (rng, size), or to constants
    metrics       a dict from names to functions of a batched `Trajectory` that return (samples,); by default the last
                  position and the largest speed of every coordinate. The largest are the worst
    seed          the same seed gives the same bits, whatever the engine, the number of workers and the partitions
    rows          samples of a partition, rounded up to whole blocks of 256
    out           a folder that keeps what is done, so that a second run does only what is missing
    options       of `Robot.rollout`: integrator, contact, forces, record, every

    Trajectories exist only while their partition is reduced, so memory does not grow with the number of samples.
    """
    measured, kept = as_metrics(robot, metrics), as_count("worst", worst)
    drawn = Drawn(distribution, as_count("seed", seed), as_count("samples", samples, 1))
    length, reduce = as_count("steps", steps), partial(_summarized, worst=kept)
    work = Rollouts(robot, law, drawn, as_number("dt", dt), length, measured, options, reduce)
    waiting: dict[str, list[Summary]] = {name: [Summary()] for name in ("diverged", *measured)}

    def add(outcome: Done) -> None:
        for name, listed in waiting.items():
            listed.append(Summary.from_arrays(name, outcome.value))
            if len(listed) > TOGETHER:
                listed[:] = [Summary.merged(listed, kept)]

    identity = {"samples": drawn.count, "seed": drawn.seed, "worst": kept, "distribution": code_of(distribution)}
    work, report = performed("samples", work, identity, add, engine, workers, rows, out, overwrite, client)
    summaries = {name: Summary.merged(listed, kept) for name, listed in waiting.items()}
    return MonteCarlo(summaries, summaries["diverged"].count, report, work)
