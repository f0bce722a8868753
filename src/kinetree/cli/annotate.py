"""`kinetree annotate`: quantities of every state of a collection on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from kinetree.cli import long_runs
from kinetree.cli.loading import Loading, RobotArgument, robot_command
from kinetree.cli.output import JsonOption, option, print_json


@robot_command
def annotate(
    robot: RobotArgument,
    source: Annotated[
        list[Path], typer.Argument(metavar="SOURCE", help="Folder or files with states: Parquet, NPZ, Zarr.")
    ],
    loading: Loading,
    quantity: Annotated[
        list[str],
        option("Quantity such as inverse_dynamics or pose@tool0; may be repeated.", "--quantity", "-q", metavar="NAME"),
    ],
    out: Annotated[Path, option("Folder for the results.", "--out", "-o", file_okay=False)],
    engine: long_runs.EngineOption = "local",
    workers: long_runs.WorkersOption = None,
    scheduler: long_runs.SchedulerOption = None,
    rows: Annotated[
        int | None, option("States per partition; by default a million, or as many as fit in 256 MB.")
    ] = None,
    format: Annotated[
        Literal["parquet", "npz", "zarr"] | None, option("Format of the results; by default that of the source.")
    ] = None,
    nan: Annotated[
        Literal["refuse", "keep"],
        option("Treatment of partitions with NaN or infinity: list them as failed (refuse), or compute them (keep)."),
    ] = "refuse",
    overwrite: long_runs.OverwriteOption = False,
    json: JsonOption = False,
) -> None:
    """Compute quantities of all states of a dataset, by partitions; a second run computes only missing partitions.

    Columns are q, v, a, tau as lists of fixed size, or q.NAME for every coordinate. The exit code is 1 if a
    partition failed.
    """
    from kinetree.scale import annotate as annotated  # noqa: PLC0415 - slow to import

    body = loading.load_aloud(robot).robot
    with long_runs.resumable(out), long_runs.connected(engine, scheduler) as client:
        report = annotated(
            source, body, quantity, out, engine, workers=workers, rows=rows, format=format, nan=nan,
            overwrite=overwrite, client=client,
        )  # fmt: skip
    if json:
        print_json({"out": str(out), **long_runs.content(report)})
    else:
        kept = f", {report.kept} were there" if report.kept else ""
        print(f"{report.done} partitions, {report.rows} states in {report.seconds:.1f} s, {report.rate:.3g}/s{kept}")
    long_runs.ended(report)
