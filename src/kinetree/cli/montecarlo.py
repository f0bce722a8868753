"""`kinetree montecarlo`: how a robot moves from random starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from rich.text import Text

import kinetree as kt
from kinetree.cli import long_runs
from kinetree.cli.loading import Loading, RobotArgument, robot_command, state_option
from kinetree.cli.numbers import STATE_HELP, fixed
from kinetree.cli.output import JsonOption, console, option, print_json, print_table, table_of
from kinetree.cli.simulate import EffortOption, FrequencyOption, HoldOption, StepOption, positive, start_and_law
from kinetree.ops import Array

QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class Around:
    """Normal distributions around a state, on the tangent space of the positions."""

    robot: kt.Robot
    q: Array
    v: Array
    spread_q: float
    spread_v: float

    def __call__(self, rng: np.random.Generator, size: int) -> dict[str, Array]:
        away, speed = rng.standard_normal((2, size, self.robot.nv))
        return {"q0": self.robot.integrate(self.q, self.spread_q * away), "v0": self.v + self.spread_v * speed}


@robot_command
def montecarlo(
    robot: RobotArgument,
    loading: Loading,
    samples: Annotated[int, option("Number of samples.", "--samples", "-n")] = 10_000,
    seconds: Annotated[float, option("Duration of each sample in s.", "--seconds", "-s")] = 1.0,
    dt: StepOption = 1e-3,
    q: Annotated[str | None, state_option(f"Mean of the initial positions: {STATE_HELP}.")] = None,
    v: Annotated[str | None, state_option("Mean of the initial velocities.")] = None,
    spread_q: Annotated[float, option("Standard deviation of initial positions, in rad or m.")] = 0.1,
    spread_v: Annotated[float, option("Standard deviation of initial velocities, in rad/s or m/s.")] = 0.0,
    tau: EffortOption = None,
    hold: HoldOption = None,
    frequency: FrequencyOption = 10.0,
    seed: Annotated[int, option("Seed; the same seed gives the same numbers with any engine.")] = 0,
    worst: Annotated[int, option("Number of worst samples to keep.")] = 5,
    out: Annotated[
        Path | None, option("Folder for partitions; a second run resumes from them.", "--out", "-o", file_okay=False)
    ] = None,
    engine: long_runs.EngineOption = "local",
    workers: long_runs.WorkersOption = None,
    scheduler: long_runs.SchedulerOption = None,
    overwrite: long_runs.OverwriteOption = False,
    json: JsonOption = False,
) -> None:
    """Simulate from random initial states: statistics and worst cases of final positions and maximum speeds."""
    from kinetree.scale import monte_carlo  # noqa: PLC0415 - slow to import

    body = loading.load_aloud(robot).robot
    positive(seconds, "--seconds")
    positive(dt, "--dt")
    q0, v0, law = start_and_law(body, q, v, tau, hold, frequency)
    with long_runs.resumable(out), long_runs.connected(engine, scheduler) as client:
        result = monte_carlo(
            body, law, Around(body, q0, v0, spread_q, spread_v), samples=samples, dt=dt, steps=round(seconds / dt),
            seed=seed, worst=worst, engine=engine, workers=workers, out=out, overwrite=overwrite, client=client,
        )  # fmt: skip
    known = {name: each for name, each in result.summaries.items() if name != "diverged"}
    if json:
        metrics = {
            name: {
                **{key: getattr(each, key) for key in ("count", "mean", "std", "min", "max")},
                "quantiles": {str(p): each.quantile(p) for p in QUANTILES},
                "worst": [{"value": value, "sample": sample} for value, sample in each.worst],
            }
            for name, each in known.items()
        }
        told = {"samples": result.samples, "diverged": result.diverged, "metrics": metrics}
        print_json({**told, **long_runs.content(result.report)})
    else:
        titles = ("mean", "std", "min", *(f"{100 * p:g} %" for p in QUANTILES), "max", "worst")
        table = table_of("", *titles, left=("",))
        for name, each in known.items():
            numbers = (each.mean, each.std, each.min, *map(each.quantile, QUANTILES), each.max)
            first = str(each.worst[0][1]) if each.worst else ""
            table.add_row(Text(name), *map(fixed, numbers), first)
        print_table(table, console())
        rate = result.report.rate
        print(f"\n{result.samples} samples, {100 * result.diverged:.3g} % diverged, {rate:.3g} samples/s")
    long_runs.ended(result.report)
