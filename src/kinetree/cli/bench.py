"""`kinetree bench`: what a call costs, beside the peers that are installed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Annotated

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kinetree.cli.contest import OURS, Report, Row, contest, steps
from kinetree.cli.loading import Loading, RobotArgument, frame_option, robot_command
from kinetree.cli.measure import Effort
from kinetree.cli.output import JsonOption, console, counted, option, print_json, print_table, progress, table_of

FULL, QUICK = Effort(repeats=40, seconds=0.004), Effort(repeats=8, seconds=0.002)


@robot_command
def bench(
    robot: RobotArgument,
    loading: Loading,
    quick: Annotated[bool, option("Measure for one or two seconds, less accurately.", "--quick")] = False,
    frame: Annotated[
        str | None, frame_option("Frame for pose and Jacobian; by default the body furthest from the root.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Measure calls for one state and for a batch, compared with Pinocchio and MuJoCo if they are installed."""
    effort = QUICK if quick else FULL
    loaded = loading.load_aloud(robot)
    with progress() as bar:
        task = bar.add_task("loading", total=steps(effort))
        advance = partial(bar.update, task, advance=1)
        report = contest(loaded.robot, loaded.text, effort, lambda words: advance(description=words), frame)
    if json:
        print_json(asdict(report))
    else:
        show(report, console())


def show(report: Report, out: Console) -> None:
    """Two tables and the notes."""
    versions = " · ".join(f"{name} {version}" for name, version in report.versions.items())
    out.print(Text(report.name, style="bold"))
    out.print(Text(f"{report.base} base · nv {report.nv} · frame {report.frame}\n{versions}"))
    out.print(Text("\nOne state, called from Python: µs", style="bold cyan"))
    print_table(_table(report.single, list(report.versions)), out)
    out.print(Text(f"\nA batch of {report.states} states: µs per state", style="bold cyan"))
    print_table(_table(report.batch, list(report.versions)), out)
    out.print(Text("\nBest of several runs, taken in turn. 3× is three times as long as kinetree.", style="dim"))
    for note in report.notes:
        out.print(Text(note, style="dim"))


def _table(rows: Sequence[Row], names: Sequence[str]) -> Table:
    """A row for every quantity, columns for every library and number of threads; a peer with the ratio beside it."""
    cells = {(row.quantity, row.threads, name): us for row in rows for name, us in row.microseconds.items()}
    sides = [
        (name, threads)
        for name in names
        for threads in dict.fromkeys(row.threads for row in rows)
        if any((row.quantity, threads, name) in cells for row in rows)
    ]
    columns = ["quantity"]
    for name, threads in sides:
        heading = name if threads is None else f"{name}\n{counted(threads, 'thread')}"
        columns += [heading] if name == OURS else [heading, ""]
    table = table_of(*columns, left=("quantity",))
    for quantity in dict.fromkeys(row.quantity for row in rows):
        line = [Text(quantity)]
        for name, threads in sides:
            ours, us = cells[quantity, threads, OURS], cells.get((quantity, threads, name))
            line.append(Text(_time(us), style="bold" if name == OURS else ""))
            if name != OURS:
                line.append(Text("") if us is None else _ratio(us / ours))
        table.add_row(*line)
    return table


def _time(us: float | None) -> str:
    """Microseconds with three digits or so."""
    if us is None:
        return "–"
    return f"{us:.3f}" if us < 1 else f"{us:.2f}" if us < 100 else f"{us:.0f}"


def _ratio(value: float) -> Text:
    return Text(f"{value:.{0 if value >= 10 else 1}f}×", style="green" if value >= 1 else "red")
