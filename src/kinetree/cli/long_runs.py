"""What `kinetree annotate` and `kinetree montecarlo` have in common: engines, how a run ends, and its report."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

import kinetree as kt
from kinetree.cli.main import INTERRUPTED
from kinetree.cli.output import PROBLEM, option, say

if TYPE_CHECKING:
    from kinetree.scale import Report

EngineOption: TypeAlias = Annotated[
    Literal["local", "dask", "ray"], option("Engine: local (this process or a process pool), Dask, or Ray.")
]
WorkersOption: TypeAlias = Annotated[
    int | None, option("Number of processes; by default one process with threads, or one per CPU with Dask and Ray.")
]
SchedulerOption: TypeAlias = Annotated[
    str | None, option("Address of a running Dask scheduler or Ray cluster.", metavar="ADDRESS")
]
OverwriteOption: TypeAlias = Annotated[
    bool, option("Replace results of another robot or other options in --out.", "--overwrite")
]
MOST = 20
"""Failures that are listed on a screen."""


@contextmanager
def connected(engine: str, address: str | None) -> Iterator[Any]:
    """A client of a Dask scheduler, or a connection to a Ray cluster, if an address is given."""
    if address is None:
        yield None
        return
    if engine == "dask":
        from kinetree.scale.engines.dask import packages  # noqa: PLC0415 - slow to import

        with packages()[1].Client(address) as client:
            yield client
        return
    if engine != "ray":
        raise kt.ArgumentError(f"--scheduler is {address!r}; expected --engine dask or ray with it")
    from kinetree.scale.engines.ray import package  # noqa: PLC0415 - slow to import

    ray = package()
    ray.init(address=address, log_to_driver=False)
    try:
        yield None
    finally:
        ray.shutdown()


@contextmanager
def resumable(out: Path | None) -> Iterator[None]:
    """A context in which Ctrl-C says how to go on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.IncompleteWarning)  # said by `ended`
        try:
            yield
        except KeyboardInterrupt:
            if out is not None:
                say("stopped", f"what is done is in {out}; the same command goes on where it was", "bold yellow")
            raise typer.Exit(INTERRUPTED) from None


def content(report: Report) -> dict[str, Any]:
    """A report for JSON."""
    told = {name: getattr(report, name) for name in ("complete", "done", "kept", "left", "rows", "seconds", "rate")}
    return told | {"failed": [{**each.partition._asdict(), "reason": each.reason} for each in report.failed]}


def ended(report: Report) -> None:
    """Say what failed on stderr; the exit code is 1 if anything did."""
    for each in report.failed[:MOST]:
        say("failed", each.sentence, "bold red")
    if len(report.failed) > MOST:
        say("failed", f"and {len(report.failed) - MOST} more, all in the manifest", "bold red")
    if report.left:
        say("left", f"{report.left} partitions were not tried; the same command goes on", "bold yellow")
    if not report.complete:
        raise typer.Exit(PROBLEM)
